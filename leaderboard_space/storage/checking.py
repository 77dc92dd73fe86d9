"""Check a store: log, files, state."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import Storage, StorageError, submission_path
from fairspace.leaderboard_space.storage.local import LocalStorage


@dataclass(frozen=True)
class Checked:
    """Result of a check.

    Args:
        events: in the log.
        rows: that were scored here, withdrawn or not.
        submissions: that were accepted.
        snapshot: sha256 of `State.snapshot`; equal for stores whose boards are equal.
        faults: files that are missing or are not what the log speaks of.
        notes: events that were lost when the log was mended, and files that no event names: those of a
            writer that was stopped before its event, or of a log that lost its end.
    """

    events: int
    rows: int
    submissions: int
    snapshot: str
    faults: tuple[StorageError, ...]
    notes: tuple[str, ...] = ()


def check(storage: Storage, key: bytes = b"") -> Checked:
    """Fold the whole log and read every file that it names. StorageError for a damaged log.

    With the key of the maintainers' signatures, those of `verified` events are checked too.
    """
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
    """The files of results and submissions in a folder that no event names, a line each."""
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
