"""Check a store (log, files, state), and repair the log of a folder."""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import Storage, StorageError, submission_path
from fairspace.leaderboard_space.storage.local import LOG, put_aside, tidy
from fairspace.leaderboard_space.storage.log import Log
from fairspace.submissions.errors import UsageError


@dataclass(frozen=True)
class Checked:
    """Result of a check.

    Args:
        events: in the log.
        rows: that were scored here, withdrawn or not.
        submissions: that were accepted.
        snapshot: sha256 of `State.snapshot`; equal for stores whose boards are equal.
        faults: files that are missing or are not what the log speaks of.
    """

    events: int
    rows: int
    submissions: int
    snapshot: str
    faults: tuple[StorageError, ...]


def check(storage: Storage) -> Checked:
    """Fold the whole log and read every file that it names. StorageError for a damaged log."""
    state = State(storage)
    number = state.refresh()
    faults: list[StorageError] = []
    for entry in state.entries():
        try:
            state.full(entry.entry)
        except StorageError as error:
            faults.append(error)
    for sha256 in dict.fromkeys(submission.sha256 for submission in state.submissions()):
        try:
            _check_submission(storage, sha256)
        except StorageError as error:
            faults.append(error)
    snapshot = hashlib.sha256(state.snapshot()).hexdigest()
    return Checked(number, len(state.entries()), len(state.submissions()), snapshot, tuple(faults))


def _check_submission(storage: Storage, sha256: str) -> None:
    path = submission_path(sha256)
    with storage.local(path) as file, file.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
            mend = "put the file back from a backup"
            raise StorageError("STORE_CORRUPT", path, "other content than its name says", "what was handed in", mend)


@dataclass(frozen=True)
class Mended:
    """Result of a repair.

    Args:
        events: that it holds now.
        lines: that were taken off its end.
        aside: where these lie now; None if the log was sound.
    """

    events: int
    lines: int
    aside: Path | None


def mend(root: Path) -> Mended:
    """Cut the log of a folder before its first damaged line; the rest is put aside. UsageError: no log there.

    Nothing else may use the store: a process that had read what is cut off refuses the log from then on.
    Only the events before that line are known to be what was appended. Those behind it may have been told to somebody;
    a person can read them in what was put aside.
    """
    if not (root / LOG).is_file():
        raise UsageError(f"{root} holds no {LOG}; name the folder of a store.")
    with (root / LOG).open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        log = Log(str(root / LOG), "")
        try:
            log.catch_up(stream)
        except StorageError as error:
            if error.code != "STORE_CORRUPT":
                raise
        stream.seek(log.end)
        rest = stream.read()
        aside = put_aside(root, rest) if rest else None
        stream.truncate(log.end)
        os.fsync(stream.fileno())
        tidy(root)
    return Mended(len(log), len(rest.splitlines()), aside)
