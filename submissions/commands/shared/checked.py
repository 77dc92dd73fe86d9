"""Open the arguments of commands: submissions (with a progress bar), results and stores."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.submissions.commands.app import print_notes
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import SubmissionError

if TYPE_CHECKING:
    from fairspace.leaderboard_space.state import State
    from fairspace.leaderboard_space.storage import Storage
    from fairspace.submissions.checking.submission import CheckReport
    from fairspace.submissions.format.schema import Submission


def check_with_progress(
    path: Path, *, allow_images: bool = True, allow_baseline: bool = True, **table: str
) -> CheckReport:
    """The report of the check of a submission, or of a table with its benchmark, revision and model in `table`."""
    from fairspace.submissions.reading.front import is_table

    if is_table(path) or any(table.values()):
        from fairspace.answers import check_answers

        return check_answers(path, **table)
    from fairspace.submissions.checking.submission import check_submission
    from fairspace.submissions.progress import reported

    with reported(f"Checking {path.name}") as progress:
        return check_submission(path, progress=progress, allow_images=allow_images, allow_baseline=allow_baseline)


def checked_submission(
    path: Path,
    *,
    allow_images: bool = False,
    allow_baseline: bool = True,
    tell: bool = False,
    table: Mapping[str, str] = {},
) -> Submission:
    """A submission without faults; `tell` prints its notes. SubmissionError lists all faults."""
    report = check_with_progress(path, allow_images=allow_images, allow_baseline=allow_baseline, **table)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    if tell:
        print_notes(report.notes)
    for note in () if tell else report.passed_over:
        sys.stderr.write(f"Note: {note}\n")
    return report.submission


def is_result(path: Path) -> bool:
    """Whether a path is a result, a file with a JSON object, rather than a submission or a table."""
    if not path.is_file():
        return path.suffix == ".json" and not path.is_dir()
    from fairspace.submissions.reading.front import suffix_of

    with path.open("rb") as file:
        is_object = file.read(64).lstrip()[:1] == b"{"
    return is_object and suffix_of(path.name) in ("", ".json")


def open_store(store: str) -> Storage:
    """The store that an option names. StorageError if it cannot be opened."""
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.storage.local import open_storage

    settings = Settings.from_environment()
    return open_storage(store, settings.work, settings.commits_an_hour)


def existing_store(store: str) -> Storage:
    """The store that an option names, to read from. UsageError if it is a folder that does not exist."""
    if "://" not in store and not Path(store).is_dir():
        raise UsageError(f"There is no store {store}: no such folder. Name one that a board was kept in.")
    return open_store(store)


@contextmanager
def opened_state(store: str, secret: str = "") -> Iterator[State]:
    """The state of a store that exists; signatures are checked by the key that follows from `secret`."""
    from fairspace.leaderboard_space.events import signing_key
    from fairspace.leaderboard_space.state import State

    storage = existing_store(store)
    try:
        state = State(storage, signing_key(secret))
        state.refresh()
        yield state
    finally:
        storage.close()
