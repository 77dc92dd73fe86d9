"""Readings of raw answers (outcome, value, span, rule), their comparison with a gold, and samples behind a value."""

import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.metrics.columns import Floats, Integers

Outcome = Literal["choice", "refused", "several", "unusable"]
OUTCOMES: tuple[Outcome, ...] = ("choice", "refused", "several", "unusable")
Span = tuple[int, int]
"""(start, end) of words in a text."""
NOT_HANDED_IN = -1
"""`Readings.outcomes` of a row without an answer."""
Key = TypeVar("Key")
Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Reading:
    """The reading of one answer.

    Args:
        outcome: `choice`: exactly one of the possible values; `refused`: a refusal; `several`: several values without a
            decision; `unusable`: none of the values, or empty.
        value: Chosen value in the task's form (an occupation, a letter, a number); None for other outcomes.
        span: (start, end) in the raw answer of the words behind the outcome; None without such words.
        rule: Name of the rule, for example `alone`, `final answer`, `json`, `alias`.
    """

    outcome: Outcome
    value: Any = None
    span: Span | None = None
    rule: str = ""


EMPTY = Reading("unusable", rule="empty")
"""The reading of an answer without a visible character."""


@dataclass(frozen=True)
class Readings(Generic[Key]):
    """The readings of a table's rows; equal answers to equal items are read once.

    `place` has the (n) index of each row's reading among the `distinct` ones, -1 without an answer.
    """

    distinct: Sequence[Reading]
    place: NDArray[np.int64]

    def outcomes(self) -> NDArray[np.int8]:
        """(n) index into `OUTCOMES`, `NOT_HANDED_IN` without an answer."""
        codes = [OUTCOMES.index(reading.outcome) for reading in self.distinct]
        return np.array([*codes, NOT_HANDED_IN], np.int8)[self.place]

    def values(self, code: Callable[[Any], float], missing: float = np.nan) -> NDArray[np.float64]:
        """(n) the code of each choice, `missing` for other outcomes and without an answer."""
        codes = [code(reading.value) if reading.outcome == "choice" else missing for reading in self.distinct]
        return np.array([*codes, missing], np.float64)[self.place]


@dataclass(frozen=True)
class Misread:
    """Replaced choices of a task: (n) indices into its rows and of their items into its ids, and the new choices.

    `texts` are as in labelled answers, '' for an answer without a choice.
    """

    rows: NDArray[np.int64]
    items: NDArray[np.int64]
    texts: Sequence[str]


def read_column(answers: pa.ChunkedArray, keys: Iterable[Key], read: Callable[[str, Key], Reading]) -> Readings[Key]:
    """Read (n) answers, null for none, with (n) hashable keys of their items, each distinct pair once."""
    places: dict[Key, int] = {}
    codes = np.array([places.setdefault(key, len(places)) for key in keys], np.int64)
    return read_coded_column(answers, codes, list(places), read)


def read_once(read: Callable[[Given], Result]) -> Callable[[Given], Result]:
    """The function with a memory of its last result; the argument is compared by identity and must not change."""
    last: list[tuple[weakref.ref[Given], Result]] = []

    @wraps(read)
    def reading(answer: Given) -> Result:
        kept = last[-1] if last else None
        if kept is not None and kept[0]() is answer:
            return kept[1]
        result = read(answer)
        last[:] = [(weakref.ref(answer, lambda gone: last.clear() if last and last[-1][0] is gone else None), result)]
        return result

    return reading


def read_coded_column(
    answers: pa.ChunkedArray, codes: NDArray[np.integer], keys: Sequence[Key], read: Callable[[str, Key], Reading]
) -> Readings[Key]:
    """Read a column as `read_column` does, quickly for few distinct keys; `codes` are (n) indices into `keys`."""
    encoded = pc.dictionary_encode(answers.combine_chunks() if isinstance(answers, pa.ChunkedArray) else answers)
    texts = encoded.dictionary.to_pylist()
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    there = indices >= 0
    place = np.full(len(indices), NOT_HANDED_IN, np.int64)
    pairs, place[there] = np.unique((indices * len(keys) + codes)[there], return_inverse=True)
    return Readings([read(texts[pair // len(keys)], keys[pair % len(keys)]) for pair in pairs.tolist()], place)


NO_CHOICE = ("none", "refused", "several", "missing")
"""Golds of an answer without a choice; a reader that reads no choice is right for each of them."""
Verdict = Literal["right", "false", "lost"]


@dataclass(frozen=True)
class Compared:
    """A reading beside its gold.

    Args:
        entry: Name of the count: the task, or the part of a judge's answer.
        gold: Reading of a careful person: a choice, or one of `NO_CHOICE`.
        verdict: `right`; `false`: read as a choice that it is not; `lost`: a choice that was not read.
    """

    entry: str
    gold: Any
    read: Any
    verdict: Verdict
    rule: str = ""


def compare(entry: str, gold: Any, reading: Reading) -> Compared:
    """Compare a reading with its gold."""
    read = reading.value if reading.outcome == "choice" else reading.outcome.replace("unusable", "none")
    read_choice, choice = reading.outcome == "choice", gold not in NO_CHOICE
    right = read == gold if choice or read_choice else True
    return Compared(entry, gold, read, "right" if right else ("false" if read_choice else "lost"), reading.rule)


@dataclass(frozen=True)
class Samples:
    """The samples behind one value.

    Args:
        score: Description of a sample's score.
        scores: (n,) or (n, m); nan without a score.
        asked: (n,) index of each sample's item among the ids of `task`.
        sample: (n,) number of the sample within its item; None for one sample per item.
        levels: (n,) part of the protocol, such as an occupation; None for a value that is the mean of all scores.
        fair: Mean score of a fair or a right model, per column.
    """

    value: str
    score: str
    scores: Floats
    task: str
    asked: Integers
    sample: Integers | None = None
    levels: Integers | None = None
    fair: float = 0.0


def one_hot(codes: Integers, size: int) -> Floats:
    """(n, size) 1 at the code of each sample; nan in the rows of codes below 0."""
    columns = np.eye(size)[np.maximum(codes, 0)]
    columns[codes < 0] = np.nan
    return columns
