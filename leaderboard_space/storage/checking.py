"""Check a store (log, files and state), and mend the log of a folder: broken lines are skipped and named."""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import (
    START,
    Draft,
    Event,
    clock,
    digest,
    digests,
    follow,
    sealed,
    submission_path,
    vouched_by,
)
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import Storage, local
from fairspace.submissions.errors import UsageError


@dataclass(frozen=True)
class StoreCheck:
    """Result of a check, with the numbers of events, rows (withdrawn ones too) and accepted submissions.

    Args:
        snapshot: sha256 of `State.snapshot`; equal for stores whose boards are equal.
        faults: files that are missing or contradict the log.
        notes: events lost when the log was mended, and files without an event: their writer was stopped too early, or
            the log lost its end.
        unnamed: number of files without an event beyond the events that the log itself says it lost.
    """

    events: int
    rows: int
    submissions: int
    snapshot: str
    faults: tuple[StorageError, ...]
    notes: tuple[str, ...] = ()
    unnamed: int = 0


def check(storage: Storage, key: bytes = b"") -> StoreCheck:
    """Fold the log and read its files; check `verified` events with the key. StorageError for a damaged log."""
    files = _files(storage.root) if isinstance(storage, local.LocalStorage) else []  # before the events of later ones
    state = State(storage, key)
    number = state.refresh()
    faults = [_forged(number) for number in state.forged]
    kept = {submission.sha256: submission for submission in state.submissions() if not submission.pruned}
    reads: list[Callable[[], object]] = [partial(state.full, entry.entry) for entry in state.entries()]
    reads += [partial(_check_submission, state, submission) for submission in kept.values()]
    for read in reads:
        try:
            read()
        except StorageError as error:
            faults.append(error)
    vouched = {submission_path(submission.sha256) for submission in state.submissions()}
    vouched |= {file for file in files if (event := vouched_by(file)) and storage.find(event)}
    unnamed = [f"no event names {file}" for file in files if file not in vouched]
    snapshot = hashlib.sha256(state.snapshot()).hexdigest()
    counts = number, len(state.entries()), len(state.submissions())
    return StoreCheck(
        *counts, snapshot, tuple(faults), (*state.mendings(), *unnamed), max(len(unnamed) - state.lost, 0)
    )


def _files(root: Path) -> list[str]:
    """The paths of all results and submissions of a folder."""
    return sorted(file.relative_to(root).as_posix() for pattern in _FILES for file in root.glob(pattern))


_FILES = ("results/*/*/*.json", "submissions/*/*.zip")
_BESIDE = 1000
"""Events of no file (of tokens, wishes and maintainers) that a log may have lost, beside four for each file."""


def _forged(number: int) -> StorageError:
    what, expected = "a signature that is not the maintainers'", "one by the key of FAIRSPACE_SECRET"
    mend = "put the log back from a backup; if the secret was changed, verify the row again"
    return StorageError("STORE_CORRUPT", f"event {number} of the log, a verified row", what, expected, mend)


def _check_submission(state: State, submission: LoggedSubmission) -> None:
    with state.submitted_file(submission) as file, file.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != submission.sha256:
            path, mend = submission_path(submission.sha256), "put the file back from a backup"
            raise StorageError("STORE_CORRUPT", path, "other content than its name says", "what was handed in", mend)


@dataclass(frozen=True)
class Mended:
    """Result of a repair: events in the log now, numbers of lost events, and places of the broken lines.

    `count`: the number in the folder's count file, if the log and the files cannot explain it; then it was damaged.
    """

    events: int
    lost: tuple[int, ...] = ()
    aside: tuple[Path, ...] = ()
    count: int | None = None


def mend(root: Path) -> Mended:
    """Mend the log of a folder: broken lines are put aside, and all others kept; a deleted log is like an empty one.

    A missing number becomes an event `lost`, and a last event names them. Nothing else may use the store: a process
    that had read the log refuses the mended one. UsageError: neither a log nor files of a store.
    """
    files = len(_files(root))
    if not files and not (root / local.LOG).is_file():
        raise UsageError(f"{root} holds no {local.LOG}; name the folder of a store.")
    with (root / local.LOG).open("a+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        lines = stream.readlines()
        torn = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""  # nobody was told of it
        sound: dict[int, Event] = {}
        broken = []
        events = [_event(line) for line in lines]
        previous = {event.number: event.previous for event in events if event is not None}
        for line, event in zip(lines, events, strict=True):
            if event is None or (not event.sha256 and previous.get(event.number + 1) not in (None, digest(line))):
                broken.append(line)
            else:
                sound.setdefault(event.number, event)
        count, length = local.read_count(root), max([len(lines), *sound])
        damaged = None if count <= length + 4 * files + _BESIDE else count
        if count and damaged is None:
            length = max([count, *sound])
        kept = [event.line() for event in _numbered(sound, length)]
        aside = tuple(local.put_aside(root, line) for line in (*broken, torn) if line)
        lost = tuple(number for number in range(1, length + 1) if number not in sound)
        if kept == lines:
            stream.truncate(sum(map(len, lines)))
            os.fsync(stream.fileno())
        else:
            last = Event.of_line(kept[-1]) if kept else None
            about = {"lost": list(lost), "aside": [path.name for path in aside]}
            draft = Draft("mended", f"mended:{length + 1}", about)
            kept.append(follow(draft, last, digest(kept[-1]) if kept else START).line())
            local.place(local.write_part(root / local.PARTS, b"".join(kept)), root / local.LOG)
        local.write_count(root, len(kept))
        local.tidy(root)
    return Mended(len(kept), lost, aside, damaged)


def _event(line: bytes) -> Event | None:
    """The event of a line whose hash is right; None for another. Of an earlier version's the next line has the hash."""
    try:
        event = Event.of_line(line)
    except ValueError:
        return None
    return event if event.line() == line and event.sha256 in ("", digests(line)[1]) else None


def _numbered(sound: Mapping[int, Event], length: int) -> Iterator[Event]:
    """Events with all numbers, each with the hash of the line before it."""
    previous, time = START, sound[min(sound)].time if sound else clock()
    for number in range(1, length + 1):
        event = sound.get(number)
        if event is None:
            event = sealed(Event(number, time, "lost", f"lost:{number}", previous, {}))
        elif event.previous != previous:
            event = sealed(replace(event, previous=previous))
        previous, time = digest(event.line()), event.time
        yield event
