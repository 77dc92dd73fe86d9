"""A reading: what one raw answer says, where it says so, and by which rule it was read."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Outcome = Literal["choice", "refused", "several", "unusable"]
OUTCOMES: tuple[Outcome, ...] = ("choice", "refused", "several", "unusable")
NOT_HANDED_IN = -1
"""`Readings.outcomes` of a row without an answer."""
Key = TypeVar("Key")
Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Reading:
    """What one answer says.

    Args:
        outcome: `choice`: exactly one of the possible values. `refused`: it declines to answer. `several`: it names
            more than one and decides for none. `unusable`: it names none of them, or is empty.
        value: of a choice, as the task has it (an occupation, a letter, a number); None for the other outcomes.
        span: (start, end) of the characters of the raw answer that were read as the choice, the refusal or the several;
            None where nothing can be pointed at.
        rule: the name of the rule that read it, for example `alone`, `final answer`, `json`, `alias`.
    """

    outcome: Outcome
    value: Any = None
    span: tuple[int, int] | None = None
    rule: str = ""


EMPTY = Reading("unusable", rule="empty")
"""The reading of an answer without a visible character."""


@dataclass(frozen=True)
class Readings(Generic[Key]):
    """The readings of a table's rows; equal answers to equal items are read once.

    Args:
        distinct: the different readings.
        place: (n) of each row its reading among them, -1: no answer.
    """

    distinct: Sequence[Reading]
    place: NDArray[np.int64]

    def outcomes(self) -> NDArray[np.int8]:
        """(n) index into `OUTCOMES`, `NOT_HANDED_IN` where there is no answer."""
        codes = [OUTCOMES.index(reading.outcome) for reading in self.distinct]
        return np.array([*codes, NOT_HANDED_IN], np.int8)[self.place]

    def values(self, code: Callable[[Any], float], missing: float = np.nan) -> NDArray[np.float64]:
        """(n) the code of each choice, `missing` for all other outcomes and where there is no answer."""
        codes = [code(reading.value) if reading.outcome == "choice" else missing for reading in self.distinct]
        return np.array([*codes, missing], np.float64)[self.place]


@dataclass(frozen=True)
class Misread:
    """Rows of a task that are taken for something else.

    Args:
        rows: (n) their places among the task's rows.
        items: (n) the places of their items among the task's ids.
        texts: (n) the choice that each is taken for, as labelled answers name it; '' for an answer without a choice.
    """

    rows: NDArray[np.int64]
    items: NDArray[np.int64]
    texts: Sequence[str]


def read_column(answers: pa.ChunkedArray, keys: Iterable[Key], read: Callable[[str, Key], Reading]) -> Readings[Key]:
    """Read a column of answers, each distinct pair of answer and key once.

    Args:
        answers: (n) raw answers; null is no answer.
        keys: (n) what the reader needs of each row's item beside the answer, hashable.
        read: (answer, key) -> reading.
    """
    places: dict[Key, int] = {}
    codes = np.array([places.setdefault(key, len(places)) for key in keys], np.int64)
    return read_coded_column(answers, codes, list(places), read)


def read_once(read: Callable[[Given], Result]) -> Callable[[Given], Result]:
    """The same function, which remembers its last result for as long as what it was given is there.

    A submission's rows are read for its values and shown as evidence; they are the same rows. What is given must not
    change, and is told apart by identity.
    """
    last: list[tuple[weakref.ref[Given], Result]] = []

    @wraps(read)
    def reading(given: Given) -> Result:
        kept = last[-1] if last else None
        if kept is not None and kept[0]() is given:
            return kept[1]
        result = read(given)
        last[:] = [(weakref.ref(given, lambda gone: last.clear() if last and last[-1][0] is gone else None), result)]
        return result

    return reading


def read_coded_column(
    answers: pa.ChunkedArray, codes: NDArray[np.integer], keys: Sequence[Key], read: Callable[[str, Key], Reading]
) -> Readings[Key]:
    """As `read_column`, where each row's key is one of a few: many rows take little time.

    Args:
        answers: (n) raw answers; null is no answer.
        codes: (n) the place of each row's key in `keys`.
        keys: what the reader may need beside an answer.
        read: (answer, key) -> reading.
    """
    encoded = pc.dictionary_encode(answers.combine_chunks() if isinstance(answers, pa.ChunkedArray) else answers)
    texts = encoded.dictionary.to_pylist()
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    there = indices >= 0
    place = np.full(len(indices), NOT_HANDED_IN, np.int64)
    pairs, place[there] = np.unique((indices * len(keys) + codes)[there], return_inverse=True)
    return Readings([read(texts[pair // len(keys)], keys[pair % len(keys)]) for pair in pairs.tolist()], place)
