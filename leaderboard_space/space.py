"""One Space: its settings, store, state, jobs and intake of submissions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairspace.leaderboard_space.events import signing_key
from fairspace.leaderboard_space.intake import Intake
from fairspace.leaderboard_space.jobs.jobs import Jobs
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import HUB, Storage
from fairspace.leaderboard_space.storage.local import LocalStorage


@dataclass(frozen=True)
class Space:
    """Shared objects of the pages and endpoints."""

    settings: Settings
    storage: Storage
    state: State
    jobs: Jobs
    intake: Intake

    @classmethod
    def open(cls, settings: Settings, *, rows: bool = True) -> Space:
        """Open the store and fold its log; nothing is started yet. StorageError for an unreadable store.

        `rows`: whether its boards are shown by this process; see `State`.
        """
        storage = open_storage(settings.store, settings.work, settings.commits_an_hour)
        state = State(storage, signing_key(settings.secret), rows=rows)
        state.refresh()
        return cls(settings, storage, state, Jobs(state, settings), Intake(state, settings))


def open_storage(store: str, work: Path, commits_an_hour: int = 100) -> Storage:
    """The storage of a setting: a folder, or `hf://datasets/<owner>/<name>`; see `Settings`."""
    if store.startswith(HUB):
        from fairspace.leaderboard_space.storage.hub import HubStorage

        return HubStorage(store.removeprefix(HUB), work, commits_an_hour)
    return LocalStorage(store)
