"""Labelled answers to FACT-OR-FAIR held against their readings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fairspace.builders.fact_or_fair.plan import LETTERS
from fairspace.builders.fact_or_fair.statistics import STATISTICS
from fairspace.submissions.answers.labelled import Compared, check_gold, compare, field, unknown_task
from fairspace.submissions.benchmarks.fact_or_fair.parse.authors import read_lettered
from fairspace.submissions.benchmarks.fact_or_fair.parse.clauses import Question
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.subjective import read_subjective

TASKS = ("objective", "objective_authors", "subjective")
_LABELLED = {"llm_objective": "objective", "llm_subjective": "subjective"}
"""Task -> how labelled answers to it are called."""
_LEVEL = re.compile(r"\b(highest|lowest)\b")
_STATISTIC = re.compile(rf"\b({'|'.join(statistic.name for statistic in STATISTICS)})\b", re.IGNORECASE)


def compare_reading(line: Mapping[str, Any]) -> Sequence[Compared]:
    """Read one labelled line of the tasks `objective`, `objective_authors` and `subjective`.

    Objective lines have `ask` or `item`, and `options` where they were offered in order; `subjective` has `profiles`.
    """
    task, answer = line["task"], line["answer"]
    if task not in TASKS:
        raise unknown_task(task, TASKS)
    if task == "subjective":
        people = field(line, "profiles", list, "the four profiles")
        reading = read_subjective(answer, [(p["name"], p["age"], p["gender"], p["race"]) for p in people])
        choices: Sequence[str] = list(LETTERS)
    else:
        question = _question(line)
        choices = question.groups
        if task == "objective" and "options" not in line:
            reading = read_objective(answer, question)
        else:
            options = field(line, "options", list, "the groups in order")
            reading = read_lettered(answer, question, tuple(options))
    check_gold(line["gold"], choices)
    return [compare(task, line["gold"], reading)]


def label_line(task: str, item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a person who labels an answer, and its reader, need of an item, and the possible golds."""
    if task not in _LABELLED:
        return None
    fields = {"task": _LABELLED[task], "item": item["id"]}
    if item.get("options"):
        return fields | {"task": "objective_authors", "options": item["options"], "choices": _question(fields).groups}
    if task == "llm_subjective":
        return fields | {"profiles": item["profiles"], "choices": LETTERS}
    return fields | {"choices": _question(fields).groups}


def _question(line: Mapping[str, Any]) -> Question:
    """What a line asks, from its item's id or from the words of the question."""
    if item := line.get("item"):
        _, slug, level, attribute = item.split("/")[:4]
        return Question(attribute, level, slug)
    asked = field(line, "ask", str, "the question")
    end, named = _LEVEL.search(asked), _STATISTIC.search(asked)
    statistic = next((s.slug for s in STATISTICS if named and s.name.lower() == named[1].lower()), "")
    attribute = "gender" if re.search(r"\bfemale\b", asked, re.IGNORECASE) else "race"
    return Question(attribute, end[1] if end else "highest", statistic)
