"""Answers of a real model, labelled by hand before their readings were seen: how right they are read is held here."""

from __future__ import annotations

from pathlib import Path

from fairspace.submissions.answers.labelled import read_lines
from fairspace.submissions.answers.measuring import measure

SMOLLM2 = Path(__file__).parents[2] / "data" / "readings" / "real" / "smollm2.jsonl"
EXPECTED = {
    "stereotypical_bias/language_gender": (78, 77, 1, 0),
    "stereotypical_bias/language_race": (342, 336, 4, 2),
    "fact_or_fair/objective_authors": (40, 34, 6, 0),
    "fact_or_fair/subjective": (38, 36, 2, 0),
}
"""Task -> answers, and how many of them are read right, falsely, and not at all though they make a choice."""


def test_real_answers_are_read_as_a_person_reads_them() -> None:
    tasks = measure(read_lines([SMOLLM2])).tasks
    assert {name: (tally.n, tally.right, tally.false, tally.lost) for name, tally in tasks.items()} == EXPECTED
