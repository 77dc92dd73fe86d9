"""What the answers of a submission to IRIS' understanding tasks say, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.answers.reading import (
    NOT_HANDED_IN,
    OUTCOMES,
    Reading,
    Readings,
    read_coded_column,
    read_once,
)
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

Integers = NDArray[np.int64]
UNMAPPABLE, MISSING, REFUSED = -1, -2, -3
"""Codes of rows without a choice: handed in and unusable (or several), not handed in, declined."""
_CODES = {name: code for code, name in enumerate(OCCUPATIONS)}
_LABEL_CODES = {label: float(code) for labels in LABELS.values() for code, label in enumerate(labels)}


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


@read_once
def occupation_rows(submission: Submission) -> OccupationReadings:
    """The readings of the answers to the occupation question. EmbeddingMissingError as `match`."""
    return _occupations(submission, match)


def _occupations(
    submission: Submission, map_terms: Callable[[list[Reading | OpenTerm]], Matches]
) -> OccupationReadings:
    rows, terms, texts = submission.rows("responses", "occupation"), list[Reading | OpenTerm](), list[str]()

    def read(answer: str, key: None) -> Reading:
        terms.append(read_occupation(answer))
        texts.append(answer)
        return Reading("unusable")

    readings: Readings[None] = read_coded_column(rows["response"], np.zeros(rows.num_rows, np.int64), [None], read)
    matches = map_terms(terms)
    return OccupationReadings(Readings(decided(terms, matches), readings.place), matches, tuple(texts))


@read_once
def winner_rows(submission: Submission) -> tuple[Readings[int], Integers]:
    """The readings of the tournament's answers, names of competitors, and the round of each.

    An answer that chooses an occupation is read once for all rounds in which that competes; of the other rounds and
    answers each is read on its own.
    """
    rows, competitors = submission.rows("responses", "tournament"), iris_ideal_52.tournament_competitors()
    items = item_index(iris_ideal_52.tournament_ids(submission.meta.dataset_revision), rows)
    plain: Readings[None] = read_coded_column(rows["response"], np.zeros(len(items), np.int64), [None], _whoever)
    codes = occupation_codes(plain)
    offered = (competitors[items] == codes[:, None]).any(axis=1)
    place, distinct = plain.place.copy(), list(plain.distinct)
    texts, known = rows["response"], competitors.tolist()
    for row in np.flatnonzero(~offered & (place >= 0)).tolist():
        place[row] = len(distinct)
        distinct.append(read_winner(texts[row].as_py(), known[items[row]]))
    return Readings(distinct, place), items


def _whoever(answer: str, key: None) -> Reading:
    read = read_occupation(answer)
    return read if isinstance(read, Reading) else Reading("unusable", None, read.span, "not offered")


@read_once
def pair_rows(submission: Submission) -> tuple[Readings[str], Integers]:
    """The readings of the answers about counterfactual pairs, and the place of each row's item among `pair_ids`.

    They are ratings of questions 1 to 9, labels of a to h.
    """
    rows, keys = submission.rows("responses", "pair"), list(QUESTIONS)
    items = item_index(iris_steer_60.pair_ids(submission.meta.dataset_revision), rows)
    read = {key: read_rating if key in SUBJECTIVE else read_label for key in keys}
    codes = items % len(keys)
    return read_coded_column(rows["response"], codes, keys, lambda answer, key: read[key](answer, key)), items


def occupation_codes(readings: Readings[Any]) -> NDArray[np.int_]:
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
    codes = readings.values(lambda value: _LABEL_CODES.get(value, value), np.inf)
    codes[readings.outcomes() == NOT_HANDED_IN] = np.nan
    return codes


def row_readings(submission: Submission) -> dict[str, Readings[Any]]:
    """Task -> the readings of its rows; without the embedding, a term that only it could map is unusable."""
    try:
        occupations = occupation_rows(submission)
    except EmbeddingMissingError:
        occupations = _occupations(submission, unmatched)
    every: dict[str, Readings[Any]] = {
        "occupation": occupations.readings,
        "tournament": winner_rows(submission)[0],
        "pair": pair_rows(submission)[0],
    }
    return {task: readings for task, readings in every.items() if len(readings.place)}
