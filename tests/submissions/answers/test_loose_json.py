import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.submissions.answers.prepared import MOST_SPANS, values
from tests.machine_speed import takes_less

WORDS = st.text("abcdefg hij", min_size=1, max_size=12).map(str.strip).filter(bool)
LEAVES = st.one_of(WORDS, st.integers(-999, 999), st.booleans(), st.none())
OBJECTS = st.dictionaries(
    WORDS,
    st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)),
    min_size=1,
    max_size=4,
)
PROSE = st.text("klmno pqr.,!?'\n", max_size=40)


@given(data=OBJECTS, before=PROSE, after=PROSE, indent=st.sampled_from([None, 2]))
def test_an_object_in_prose_is_read_as_it_stands(data: Any, before: str, after: str, indent: int | None) -> None:
    text = json.dumps(data, indent=indent)
    [read] = values(before + text + after)
    assert (read.value, read.span, read.stage) == (data, (len(before), len(before) + len(text)), "json")


@given(first=OBJECTS, second=OBJECTS, between=PROSE)
def test_several_objects_are_read_in_order(first: Any, second: Any, between: str) -> None:
    read = values(json.dumps(first) + between + json.dumps(second))
    assert [one.value for one in read] == [first, second]


@given(key=WORDS, before=WORDS, after=WORDS)
def test_a_line_break_in_a_string_is_a_line_break(key: str, before: str, after: str) -> None:
    [read] = values(f'{{"{key}": "{before}\n{after}"}}')
    assert read.value == {key: f"{before}\n{after}"}
    assert read.stage == "json with line breaks"


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, bool) or value is None:
        return
    else:
        yield str(value)


@given(data=OBJECTS, cut=st.floats(0, 1), damage=st.sampled_from(["cut", "quote", "comma", "single", "brace"]))
def test_damaged_json_is_read_from_what_is_there_or_not_at_all(data: Any, cut: float, damage: str) -> None:
    text = json.dumps(data)
    place = int(cut * len(text))
    if damage == "cut":
        text = text[:place]
    elif damage == "single":
        text = text.replace('"', "'")
    else:
        mark = {"quote": '"', "comma": ",", "brace": "}"}[damage]
        at = text.find(mark, place)
        text = text if at < 0 else text[:at] + text[at + 1 :]
    for read in values(text):
        start, end = read.span
        assert 0 <= start < end <= len(text)
        assert text[start] in "{["
        for leaf in leaves(read.value):
            assert leaf in text[start:end], (leaf, text)


@given(st.text("{}[]\",:\\ abc1\n'", max_size=80))
def test_spans_lie_in_order_and_apart_whatever_the_text(text: str) -> None:
    end = 0
    for read in values(text):
        assert end <= read.span[0] < read.span[1] <= len(text)
        end = read.span[1]
        assert isinstance(read.value, (dict, list))


@pytest.mark.parametrize(
    "text",
    [
        "I think it is {A} or {B}",
        "no JSON here",
        "",
        "{",
        "}{",
        '{"a": 1, "a": 2}',
        "{'a': 1, 'a': 2}",
        "[[[[" * 30,
        "{'" * 200,
    ],
)
def test_what_is_no_json_is_not_read(text: str) -> None:
    assert [read for read in values(text) if read.value not in ([], {})] == []


@pytest.mark.parametrize(
    "unit", ["{", "[", '{"a":', '{"a": "b', "{}", '{"a": 1} ', "'", '"', "\\", "[1, ", "{'a': 'b', ", "]", '["a" ']
)
def test_a_million_characters_take_less_than_a_second(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert takes_less(lambda: values(text), 1)
    assert len(values(text)) <= MOST_SPANS


@pytest.mark.parametrize("unit", ['{"a": "b', "{'a': 'b', ", '["a" ', '{"a": [', "{'", '"}{"', "[' "])
def test_text_as_long_as_can_be_repaired_is_read_in_time(unit: str) -> None:
    text = (unit * (20_000 // len(unit) + 1))[:19_999]
    assert takes_less(lambda: values(text), 1)
