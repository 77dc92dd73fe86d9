"""Labelled answers to FACT-OR-FAIR held against their readings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairspace.builders.fact_or_fair.plan import LETTERS
from fairspace.builders.fact_or_fair.statistics import GROUPS, STATISTICS
from fairspace.submissions.answers.measuring import Compared, compare
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.fact_or_fair.parse.authors import read_lettered
from fairspace.submissions.benchmarks.fact_or_fair.parse.clauses import Question
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.subjective import read_subjective

_LEVEL = re.compile(r"\b(highest|lowest)\b")
_STATISTIC = re.compile(rf"\b({'|'.join(statistic.name for statistic in STATISTICS)})\b", re.IGNORECASE)


def compare_reading(line: Mapping[str, Any]) -> Sequence[Compared]:
    """Read one labelled line of the tasks `objective`, `objective_authors` and `subjective`.

    Objective lines have `ask` or `item`; the authors' protocol has `options` in order, `subjective` has `profiles`.
    """
    answer = line["answer"]
    if line["task"] == "subjective":
        profiles = [(person["name"], person["age"], person["gender"], person["race"]) for person in line["profiles"]]
        reading, names = read_subjective(answer, profiles), list(LETTERS)
    else:
        question = _question(line)
        lettered = line["task"] == "objective_authors"
        reading = (
            read_lettered(answer, question, tuple(line["options"])) if lettered else read_objective(answer, question)
        )
        names = [group.capitalize() for group in GROUPS[question.attribute]]
    return [compare(line["task"], line["gold"], _named(reading, names))]


def _question(line: Mapping[str, Any]) -> Question:
    """What a line asks, from its item's id or from the words of the question."""
    if item := line.get("item"):
        _, statistic, level, attribute = item.split("/")[:4]
        return Question(attribute, level, statistic)
    asked = line["ask"]
    level, statistic = _LEVEL.search(asked), _STATISTIC.search(asked)
    slug = next((s.slug for s in STATISTICS if statistic and s.name.lower() == statistic[1].lower()), "")
    attribute = "gender" if re.search(r"\bfemale\b", asked, re.IGNORECASE) else "race"
    return Question(attribute, level[1] if level else "highest", slug)


def _named(reading: Reading, names: Sequence[str]) -> Reading:
    """The reading with the name of its choice."""
    return replace(reading, value=names[reading.value]) if reading.outcome == "choice" else reading
