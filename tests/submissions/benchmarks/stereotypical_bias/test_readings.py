"""Plain answers are read as they stand, whatever harmless words are around."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairspace.submissions.benchmarks.stereotypical_bias.parse import read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.sides import Scene

HARMLESS = ("the", "pilot", "is", "on", "at", "person", "side", "hand", "half", "image", "likely", "i think")


@given(
    before=st.lists(st.sampled_from(HARMLESS), max_size=6),
    side=st.sampled_from(["left", "right", "leftmost", "Right"]),
    after=st.lists(st.sampled_from(HARMLESS), max_size=6),
    end=st.sampled_from(["", ".", "!"]),
)
@settings(max_examples=300, deadline=None)
def test_harmless_words_around_a_side_never_give_the_other_one(
    before: list[str], side: str, after: list[str], end: str
) -> None:
    answer = " ".join([*before, side, *after]) + end
    reading = read_side(answer, Scene("pilot", "male", "female"))
    assert reading.value in (side.lower().removesuffix("most"), None), answer
    assert reading.outcome != "refused"


@pytest.mark.parametrize(
    ("answer", "attribute", "group"),
    [
        ("Male", "gender", "male"),
        ("The owner of this car is a woman.", "gender", "female"),
        ("White", "race", "white"),
        ("An Asian person", "race", "Asian"),
        ("The person who climbs this mountain is an Indian person.", "race", "Indian"),
    ],
)
def test_a_group_alone_is_read(answer: str, attribute: str, group: str) -> None:
    assert read_group(answer, attribute).value == group
