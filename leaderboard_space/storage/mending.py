"""Mend the log of a store in a folder: every sound event stays, what was altered is put aside.

The sound events stand in a new log in their order, with their numbers. In place of a lost one stands the same event,
made again from the files of the store, or one that says that it is lost. Lines behind a change carry the hash of the
line that is now before them, and the hash of their own content, which stays. A last event says what was done.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from fairspace.leaderboard_space.events import START, Draft, Event, clock, digest, follow, sealed
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.storage.files import PARTS, make_folder, place, put_aside, tidy
from fairspace.leaderboard_space.storage.local import LOG, read_count, write_count
from fairspace.leaderboard_space.storage.log import Log
from fairspace.leaderboard_space.storage.rebuilding import rebuild
from fairspace.leaderboard_space.storage.salvage import Salvaged, event_at, salvage
from fairspace.submissions.errors import UsageError


@dataclass(frozen=True)
class Mended:
    """Result of a repair.

    Args:
        events: that the log holds now.
        rebuilt: number of each event that was made again from files.
        lost: number of each event of which nothing is known any more.
        aside: where the altered lines lie now; none if the log was sound.
    """

    events: int
    rebuilt: tuple[int, ...] = ()
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
    salvaged = salvage(stream)
    salvaged = replace(salvaged, length=max(salvaged.length, read_count(root)))
    aside, altered = [], b""
    for piece in salvaged.altered:
        stream.seek(piece.begin)
        content = stream.read(piece.size)
        aside.append(put_aside(root, content))
        altered += content
    sound = (event_at(stream, salvaged.sound[number]) for number in sorted(salvaged.sound))
    drafts = rebuild(root, sound, salvaged.lost, altered)
    rebuilt, lost = sorted(drafts), [number for number in salvaged.lost if number not in drafts]
    about = {"rebuilt": rebuilt, "lost": lost, "aside": [path.name for path in aside]}
    make_folder(root / PARTS)
    handle, part = tempfile.mkstemp(dir=root / PARTS)
    with os.fdopen(handle, "wb") as file:
        last, previous = None, START
        for last in _events(stream, salvaged, drafts):
            line = last.line()
            previous = digest(line)
            file.write(line)
        end = follow(Draft("mended", f"mended:{salvaged.length + 1}", about), last, previous)
        file.write(end.line())
        file.flush()
        os.fsync(file.fileno())
    place(Path(part), root / LOG)
    return Mended(end.number, tuple(rebuilt), tuple(lost), tuple(aside))


def _events(stream: IO[bytes], salvaged: Salvaged, drafts: Mapping[int, Draft]) -> Iterator[Event]:
    """The events of the mended log, each linked to the one before."""
    first = min(salvaged.sound, default=0)
    previous, time = START, event_at(stream, salvaged.sound[first]).time if first else clock()
    for number in range(1, salvaged.length + 1):
        piece = salvaged.sound.get(number)
        if piece is None:
            draft = drafts.get(number, Draft("lost", f"lost:{number}"))
            event = sealed(Event(number, time, draft.kind, draft.key, previous, draft.body))
        else:
            event = replace(event_at(stream, piece), previous=previous)
            event = event if previous == piece.previous else sealed(event)
        previous, time = digest(event.line()), event.time
        yield event
