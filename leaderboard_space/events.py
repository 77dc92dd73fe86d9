"""The log: all events of a board in order, their index, and the files they name; events are never changed or removed.

An event is a line of canonical JSON with the sha256 of the line before it (reveals changes in the middle), the sha256
of its own content (identifies the altered line) and a unique key (an event appended twice is stored once).
"""

from __future__ import annotations

import hashlib
import hmac
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, get_args

import orjson

from fairspace.leaderboard_space.errors import StorageError
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.errors import UsageError
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


# The files that events refer to. Paths are made from content hashes alone, never from submitted text:
#
#     submissions/<2 digits>/<sha256 of the file>.zip
#     results/<benchmark>/<2 digits>/<key of the result>.json
#
# A file never changes once an event refers to it.


def submission_path(sha256: str) -> str:
    """Path of a submitted file."""
    return f"submissions/{_digits(sha256)[:2]}/{sha256}.zip"


def result_path(benchmark: str, key: str) -> str:
    """Path of a result. UsageError if there is no such benchmark."""
    if benchmark not in NAMES:
        raise UsageError(f"There is no benchmark {benchmark!r}. Known: {', '.join(NAMES)}.")
    return f"results/{benchmark}/{_digits(key)[:2]}/{key}.json"


def vouched_by(path: str) -> str:
    """Key of the event that holds the sha256 of a file; '' for a submission, whose name holds it."""
    return f"result:{Path(path).stem}" if path.startswith("results/") else ""


def _digits(name: str) -> str:
    if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
        raise ValueError(f"{name!r} is no sha256")
    return name


BATCH = 256
"""Events in memory at a time while a log is read."""


class LogIndex:
    """Index of a log in one file, a store's or a copy of the Hub's: key and offset of each event, read on demand.

    `where` and `mend` (remedy) are for errors.
    """

    def __init__(self, where: str, mend: str) -> None:
        self.where, self.mend = where, mend
        self.end = 0
        self.previous = START
        self._begins = array("Q")
        self._numbers: dict[str, int] = {}
        self._last: Event | None = None

    def __len__(self) -> int:
        return len(self._begins)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def read(self, stream: IO[bytes], after: int, limit: int = BATCH) -> list[Event]:
        """Some events with a number above `after`, none if there are none yet; new complete lines are checked.

        StorageError STORE_CORRUPT for an altered line or a shortened log.
        """
        self._check_size(stream)
        while len(self) < after and self.read(stream, len(self)):
            pass
        count = len(self) - after
        if count > 0:
            stream.seek(self._begins[after])
            return [self._event(line, after + place) for place, line in enumerate(islice(stream, min(count, limit)), 1)]
        stream.seek(self.end)
        events: list[Event] = []
        for line in islice(stream, limit):
            if not line.endswith(b"\n"):
                break
            events.append(self.note(line))
        return events

    def catch_up(self, stream: IO[bytes]) -> None:
        """Note all new lines. Errors: as `read`."""
        while self.read(stream, len(self)):
            pass

    def check(self, stream: IO[bytes]) -> None:
        """Check that the last known line is still at its offset. StorageError STORE_CORRUPT."""
        self._check_size(stream)
        if len(self):
            stream.seek(self._begins[-1])
            if digest(stream.read(self.end - self._begins[-1])) != self.previous:
                raise self.damaged("it was replaced while it was in use")

    def note(self, line: bytes) -> Event:
        """Add the next line to the index. StorageError STORE_CORRUPT, which names the line that was altered."""
        number = len(self) + 1
        event = self._event(line, number)
        whole, content = digests(line)
        if event.line() != line or event.key in self._numbers or event.sha256 not in ("", content):
            raise self._damaged(number, "its content is not what was appended")
        if event.previous != self.previous:
            raise self._damaged(number, "its `previous` is not the hash of the line before")
        self._begins.append(self.end)
        self._numbers[event.key] = number
        self.end += len(line)
        self.previous, self._last = whole, event
        return event

    def find(self, stream: IO[bytes], key: str) -> Event | None:
        """The event of that key."""
        number = self._numbers.get(key)
        return None if number is None else self.read(stream, number - 1, 1)[0]

    def following(self, drafts: Sequence[Draft]) -> list[bytes]:
        """The lines of the drafts whose keys are not in the log, as they would follow its end."""
        last, previous = self._last, self.previous
        lines: dict[str, bytes] = {}
        for draft in drafts:
            if draft.key not in self._numbers and draft.key not in lines:
                last = follow(draft, last, previous)
                lines[draft.key] = last.line()
                previous = digest(lines[draft.key])
        return list(lines.values())

    def write(self, stream: IO[bytes], lines: Sequence[bytes]) -> None:
        """Append lines to the file. OSError if not all can be written; then none is kept.

        It bypasses the stream, whose buffer would be written later, after an error.
        """
        left = memoryview(b"".join(lines))
        try:
            while left:
                left = left[os.write(stream.fileno(), left) :]
        except OSError:
            os.ftruncate(stream.fileno(), self.end)
            raise

    def damaged(self, what: str) -> StorageError:
        """The error for a log that changed after it was read."""
        return StorageError("STORE_CORRUPT", self.where, what, "a log that only grows", self.mend)

    def _check_size(self, stream: IO[bytes]) -> None:
        if os.fstat(stream.fileno()).st_size < self.end:
            raise self.damaged("the log has become shorter")

    def _event(self, line: bytes, number: int) -> Event:
        try:
            event = Event.of_line(line)
        except ValueError as error:
            raise self._damaged(number, str(error)) from error
        if event.number != number:
            raise self._damaged(number, f"it says that it is event {event.number}")
        return event

    def _damaged(self, number: int, what: str) -> StorageError:
        return StorageError(
            "STORE_CORRUPT", f"{self.where}, line {number}", what, "the line that was appended", self.mend
        )
