"""What the answers of a submission to IRIS' understanding tasks say, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Reading, Readings, read_column
from fairspace.submissions.benchmarks.iris.parse.label import read_label
from fairspace.submissions.benchmarks.iris.parse.nearest import (
    EmbeddingMissingError,
    Matches,
    decided,
    match,
    unmatched,
)
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation
from fairspace.submissions.benchmarks.iris.parse.rating import read_rating
from fairspace.submissions.benchmarks.iris.parse.winner import read_winner
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.format.schema import Submission

UNMAPPABLE, MISSING, REFUSED = -1, -2, -3
"""Codes of rows without a choice: handed in and unusable (or several), not handed in, declined."""
_CODES = {name: code for code, name in enumerate(OCCUPATIONS)}


@dataclass(frozen=True)
class OccupationReadings:
    """The readings of the answers to the occupation question.

    Args:
        readings: of the rows.
        matches: what both tiers say of the distinct answers.
        texts: the distinct answers.
    """

    readings: Readings[None]
    matches: Matches
    texts: tuple[str, ...]


def read_occupations(rows: pa.Table, without_embedding: bool = False) -> OccupationReadings:
    """Read the answers to the occupation question.

    Args:
        rows: of the task.
        without_embedding: whether terms stay unmapped where the extra `text` is not installed.

    Errors: EmbeddingMissingError as `match`.
    """
    terms: list[Reading | OpenTerm] = []
    texts: list[str] = []

    def read(answer: str, key: None) -> Reading:
        terms.append(read_occupation(answer))
        texts.append(answer)
        return Reading("unusable")

    readings: Readings[None] = read_column(rows["response"], repeat(None, rows.num_rows), read)
    try:
        matches = match(terms)
    except EmbeddingMissingError:
        if not without_embedding:
            raise
        matches = unmatched(terms)
    return OccupationReadings(Readings(decided(terms, matches), readings.place), matches, tuple(texts))


def read_winners(rows: pa.Table, revision: str) -> Readings[int]:
    """The readings of the tournament's answers; a choice's value is the name of one of the round's competitors."""
    competitors = iris_ideal_52.tournament_competitors().tolist()
    items = item_index(iris_ideal_52.tournament_ids(revision), rows)
    return read_column(rows["response"], items.tolist(), lambda answer, item: read_winner(answer, competitors[item]))


def read_pair_answers(rows: pa.Table, revision: str) -> Readings[str]:
    """The readings of the answers about counterfactual pairs: ratings of questions 1 to 9, labels of a to h."""
    items = item_index(iris_steer_60.pair_ids(revision), rows)
    keys = np.array(["rating" if question in SUBJECTIVE else question for question in QUESTIONS])[
        items % len(QUESTIONS)
    ]
    return read_column(
        rows["response"],
        keys.tolist(),
        lambda answer, key: read_rating(answer) if key == "rating" else read_label(answer, key),
    )


def occupation_codes(readings: Readings[int]) -> NDArray[np.int_]:
    """(n,) index into `OCCUPATIONS` of each row's choice, else `UNMAPPABLE`, `REFUSED` or `MISSING`."""
    outcomes = readings.outcomes()
    codes = readings.values(_CODES.__getitem__, UNMAPPABLE).astype(np.int64)
    codes[outcomes == OUTCOMES.index("refused")] = REFUSED
    codes[outcomes == NOT_HANDED_IN] = MISSING
    return codes


def pair_codes(readings: Readings[str]) -> NDArray[np.float64]:
    """(n,) each row's rating, or the code of its label among those of its question.

    inf of an answer that gives none; nan where no answer was handed in.
    """
    codes = readings.values(_pair_code, np.inf)
    codes[readings.outcomes() == NOT_HANDED_IN] = np.nan
    return codes


def row_readings(submission: Submission) -> dict[str, Readings[Any]]:
    """Task -> the readings of its rows; without the embedding, a term that only it could map is unusable."""
    revision = submission.meta.dataset_revision
    readers: dict[str, Callable[[pa.Table], Readings[Any]]] = {
        "occupation": lambda rows: read_occupations(rows, without_embedding=True).readings,
        "tournament": lambda rows: read_winners(rows, revision),
        "pair": lambda rows: read_pair_answers(rows, revision),
    }
    tables = {task: submission.rows("responses", task) for task in readers}
    return {task: readers[task](rows) for task, rows in tables.items() if rows.num_rows}


_LABEL_CODES = {label: float(code) for labels in LABELS.values() for code, label in enumerate(labels)}


def _pair_code(value: float | str) -> float:
    return _LABEL_CODES[value] if isinstance(value, str) else value
