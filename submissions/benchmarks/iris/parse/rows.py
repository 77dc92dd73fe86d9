"""What the answers of a submission to IRIS' understanding tasks say, row by row."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.answers.reading import Reading, Readings, read_column
from fairspace.submissions.benchmarks.iris.parse.label import read_label
from fairspace.submissions.benchmarks.iris.parse.nearest import Matches, decided, match
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation
from fairspace.submissions.benchmarks.iris.parse.rating import read_rating
from fairspace.submissions.benchmarks.iris.parse.winner import read_winner
from fairspace.submissions.benchmarks.short_answers import item_index

_CODES = {name: code for code, name in enumerate(OCCUPATIONS)}


def read_occupations(rows: pa.Table) -> tuple[Readings[None], Matches]:
    """The readings of the answers to the occupation question, and what both tiers say of the distinct ones.

    Errors: EmbeddingMissingError as `match`.
    """
    terms: list[Reading | OpenTerm] = []

    def read(answer: str, key: None) -> Reading:
        terms.append(read_occupation(answer))
        return Reading("unusable")

    readings: Readings[None] = read_column(rows["response"], repeat(None, rows.num_rows), read)
    matches = match(terms)
    return Readings(decided(terms, matches), readings.place), matches


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
    """(n,) index into `OCCUPATIONS` of each row's choice, -1 where there is none."""
    return readings.values(_CODES.__getitem__, -1).astype(np.int64)


def pair_codes(readings: Readings[str]) -> NDArray[np.float64]:
    """(n,) each row's rating, or the code of its label among those of its question; nan where there is no choice."""
    return readings.values(_pair_code)


_LABEL_CODES = {label: float(code) for labels in LABELS.values() for code, label in enumerate(labels)}


def _pair_code(value: float | str) -> float:
    return _LABEL_CODES[value] if isinstance(value, str) else value
