"""Removes the files of refused and failed submissions when they are old or many; their events stay.

Nothing needs these files again: what was refused stays refused, and what failed is handed in again with its file.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from fairspace.leaderboard_space.events import Draft, clock
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path

EVERY = 600.0
"""Seconds between two looks."""
_STOP = 5.0
"""Seconds that a look may still take when the Space stops; a kill harms nothing."""
_MOST = 500
"""Files that one event removes."""
_TRIES = 20
"""How often it is tried to remove files while others append."""
_LOG = logging.getLogger("fairspace.pruning")


def due(submissions: Iterable[Submission], before: str, most_bytes: int) -> list[str]:
    """The sha256 of the files to remove, the oldest first.

    Args:
        submissions: all; a file that one of them needs is kept, whatever became of the others.
        before: files go whose last submission ended before this time.
        most_bytes: that the others of them may take.
    """
    ended: dict[str, tuple[str, int]] = {}
    needed: set[str] = set()
    for submission in submissions:
        if submission.outcome not in ("refused", "failed"):
            needed.add(submission.sha256)
        elif not submission.pruned:
            last = max(submission.ended, ended.get(submission.sha256, ("", 0))[0])
            ended[submission.sha256] = last, submission.size
    files = sorted((last, sha256, size) for sha256, (last, size) in ended.items() if sha256 not in needed)
    total = sum(size for _, _, size in files)
    removed: list[str] = []
    for last, sha256, size in files:
        if last < before or total > most_bytes:
            removed.append(sha256)
            total -= size
    return removed


def prune(state: State, days: int, most_bytes: int) -> list[str]:
    """Remove what is due; the sha256 of the removed files. Errors: StorageError."""
    removed: list[str] = []
    for _ in range(_TRIES):
        number = state.refresh()
        files = due(state.submissions(), clock(-timedelta(days=days)), most_bytes)[:_MOST]
        if not files:
            break
        draft = Draft("pruned", f"pruned:{number + 1}", {"sha256": files})
        if state.storage.remove([submission_path(sha256) for sha256 in files], draft, number):
            removed += files
    if removed:
        _LOG.info("files of refused and failed submissions were removed", extra={"files": len(removed)})
    return removed


@contextmanager
def pruning(state: State, settings: Settings) -> Iterator[None]:
    """Prune the store now and then while the context lasts."""
    stop = threading.Event()

    def work() -> None:
        wait = 0.0
        while not stop.wait(wait):
            wait = EVERY
            try:
                prune(state, settings.keep_refused_days, settings.keep_refused_bytes)
            except StorageError as error:
                _LOG.warning("nothing was pruned: %s", error, extra={"code": error.code})

    thread = threading.Thread(target=work, name="pruning", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_STOP)
