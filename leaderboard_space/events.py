"""The log: all events of a board in order; events are never changed or removed.

An event is a line of canonical JSON with the sha256 of the line before it (reveals changes in the middle), the sha256
of its own content (identifies the altered line) and a unique key (an event appended twice is stored once).
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

_OfSubmissions = Literal["accepted", "result", "scored", "refused", "failed", "pruned"]
_OfRows = Literal["withdrawn", "restored", "verified", "unverified", "released"]
Kind = Literal[_OfSubmissions, _OfRows, "lost", "mended", "revoked", "wanted", "struck"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Kinds of events:

* accepted: a file was submitted and stored durably.
* result: a result exists; its row is on the board from here on.
* scored: a submission led to that result, or to one that was there already.
* refused: a submission has faults.
* failed: a submission could not be scored without a known fault; has its own quota.
* withdrawn, restored: a maintainer took a row off the board, with a reason, or put it back.
* verified, unverified: a maintainer reproduced the result with the model, or took that back.
* released: a maintainer let a submitted row have a rank, from here on.
* lost: replaces a damaged line whose event is unknown.
* mended: a maintainer mended the log; lists the lost events.
* revoked: a token, or all tokens that a user had made until then, are no longer valid.
* pruned: files of refused and failed submissions were removed, to make room.
* wanted: a user asked us to run a model of the Hub.
* struck: a maintainer struck such a model, with a reason; nobody can ask for it again.
"""
START = hashlib.sha256(b"").hexdigest()
"""Value of `previous` in the first event."""
OF_ROWS: tuple[Kind, ...] = get_args(_OfRows)
"""Kinds of events in which maintainers mark a row."""


@dataclass(frozen=True)
class Draft:
    """An event before it is appended; `key` is unique in the log, `body` is JSON data."""

    kind: Kind
    key: str
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """An event of a log.

    Args:
        number: place in the log, from 1.
        time: time of appending, UTC, as 2026-01-31T12:00:00.000Z; see `follow`.
        previous: sha256 of the line before, `START` for the first.
        sha256: hash of the line without this field and `previous`; '' in events of earlier versions.
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
        """The event of a line. ValueError unless `line` writes it in exactly this form."""
        data = orjson.loads(line)
        if not isinstance(data, dict) or {"sha256": str} | {name: type(part) for name, part in data.items()} != _TYPES:
            raise ValueError("no event of this log")
        if data["kind"] not in KINDS:
            raise ValueError(f"an event of a kind that this software does not know, {data['kind']!r:.40}")
        return cls(**data)


_TYPES = {"number": int, "time": str, "kind": str, "key": str, "previous": str, "body": dict, "sha256": str}
_AHEAD = timedelta(minutes=5)
"""Tolerated lead of another process' clock."""


def digest(line: bytes) -> str:
    """The hash that the next event carries as `previous`."""
    return hashlib.sha256(line).hexdigest()


def digests(line: bytes) -> tuple[str, str]:
    """`digest` of a line, and the hash without `previous` and `sha256`; their common beginning is hashed once."""
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
    """The time of this process' clock plus `later`, as `Event.time`."""
    return (datetime.now(UTC) + later).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def follow(draft: Draft, last: Event | None, previous: str) -> Event:
    """The draft as the event after `last`, whose line has the hash `previous`.

    Its time is this clock's, but not before `last` unless that is over five minutes ahead: wrong clocks do not spread.
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
    """The key of a secret; empty without one, and then nothing is signed or checked."""
    return hmac.digest(secret.encode(), _PURPOSE, "sha256") if secret else b""


def signed(body: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """The body with its signature; unchanged without a key."""
    return {**body, SIGNATURE: _signature(body, key)} if key else dict(body)


def is_forged(body: Mapping[str, Any], key: bytes) -> bool:
    """Whether a body has a signature that contradicts the key; False without a key."""
    return bool(key) and SIGNATURE in body and not hmac.compare_digest(str(body[SIGNATURE]), _signature(body, key))


def _signature(body: Mapping[str, Any], key: bytes) -> str:
    bare = {name: part for name, part in body.items() if name != SIGNATURE}
    return hmac.digest(key, canonical_json(bare), "sha256").hex()
