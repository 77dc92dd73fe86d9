"""All readers: labelled answers are read as a person reads them, and no answer takes long, whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import Question, read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.options import read_lettered, read_subjective
from fairspace.submissions.benchmarks.genres.parse.judge import narrative_reading, profile_reading
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.iris.parse.labels import read_label, read_rating
from fairspace.submissions.benchmarks.iris.parse.occupation import read_occupation
from fairspace.submissions.benchmarks.stereotypical_bias.parse import read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.sides import Scene
from tests.machine_speed import takes_less
from tests.readings import measure, read_lines

LABELLED = Path(__file__).parents[2] / "data" / "readings"
PARTS = {
    "fact_or_fair": ("objective", "objective_authors", "subjective"),
    "stereotypical_bias": ("vision_gender", "vision_race", "language_gender", "language_race"),
    "genres": ("status", "main", "pros_cons", "personality", "narrative", "profile"),
}


@pytest.mark.parametrize("name", PARTS)
def test_labelled_answers_are_read_as_a_person_reads_them(name: str) -> None:
    tasks = measure(read_lines([LABELLED / f"{name}.jsonl"])).tasks
    assert set(tasks) == {f"{name}/{part}" for part in PARTS[name]}
    for task, tally in tasks.items():
        assert tally.right >= 0.98 * tally.n, task
        assert tally.false <= (0 if name == "stereotypical_bias" else 0.01) * tally.n, task
        assert tally.families_alike >= 0.98 * tally.families, task
        if name != "genres" and tally.n_male and tally.n_female:
            assert abs(tally.right_male / tally.n_male - tally.right_female / tally.n_female) < 0.01, task


SMOLLM2 = {
    "stereotypical_bias/language_gender": (78, 77, 1, 0),
    "stereotypical_bias/language_race": (342, 336, 4, 2),
    "fact_or_fair/objective_authors": (40, 34, 6, 0),
    "fact_or_fair/subjective": (38, 36, 2, 0),
}
"""Task -> answers, and how many of them are read right, falsely, and not at all though they make a choice."""


def test_answers_of_a_real_model_that_were_labelled_before_they_were_read() -> None:
    tasks = measure(read_lines([LABELLED / "real" / "smollm2.jsonl"])).tasks
    assert {name: (tally.n, tally.right, tally.false, tally.lost) for name, tally in tasks.items()} == SMOLLM2


ASKED, NURSE, NAMES = Question("race", "highest"), Scene("nurse", "female", "male"), ("Mia", "Jack")
PROFILES = [(name, 30, "female", "Asian") for name in ("Taylor", "Jordan", "Riley", "Morgan")]
READERS: dict[str, tuple[int, Callable[[str], Sequence[Any]]]] = {
    "options": (
        10**6,
        lambda text: [
            read_subjective(text, PROFILES),
            read_objective(text, ASKED),
            read_lettered(text, ASKED, GROUPS["race"]),
        ],
    ),
    "side": (10**6, lambda text: [read_side(text, NURSE)]),
    "group": (10**6, lambda text: [read_group(text, "gender"), read_group(text, "race")]),
    "occupation": (10**6, lambda text: [read_occupation(text)]),
    "pair": (10**6, lambda text: [read_rating(text), read_label(text, "e"), read_label(text, "d")]),
    "judge": (
        20_000,
        lambda text: [
            narrative_reading(text, NAMES),
            narrative_reading(json.dumps({"Answer to Task1.a": text[:9_000], "Pros of Mia": text[:9_000]}), NAMES),
            profile_reading(text),
        ],
    ),
    "response": (20_000, lambda text: [split(text, NAMES)]),
}
"""Reader -> characters of a hostile answer, and its readings."""
UNITS: dict[str, Sequence[str]] = {
    "options": [
        *("A", "(", "answer ", "\n", "A, ", ",", "white, not black, ", "highest ", "{", "Wait, ", "female 1 male 2 "),
        *("I choose ", "a. b. c. d. ", "A. B. C. D. ", "the answer is "),
    ],
    "side": [
        *("on the left and on the right ", "[[", "[1, 2, ", "(1, 2) ", "<box>", "nurse, ", "not the nurse "),
        *("x1: 5, y1: 7, ", "left     ", "\n- ", "a man "),
    ],
    "group": ["a white or a black ", "is a man ", "a man ", "not a woman, ", "as men are ", "the black and white "],
    "occupation": ["a ", "He is a ", "or ", "(", "<"],
    "pair": ["7 ", "yes ", "not ", "1-", "no,", "wait "],
    "judge": [
        *("{", "[", '"', "'", "(", "Mia ", "Mia and ", "a: ", "1.a: Mia ", "Pros of Mia: ", '{"a": ', "answer: "),
        *("|", "no, "),
    ],
    "response": ["*", " ", "#", "1.", "Mia ", "-\n", "Profile of ", ". ", "(", "trait "],
}


@pytest.mark.parametrize(("reader", "unit"), [(reader, unit) for reader, units in UNITS.items() for unit in units])
def test_a_hostile_answer_is_read_in_passing(reader: str, unit: str) -> None:
    size, read = READERS[reader]
    answer = (unit * (size // len(unit) + 1))[:size] + ("\nB" if reader == "options" else "")
    assert takes_less(lambda: read(answer), {"options": 3, "group": 2}.get(reader, 1))
    spans = [reading.narrative_span if reader == "response" else reading.span for reading in read(answer)]
    assert all(span is None or 0 <= span[0] <= span[1] <= len(answer) + 9_100 for span in spans)
