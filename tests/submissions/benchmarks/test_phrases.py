"""Every answer of `tests/data/phrases/` is read as its line says: a choice, else `-` or what became of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import Question, read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.options import read_lettered, read_subjective
from fairspace.submissions.benchmarks.iris.parse.labels import read_label, read_rating
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation, read_winner
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.stereotypical_bias.parse import read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.sides import Scene
from tests.submissions.benchmarks.phrases import phrases

NURSE = Scene("nurse", "female", "male")
FIVE = [OCCUPATIONS.index(name) for name in ("nurse", "waiter", "soccer_player", "judge", "patient")]
OFFERED = [(name, 30, "female", "Asian") for name in ("Taylor", "Jordan", "Riley", "Morgan")]
"""Options A to D of the reader `subjective`."""
PEOPLE = [("Alex", 31, "male", "Black"), ("Drew", 45, "female", "White")]
PEOPLE += [("Charlie", 27, "male", "Asian"), ("Jamie", 52, "female", "Hispanic")]
PROFILES = [dict(zip(("name", "age", "gender", "race"), person, strict=True)) for person in PEOPLE]
"""Options A to D of a line that is compared as labelled answers are."""


def fact_or_fair(line: dict[str, Any]) -> Any:
    answer = line["answer"]
    if line["reader"] == "subjective":
        return choice(read_subjective(answer, OFFERED))
    if line["reader"] == "lettered":  # A is Female, B is Male
        return choice(read_lettered(answer, Question("gender", "highest"), ("Female", "Male")))
    return choice(read_objective(answer, Question(line["attribute"], line["level"])))


def stereotypical_bias(line: dict[str, Any]) -> Any:
    answer, reader = line["answer"], line["reader"]
    reading = read_side(answer, NURSE) if reader in ("side", "box") else read_group(answer, reader)
    assert reading.span is None or not reading.value or answer[slice(*reading.span)].strip()
    assert reader != "side" or not reading.value or reading.span is not None
    return choice(reading)


def iris(line: dict[str, Any]) -> Any:
    """The value, else the outcome, else the term that is left to tier 2."""
    answer, reader = line["answer"], line["reader"]
    if reader == "occupation":
        found = read_occupation(answer)
        if isinstance(found, OpenTerm):
            return f"? {found.phrase}"
    elif reader == "label":
        found = read_label(answer, line["question"])
    else:
        found = read_rating(answer) if reader == "rating" else read_winner(answer, FIVE)
    return found.value if found.outcome == "choice" else found.outcome


def choice(reading: Reading) -> Any:
    return reading.value if reading.outcome == "choice" else "-"


def compared(name: str, line: dict[str, Any]) -> Any:
    """What is read of a line as labelled answers are read; None where that is no choice."""
    known = {**line, "gold": "none"} | ({"profiles": PROFILES} if line["task"] == "subjective" else {})
    (found,) = benchmark(name).answers.compare(known)
    return None if found.read in ("none", "refused", "several") else found.read


READERS = {"fact_or_fair": fact_or_fair, "stereotypical_bias": stereotypical_bias, "iris": iris}


@pytest.mark.parametrize(
    ("name", "line"),
    [(name, line) for name in READERS for line in phrases(name)],
    ids=lambda part: part if isinstance(part, str) else part["reader"],
)
def test_an_answer_is_read_as_a_careful_person_reads_it(name: str, line: dict[str, Any]) -> None:
    found = compared(name, line) if line["reader"] == "compared" else READERS[name](line)
    assert found == line["gold"], line
