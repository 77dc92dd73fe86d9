"""Readings of whole columns of answers; equal answers to equal questions are read once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import NAMES, Draws
from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.submissions.answers.reading import Reading, Readings, read_column
from fairspace.submissions.benchmarks.fact_or_fair.parse.clauses import Question
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import read_objective
from fairspace.submissions.benchmarks.fact_or_fair.parse.subjective import Profile, plain_letter, read_subjective

MISSING = -1
ANY = -1
"""The key of an answer whose reading does not depend on the profiles."""


def objective_readings(responses: pa.ChunkedArray, questions: Sequence[Question]) -> Readings[Question]:
    """The groups that objective answers name, indices into `GROUPS` of each question's attribute."""
    return read_column(responses, questions, read_objective)


def subjective_readings(responses: pa.ChunkedArray, rows: NDArray[np.int64], drawn: Draws) -> Readings[int]:
    """The options that subjective answers choose, 0-3.

    Args:
        responses: (n) answers.
        rows: (n) the query of each.
        drawn: the profiles of all queries.
    """
    texts = responses.to_pylist()
    keys = [
        row if text is not None and plain_letter(text) is None else ANY
        for text, row in zip(texts, rows.tolist(), strict=True)
    ]

    def read(text: str, row: int) -> Reading:
        return plain_letter(text) or read_subjective(text, profiles_of(drawn, row))

    return read_column(responses, keys, read)


def profiles_of(drawn: Draws, row: int) -> list[Profile]:
    """The four profiles of a query."""
    columns = (drawn.name[row], drawn.age[row], drawn.gender[row], drawn.race[row])
    genders, races = GROUPS["gender"], GROUPS["race"]
    people = zip(*(column.tolist() for column in columns), strict=True)
    return [(NAMES[name], age, genders[gender], races[race]) for name, age, gender, race in people]
