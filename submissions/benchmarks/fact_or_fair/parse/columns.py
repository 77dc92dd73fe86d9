"""Readings of a submission's answers, and labelled answers; equal answers to equal questions are read once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.plan import EVERY_NAME, LETTERS, SubjectiveDraws, draws, ids
from fairspace.builders.fact_or_fair.statistics import GROUPS, STATISTICS
from fairspace.submissions.answers.reading import (
    Compared,
    Reading,
    Readings,
    compare,
    read_column,
    read_once,
)
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import NAMES as GROUP_NAMES
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import Question, read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.options import (
    Profile,
    needs_profiles,
    read_lettered,
    read_subjective,
)
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import item_index

NO_CHOICE = -1
"""Code of an answer that chooses nothing, and of a missing one."""
GROUP_CODES = {name: code for names in GROUP_NAMES.values() for code, name in enumerate(names)}
"""Name of a group in readings -> its index into `GROUPS` of its attribute."""
_ANY = -1
"""Key of an answer whose reading does not depend on the profiles."""


def row_readings(submission: Submission) -> Mapping[str, Readings[Any]]:
    """Readings of the rows of both tasks of language models."""
    return {
        "llm_objective": objective_rows(submission)[1],
        "llm_subjective": subjective_rows(submission)[1],
    }


@read_once
def objective_rows(submission: Submission) -> tuple[NDArray[np.int64], Readings[Question]]:
    """Query of each answer to `llm_objective`, an index among the ids, and its reading: a group's name."""
    rows, keys = submission.rows("responses", "llm_objective"), ids("llm_objective", submission.meta.dataset_revision)
    place = item_index(keys, rows)
    questions = questions_of(submission.meta.dataset_revision)
    return place, read_column(rows["response"], [questions[at] for at in place.tolist()], read_question)


@lru_cache
def questions_of(revision: str) -> list[Question]:
    """Question of each objective item of a dataset revision."""
    items = plan.items("llm_objective", revision)
    parts = [key.split("/")[:4] for key in items["id"].to_pylist()]
    orders = items["options"].to_pylist() if "options" in items.column_names else [[]] * len(parts)
    return [
        Question(attribute, level, statistic, tuple(options))
        for (_, statistic, level, attribute), options in zip(parts, orders, strict=True)
    ]


def read_question(answer: str, question: Question) -> Reading:
    """The group that an objective answer names: by its letter too, where the options are lettered."""
    if question.options:
        return read_lettered(answer, question, question.options)
    return read_objective(answer, question)


@read_once
def subjective_rows(submission: Submission) -> tuple[NDArray[np.int64], Readings[int]]:
    """Query of each answer to `llm_subjective`, an index among the ids, and its reading: a letter."""
    rows = submission.rows("responses", "llm_subjective")
    place = item_index(ids("llm_subjective", submission.meta.dataset_revision), rows)
    return place, subjective_readings(rows["response"], place, draws(submission.meta.dataset_revision))


def subjective_readings(responses: pa.ChunkedArray, rows: NDArray[np.int64], drawn: SubjectiveDraws) -> Readings[int]:
    """Letters that subjective answers choose; `rows`, (n), are the queries of the `responses`, (n)."""
    keys = [
        row if text is not None and needs_profiles(text) else _ANY
        for text, row in zip(responses.to_pylist(), rows.tolist(), strict=True)
    ]

    def read(text: str, row: int) -> Reading:
        return read_subjective(text, () if row == _ANY else profiles_of(drawn, row))

    return read_column(responses, keys, read)


def profiles_of(drawn: SubjectiveDraws, row: int) -> Sequence[Profile]:
    """The four profiles of a query."""
    columns = (drawn.name[row], drawn.age[row], drawn.gender[row], drawn.race[row])
    genders, races = GROUPS["gender"], GROUPS["race"]
    people = zip(*(column.tolist() for column in columns), strict=True)
    return [(EVERY_NAME[name], age, genders[gender], races[race]) for name, age, gender, race in people]


def group_codes(readings: Readings[Question]) -> NDArray[np.int64]:
    """(n) group of each objective answer, an index into `GROUPS` of its attribute, or `NO_CHOICE`."""
    return readings.values(GROUP_CODES.__getitem__, NO_CHOICE).astype(np.int64)


def option_codes(readings: Readings[int]) -> NDArray[np.int8]:
    """(n) option of each subjective answer, 0 to 3, or `NO_CHOICE`."""
    return readings.values(LETTERS.index, NO_CHOICE).astype(np.int8)


_LABELLED = {"llm_objective": "objective", "llm_subjective": "subjective"}
_LEVEL = re.compile(r"\b(highest|lowest)\b")
_STATISTIC = re.compile(rf"\b({'|'.join(statistic.name for statistic in STATISTICS)})\b", re.IGNORECASE)


def compare_reading(line: Mapping[str, Any]) -> Sequence[Compared]:
    """Read one labelled line of the tasks `objective`, `objective_authors` and `subjective`.

    Objective lines have `ask` or `item`, and `options` where they were offered in order; `subjective` has `profiles`.
    """
    task, answer = line["task"], line["answer"]
    if task == "subjective":
        people = [(p["name"], p["age"], p["gender"], p["race"]) for p in line["profiles"]]
        return [compare(task, line["gold"], read_subjective(answer, people))]
    reading = read_question(answer, replace(_question(line), options=tuple(line.get("options", ()))))
    return [compare(task, line["gold"], reading)]


def label_lines(task: str, items: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]] | None:
    """The parts of each item that a labeller and the reader need, and the possible golds."""
    return [_label_line(task, item) for item in items] if task in _LABELLED else None


def _label_line(task: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = {"task": _LABELLED[task], "item": item["id"]}
    if item.get("options"):
        return fields | {"task": "objective_authors", "options": item["options"], "choices": _question(fields).groups}
    if task == "llm_subjective":
        return fields | {"profiles": item["profiles"], "choices": LETTERS}
    return fields | {"choices": _question(fields).groups}


def _question(line: Mapping[str, Any]) -> Question:
    if item := line.get("item"):
        _, slug, level, attribute = item.split("/")[:4]
        return Question(attribute, level, slug)
    asked = line["ask"]
    end, name = _LEVEL.search(asked), _STATISTIC.search(asked)
    statistic = next((s.slug for s in STATISTICS if name and s.name.lower() == name[1].lower()), "")
    attribute = "gender" if re.search(r"\bfemale\b", asked, re.IGNORECASE) else "race"
    return Question(attribute, end[1] if end else "highest", statistic)
