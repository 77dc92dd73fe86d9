"""Open the store that the settings name."""

from __future__ import annotations

from pathlib import Path

from fairspace.leaderboard_space.storage import HUB, Storage


def open_storage(store: str, work: Path, commits_an_hour: int = 100) -> Storage:
    """The storage that a setting names: a folder, or `hf://datasets/<owner>/<name>`; see `Settings`."""
    if store.startswith(HUB):
        from fairspace.leaderboard_space.storage.hub import HubStorage

        return HubStorage(store.removeprefix(HUB), work, commits_an_hour)
    from fairspace.leaderboard_space.storage.local import LocalStorage

    return LocalStorage(store)
