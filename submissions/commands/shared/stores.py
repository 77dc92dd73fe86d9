"""The store that an option names, opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.leaderboard_space.storage import Storage


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
