"""Check a store (log, files and state), and mend the log of a folder: broken lines are skipped and named."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from fairspace.leaderboard_space.events import START, Draft, Event, clock, digest, digests, follow, sealed
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import Storage, StorageError, submission_path
from fairspace.leaderboard_space.storage.local import (
    LOG,
    PARTS,
    LocalStorage,
    make_folder,
    place,
    put_aside,
    read_count,
    tidy,
    write_count,
)
from fairspace.leaderboard_space.storage.log import Log, similar
from fairspace.submissions.errors import UsageError


@dataclass(frozen=True)
class Checked:
    """Result of a check, with the numbers of events, rows (withdrawn ones too) and accepted submissions.

    Args:
        snapshot: sha256 of `State.snapshot`; equal for stores whose boards are equal.
        faults: files that are missing or contradict the log.
        notes: events lost when the log was mended, and files without an event: their writer was stopped too early, or
            the log lost its end.
    """

    events: int
    rows: int
    submissions: int
    snapshot: str
    faults: tuple[StorageError, ...]
    notes: tuple[str, ...] = ()


def check(storage: Storage, key: bytes = b"") -> Checked:
    """Fold the log and read its files; check `verified` events with the key. StorageError for a damaged log."""
    state = State(storage, key)
    number = state.refresh()
    faults = [_forged(number) for number in state.forged]
    for entry in state.entries():
        try:
            state.full(entry.entry)
        except StorageError as error:
            faults.append(error)
    kept = {submission.sha256: submission for submission in state.submissions() if not submission.pruned}
    for submission in kept.values():
        try:
            _check_submission(state, submission)
        except StorageError as error:
            faults.append(error)
    notes = [*state.mendings(), *_unnamed(storage, {submission.sha256 for submission in state.submissions()})]
    snapshot = hashlib.sha256(state.snapshot()).hexdigest()
    return Checked(number, len(state.entries()), len(state.submissions()), snapshot, tuple(faults), tuple(notes))


def _unnamed(storage: Storage, accepted: set[str]) -> list[str]:
    root = storage.root if isinstance(storage, LocalStorage) else None
    if root is None:
        return []
    results = [file for file in root.glob("results/*/*/*.json") if storage.find(f"result:{file.stem}") is None]
    submissions = [file for file in root.glob("submissions/*/*.zip") if file.stem not in accepted]
    return [f"no event names {file.relative_to(root).as_posix()}" for file in sorted([*results, *submissions])]


def _forged(number: int) -> StorageError:
    what, expected = "a signature that is not the maintainers'", "one by the key of FAIRSPACE_SECRET"
    mend = "put the log back from a backup; if the secret was changed, verify the row again"
    return StorageError("STORE_CORRUPT", f"event {number} of the log, a verified row", what, expected, mend)


def _check_submission(state: State, submission: Submission) -> None:
    with state.submitted_file(submission) as file, file.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != submission.sha256:
            path, mend = submission_path(submission.sha256), "put the file back from a backup"
            raise StorageError("STORE_CORRUPT", path, "other content than its name says", "what was handed in", mend)


# A line with the hash of its content proves itself. A line of an earlier version has none: it is sound unless the line
# after it follows from another one. Sound events keep order and numbers in a new log; each other one is replaced by an
# event that says that it is lost, and a last event reports the repair. Lines behind a change carry the hash of the line
# that is now before them.


@dataclass(frozen=True)
class Mended:
    """Result of a repair: events in the log now, numbers of lost events, and places of the broken lines."""

    events: int
    lost: tuple[int, ...] = ()
    aside: tuple[Path, ...] = ()


def mend(root: Path) -> Mended:
    """Mend the log of a folder. UsageError: no log there.

    Nothing else may use the store: a process that had read the log refuses the mended one.
    """
    if not (root / LOG).is_file():
        raise UsageError(f"{root} holds no {LOG}; name the folder of a store.")
    with (root / LOG).open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        log = Log(str(root / LOG), "")
        try:
            log.catch_up(stream)
            is_sound = read_count(root) <= len(log)
        except StorageError as error:
            if error.code != "STORE_CORRUPT":
                raise
            is_sound = False
        if not is_sound:
            mended = _mend(root, stream)
            write_count(root, mended.events)
        else:
            stream.seek(log.end)
            rest = stream.read()
            mended = Mended(len(log), aside=(put_aside(root, rest),) if rest else ())
            stream.truncate(log.end)
            os.fsync(stream.fileno())
        tidy(root)
    return mended


def _mend(root: Path, stream: IO[bytes]) -> Mended:
    stream.seek(0)
    lines = stream.readlines()
    events = [_event(line) for line in lines]
    previous = {event.number: event.previous for event in events if event is not None}
    sound: dict[int, bytes] = {}
    broken: list[bytes] = []
    number = length = 0
    for line, event in zip(lines, events, strict=True):
        if event is not None and _is_sound(event, line, number + 1, previous.get(event.number + 1)):
            number = event.number
            sound.setdefault(number, line)
        else:
            number += line.endswith(b"\n")  # nobody was told of a torn end
            broken.append(line)
        length = max(length, number)
    length = max(length, read_count(root))
    lost = [number for number in range(1, length + 1) if number not in sound]
    aside = [put_aside(root, line) for line in broken]
    make_folder(root / PARTS)
    handle, part = tempfile.mkstemp(dir=root / PARTS)
    with os.fdopen(handle, "wb") as file:
        last, before = None, START
        for last in _events(sound, length):
            line = last.line()
            before = digest(line)
            file.write(line)
        about = {"lost": lost, "aside": [path.name for path in aside]}
        end = follow(Draft("mended", f"mended:{length + 1}", about), last, before)
        file.write(end.line())
        file.flush()
        os.fsync(file.fileno())
    place(Path(part), root / LOG)
    return Mended(end.number, tuple(lost), tuple(aside))


def _event(line: bytes) -> Event | None:
    try:
        event = Event.of_line(line)
    except ValueError:
        return None
    return replace(event, body={}) if event.line() == line else None


def _is_sound(event: Event, line: bytes, expected: int, following: str | None) -> bool:
    """Whether a line is as appended; `following` is the hash that the next line carries, None without one."""
    if event.sha256:
        return event.sha256 == digests(line)[1]
    return event.number == expected if following is None else similar(following, digest(line))


def _events(sound: Mapping[int, bytes], length: int) -> Iterator[Event]:
    previous, time = START, Event.of_line(sound[min(sound)]).time if sound else clock()
    for number in range(1, length + 1):
        if number in sound:
            event = Event.of_line(sound[number])
            event = event if event.previous == previous else sealed(replace(event, previous=previous))
        else:
            event = sealed(Event(number, time, "lost", f"lost:{number}", previous, {}))
        previous, time = digest(event.line()), event.time
        yield event
