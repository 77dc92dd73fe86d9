"""The log: all events of a board in order; events are never changed or removed.

An event is a line of canonical JSON. It carries the sha256 of the line before it, so that a change in the middle is
seen; the sha256 of its own content, so that the altered line is known and every other line proves itself; and a key
that no other event of the log has, so that what is appended twice stands once.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

import orjson

from fairspace.submissions.reading.canonical import canonical_json

Kind = Literal[
    "accepted",
    "result",
    "scored",
    "refused",
    "failed",
    "withdrawn",
    "restored",
    "verified",
    "unverified",
    "released",
    "lost",
    "mended",
    "pruned",
    "revoked",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What happened; what the body of each holds is told by the functions below.

- accepted: somebody handed in a file, which is stored; from here on nothing of it is lost.
- result: a result came to be; the row stands on the board from here on.
- scored: a submission led to that result, or to one that was there already.
- refused: a submission has faults.
- failed: a submission could not be scored; it is no fault that could be told, and counts for a quota of its own.
- withdrawn, restored: a maintainer took a row off the board, with a reason, or put it back.
- verified, unverified: a maintainer ran the model again and found the same, or took that back.
- released: a maintainer let a submitted row have a rank, from here on.
- lost: stands in place of a line that was damaged, and whose event nothing could tell any more.
- mended: a maintainer mended the log; which events were lost.
- revoked: a token, or all that a user had made until then, are no longer valid.
- pruned: files of refused and failed submissions were removed, to make room.
"""
START = hashlib.sha256(b"").hexdigest()
"""What the first event carries in place of the hash of the one before."""


@dataclass(frozen=True)
class Draft:
    """An event before it is appended.

    Args:
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
        time: when it was appended, UTC, as 2026-01-31T12:00:00.000Z; see `follow`.
        key: no two events of a log have the same.
        previous: sha256 of the line before, `START` for the first.
        body: JSON data.
        sha256: of the line without this field and `previous`; '' in events of earlier versions.
    """

    number: int
    time: str
    kind: Kind
    key: str
    previous: str
    body: Mapping[str, Any]
    sha256: str = ""

    def line(self) -> bytes:
        """The event as a line of the log, with its line break."""
        data = {name: part for name, part in vars(self).items() if part or name != "sha256"}
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def of_line(cls, line: bytes) -> Event:
        """The event that `line` wrote. ValueError if it is none, or not in the one form that `line` gives."""
        data = orjson.loads(line)
        if not isinstance(data, dict) or {"sha256": str} | {name: type(part) for name, part in data.items()} != _TYPES:
            raise ValueError("no event of this log")
        if data["kind"] not in KINDS:
            raise ValueError(f"an event of a kind that this software does not know, {data['kind']!r:.40}")
        return cls(**data)


_TYPES = {"number": int, "time": str, "kind": str, "key": str, "previous": str, "body": dict, "sha256": str}
_AHEAD = timedelta(minutes=5)
"""How far the clock of another process may be ahead."""


def digest(line: bytes) -> str:
    """The hash that the next event carries as `previous`."""
    return hashlib.sha256(line).hexdigest()


def digests(line: bytes) -> tuple[str, str]:
    """Of a line as `Event.line` writes it: `digest`, and the hash of it without `previous` and `sha256`.

    Both stand near the end, behind the body; what is before them is hashed once for both.
    """
    place, end = line.rfind(b',"previous":"'), line.rfind(b',"time":"')
    whole = hashlib.sha256(line[:place])
    content = whole.copy()
    content.update(line[end:])
    whole.update(line[place:])
    return whole.hexdigest(), content.hexdigest()


def sealed(event: Event) -> Event:
    """The event with the hash of its content."""
    return replace(event, sha256=digests(event.line())[1])


def clock(later: timedelta = timedelta()) -> str:
    """The time of this process' clock plus `later`, as `Event.time` has it."""
    return (datetime.now(UTC) + later).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def follow(draft: Draft, last: Event | None, previous: str) -> Event:
    """The draft as the event after `last`, whose line has the hash `previous`.

    Its time is that of this process' clock, and not earlier than that of `last`, if that is at most five minutes ahead
    of this clock: a clock that once ran far ahead stamps no later event.
    """
    now = clock()
    time = now if last is None or last.time > clock(_AHEAD) else max(now, last.time)
    return sealed(Event(1 if last is None else last.number + 1, time, draft.kind, draft.key, previous, draft.body))


# The maintainers' signature on a `verified` event: a log that was edited by hand does not make a row verified.
# The key follows from FAIRSPACE_SECRET and is used for nothing else. Events from before there were signatures have
# none; pages say so, and `fairspace store` counts them.

SIGNATURE = "signature"
_PURPOSE = b"fairspace: verified events"


def signing_key(secret: str) -> bytes:
    """The key that a secret gives; empty for no secret, with which nothing is signed or checked."""
    return hmac.digest(secret.encode(), _PURPOSE, "sha256") if secret else b""


def signed(body: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """The body of an event with its signature; as it is without a key."""
    return {**body, SIGNATURE: _signature(body, key)} if key else dict(body)


def is_forged(body: Mapping[str, Any], key: bytes) -> bool:
    """Whether a body has a signature that the key does not give; without a key nobody can say."""
    return bool(key) and SIGNATURE in body and not hmac.compare_digest(str(body[SIGNATURE]), _signature(body, key))


def _signature(body: Mapping[str, Any], key: bytes) -> str:
    bare = {name: part for name, part in body.items() if name != SIGNATURE}
    return hmac.digest(key, canonical_json(bare), "sha256").hex()
