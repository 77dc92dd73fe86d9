"""A reading: what one raw answer says, where, and by which rule; and how a reading compares with its gold."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import RefusedError, show

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


NO_CHOICE = ("none", "refused", "several", "missing")
"""Gold readings of an answer that makes no choice; a reader that reads no choice is right for each of them."""
Verdict = Literal["right", "false", "lost"]


@dataclass(frozen=True)
class Compared:
    """A reading beside its gold.

    Args:
        entry: under which name it is counted: the task, or the part of a judge's answer.
        gold: what a careful person reads; a choice, or one of `NO_CHOICE`.
        read: what the reader reads, in the same form.
        verdict: `right`; `false`: read as a choice that it is not; `lost`: the gold is a choice and nothing was read.
        rule: the rule that read it.
    """

    entry: str
    gold: Any
    read: Any
    verdict: Verdict
    rule: str = ""


def compare(entry: str, gold: Any, reading: Reading) -> Compared:
    """Hold one reading against its gold."""
    read = reading.value if reading.outcome == "choice" else reading.outcome.replace("unusable", "none")
    chosen, choice = reading.outcome == "choice", gold not in NO_CHOICE
    right = read == gold if choice or chosen else True
    return Compared(entry, gold, read, "right" if right else ("false" if chosen else "lost"), reading.rule)


def field(line: Mapping[str, Any], name: str, kind: type | tuple[type, ...], expected: str) -> Any:
    """What a task's reader needs of a line beside the answer. RefusedError: it is not there, or of another type.

    Args:
        line: the fields of the line.
        name: of the field.
        kind: its type.
        expected: the same in words.
    """
    if name not in line:
        raise RefusedError("MISSING_FIELD", f"no {name!r}", f"{expected} in {name!r}")
    if not isinstance(line[name], kind) or (isinstance(line[name], bool) and kind is not bool):
        raise RefusedError("WRONG_TYPE", f"{name!r} is {show(line[name])}", expected)
    return line[name]


def check_gold(gold: Any, choices: Sequence[Any]) -> None:
    """Refuse a gold that is neither one of a task's choices nor one of `NO_CHOICE`. RefusedError UNKNOWN_GOLD."""
    if not any(gold == known and type(gold) is type(known) for known in (*choices, *NO_CHOICE)):
        texts = [choice for choice in choices if isinstance(choice, str)]
        near = did_you_mean(gold[:64].lower(), texts) if isinstance(gold, str) else ""
        listed = ", ".join(map(str, choices[:8])) + (f" and {len(choices) - 8} more" if len(choices) > 8 else "")
        raise RefusedError("UNKNOWN_GOLD", f"gold {show(gold)}{near}", f"{listed}; or {', '.join(NO_CHOICE)}")


def unknown_task(task: str, known: Sequence[str]) -> RefusedError:
    """The error of a labelled line whose task the benchmark does not have."""
    return RefusedError("UNKNOWN_TASK", f"task {show(task)}{did_you_mean(task[:64], known)}", ", ".join(known))
