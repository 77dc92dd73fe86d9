"""What the answers of a submission to IRIS' understanding tasks say, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast
from weakref import ref

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Reading, Readings, read_coded_column
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
T = TypeVar("T")
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

    readings: Readings[None] = read_coded_column(rows["response"], np.zeros(rows.num_rows, np.int64), [None], read)
    try:
        matches = match(terms)
    except EmbeddingMissingError:
        if not without_embedding:
            raise
        matches = unmatched(terms)
    return OccupationReadings(Readings(decided(terms, matches), readings.place), matches, tuple(texts))


def read_winners(rows: pa.Table, items: Integers, revision: str) -> Readings[int]:
    """The readings of the tournament's answers; a choice's value is the name of one of the round's competitors.

    An answer that chooses an occupation is read once for all rounds in which that competes; of the other rounds and
    answers each is read on its own.

    Args:
        rows: of the task.
        items: (n) the round of each row.
        revision: of the dataset.
    """
    competitors = iris_ideal_52.tournament_competitors(revision)
    plain: Readings[None] = read_coded_column(rows["response"], np.zeros(len(items), np.int64), [None], _whoever)
    codes = occupation_codes(plain)
    offered = (competitors[items] == codes[:, None]).any(axis=1)
    place, distinct = plain.place.copy(), list(plain.distinct)
    texts, known = rows["response"], competitors.tolist()
    for row in np.flatnonzero(~offered & (place >= 0)).tolist():
        place[row] = len(distinct)
        distinct.append(read_winner(texts[row].as_py(), known[items[row]]))
    return Readings(distinct, place)


def _whoever(answer: str, key: None) -> Reading:
    read = read_occupation(answer)
    return read if isinstance(read, Reading) else Reading("unusable", None, read.span, "not offered")


def read_pair_answers(rows: pa.Table, items: Integers) -> Readings[str]:
    """The readings of the answers about counterfactual pairs: ratings of questions 1 to 9, labels of a to h.

    Args:
        rows: of the task.
        items: (n) the place of each row's item among `pair_ids`.
    """
    keys = list(QUESTIONS)
    codes = items % len(QUESTIONS)
    return read_coded_column(
        rows["response"],
        codes,
        keys,
        lambda answer, key: read_rating(answer, key) if key in SUBJECTIVE else read_label(answer, key),
    )


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
    codes = readings.values(_pair_code, np.inf)
    codes[readings.outcomes() == NOT_HANDED_IN] = np.nan
    return codes


class SubmittedReadings:
    """The readings of a submission's answers, each task read once; those of the latest submission are kept."""

    _latest: ClassVar[SubmittedReadings | None] = None

    def __init__(self, submission: Submission) -> None:
        self._of = ref(submission)
        self._read: dict[str, Any] = {}

    @classmethod
    def of(cls, submission: Submission) -> SubmittedReadings:
        """The readings of a submission."""
        if cls._latest is None or cls._latest._of() is not submission:
            cls._latest = cls(submission)
        return cls._latest

    def occupations(self, rows: pa.Table) -> OccupationReadings:
        """Of the occupation question's rows. EmbeddingMissingError as `match`."""
        return self._once("occupation", lambda: read_occupations(rows))

    def winners(self, rows: pa.Table, revision: str) -> tuple[Readings[int], Integers]:
        """Of the tournament's rows, with the round of each."""

        def read() -> tuple[Readings[int], Integers]:
            items = item_index(iris_ideal_52.tournament_ids(revision), rows)
            return read_winners(rows, items, revision), items

        return self._once("tournament", read)

    def pairs(self, rows: pa.Table, revision: str) -> tuple[Readings[str], Integers]:
        """Of the rows about counterfactual pairs, with the place of each row's item among `pair_ids`."""

        def read() -> tuple[Readings[str], Integers]:
            items = item_index(iris_steer_60.pair_ids(revision), rows)
            return read_pair_answers(rows, items), items

        return self._once("pair", read)

    def _once(self, task: str, read: Callable[[], T]) -> T:
        if task not in self._read:
            self._read[task] = read()
        return cast(T, self._read[task])


def row_readings(submission: Submission) -> dict[str, Readings[Any]]:
    """Task -> the readings of its rows; without the embedding, a term that only it could map is unusable."""
    read, revision = SubmittedReadings.of(submission), submission.meta.dataset_revision
    tables = {task: submission.rows("responses", task) for task in ("occupation", "tournament", "pair")}
    readings: dict[str, Readings[Any]] = {}
    if (rows := tables["occupation"]).num_rows:
        try:
            readings["occupation"] = read.occupations(rows).readings
        except EmbeddingMissingError:
            readings["occupation"] = read_occupations(rows, without_embedding=True).readings
    if (rows := tables["tournament"]).num_rows:
        readings["tournament"] = read.winners(rows, revision)[0]
    if (rows := tables["pair"]).num_rows:
        readings["pair"] = read.pairs(rows, revision)[0]
    return readings


_LABEL_CODES = {label: float(code) for labels in LABELS.values() for code, label in enumerate(labels)}


def _pair_code(value: float | str) -> float:
    return _LABEL_CODES[value] if isinstance(value, str) else value
