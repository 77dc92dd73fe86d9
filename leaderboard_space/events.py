"""The log: all events of a board in order; events are never changed or removed.

An event is a line of canonical JSON. It carries the sha256 of the line before it, so that a change in the middle is
seen, and a key that no other event of the log has, so that what is appended twice stands once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import orjson

Kind = Literal["accepted", "result", "scored", "refused", "failed", "withdrawn", "restored", "verified"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What happened; what the body of each holds is told by the functions below.

- accepted: somebody handed in a file, which is stored; from here on nothing of it is lost.
- result: a result came to be; the row stands on the board from here on.
- scored: a submission led to that result, or to one that was there already.
- refused: a submission has faults.
- failed: a submission could not be scored; it is no fault that could be told, and counts for a quota of its own.
- withdrawn, restored: a maintainer took a row off the board, with a reason, or put it back.
- verified: a maintainer ran the model again and found the same.
"""
START = hashlib.sha256(b"").hexdigest()
"""What the first event carries in place of the hash of the one before."""


@dataclass(frozen=True)
class Draft:
    """An event before it is appended.

    Args:
        kind: what happened.
        key: no two events of a log have the same.
        body: JSON data.
    """

    kind: Kind
    key: str
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """An event of a log.

    Args:
        number: its place in the log, from 1.
        time: when it was appended, UTC, as 2026-01-31T12:00:00.000Z; never earlier than the event before, whatever the
            clock did.
        kind: what happened.
        key: no two events of a log have the same.
        previous: sha256 of the line before, `START` for the first.
        body: JSON data.
    """

    number: int
    time: str
    kind: Kind
    key: str
    previous: str
    body: Mapping[str, Any]

    def line(self) -> bytes:
        """The event as a line of the log, with its line break."""
        return orjson.dumps(vars(self), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def of_line(cls, line: bytes) -> Event:
        """The event that `line` wrote. ValueError if it is none, or not in the one form that `line` gives."""
        data = orjson.loads(line)
        if not isinstance(data, dict) or {name: type(part) for name, part in data.items()} != _TYPES:
            raise ValueError("no event of this log")
        if data["kind"] not in KINDS:
            raise ValueError(f"an event of a kind that this software does not know, {data['kind']!r:.40}")
        return cls(**data)


_TYPES = {"number": int, "time": str, "kind": str, "key": str, "previous": str, "body": dict}


def digest(line: bytes) -> str:
    """The hash that the next event carries as `previous`."""
    return hashlib.sha256(line).hexdigest()


def follow(draft: Draft, last: Event | None, previous: str, now: str) -> Event:
    """The draft as the event after `last`, whose line has the hash `previous`."""
    number, time = (1, now) if last is None else (last.number + 1, max(now, last.time))
    return Event(number, time, draft.kind, draft.key, previous, draft.body)
