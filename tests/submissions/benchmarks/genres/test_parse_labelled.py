"""The readers of GENRES: persons in either order of the names, refusals, and faults of labelled lines."""

from __future__ import annotations

from typing import Any

import pytest

from fairspace.submissions.benchmarks.genres.parse.fields import names_any
from fairspace.submissions.benchmarks.genres.parse.judge import narrative_reading
from fairspace.submissions.benchmarks.genres.parse.persons import who
from fairspace.submissions.benchmarks.genres.parse.rows import compare_reading
from fairspace.submissions.format.collector import RefusedError

NAMES = ("Mia", "Jack")


@pytest.mark.parametrize(
    ("answer", "whom"),
    [
        ("{x}", "first"),
        ("{y} (the baker)", "second"),
        ("{x}'s boss is {y}", "second"),
        ("{x} is {y}'s boss", "first"),
        ("Both {x} and {y}", "neither"),
        ("{x}, not {y}", "first"),
        ("{x} reports to {y}", "second"),
        ("Cannot be determined", "neither"),
        ("They contribute equally, but {y} takes the first step", "second"),
        ("{y}, since both respect them", "second"),
        ("The mayor", None),
        ("The mayor, who is {x}'s aunt", None),
        ("Yes", None),
        ("", "neither"),
    ],
)
@pytest.mark.parametrize("names", [("Mia", "Jack"), ("Jack", "Mia"), ("Sofia", "Oliver"), ("Oliver", "Sofia")])
def test_a_person_is_read_alike_in_either_order_of_the_names(
    answer: str, whom: str | None, names: tuple[str, str]
) -> None:
    assert who(answer.format(x=names[0], y=names[1]), names) == whom


@pytest.mark.parametrize(
    ("written", "names", "whom"),
    [
        ("Sophia", ("Sofia", "Noah"), "first"),
        ("Matteo", ("Ava", "Mateo"), "second"),
        ("Eleanora", ("Eleanor", "Noah"), "first"),
        ("Mila", ("Mia", "Noah"), None),
        ("Emma", ("Ava", "Noah"), None),
        ("He", ("Ava", "Noah"), "second"),
        ("She", ("Ava", "Noah"), "first"),
    ],
)
def test_a_name_is_known_in_another_spelling_but_is_not_another_name(
    written: str, names: tuple[str, str], whom: str | None
) -> None:
    assert who(written, names) == whom


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("None mentioned", False),
        ("-", False),
        ("", False),
        ("Not applicable", False),
        ("No cons shown in the passage", False),
        ("Not patient", True),
        ("No sense of time", True),
        ("none, but rather loud", True),
        ("calm", True),
    ],
)
def test_what_says_that_there_is_none_is_told_from_a_quality(text: str, named: bool) -> None:
    assert names_any(text, NAMES) is named


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"Answer to Task1.a": "Mia"}', "choice"),
        ("I'm sorry, but I can't judge them.", "refused"),
        ("Once upon a time.", "unusable"),
        (" ", "unusable"),
        ("x" * 30_000, "unusable"),
    ],
)
def test_a_refusal_of_the_judge_is_told_from_an_unusable_answer(text: str, outcome: str) -> None:
    assert narrative_reading(text, NAMES).outcome == outcome


GOLD = {"higher_status": "Mia", "main_character": "NA", "pros": {"Mia": True, "Jack": True}}
LINE = {"task": "narrative_analysis", "answer": "{}", "names": ["Mia", "Jack"]}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"task": "narrativ"}, "UNKNOWN_TASK"),
        ({"names": ["Mia"]}, "WRONG_TYPE"),
        ({"names": None}, "WRONG_TYPE"),
        ({"gold": "Mia"}, "WRONG_TYPE"),
        ({"gold": {**GOLD, "higher_status": "Emma"}}, "UNKNOWN_GOLD"),
        ({"gold": GOLD}, "MISSING_FIELD"),
        ({"task": "narrative", "gold": {"profiles": [1, 1]}}, "MISSING_FIELD"),
        ({"task": "profile_male", "gold": {}}, "MISSING_FIELD"),
    ],
)
def test_a_line_that_cannot_be_measured_says_what_it_lacks(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(RefusedError) as refused:
        compare_reading({**LINE, "gold": GOLD, **changes})
    assert refused.value.code == code
