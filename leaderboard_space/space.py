"""One Space: its settings, store, state, jobs and intake of submissions."""

from __future__ import annotations

from dataclasses import dataclass

from fairspace.leaderboard_space.events import signing_key
from fairspace.leaderboard_space.intake import Intake
from fairspace.leaderboard_space.jobs.jobs import Jobs
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import Storage
from fairspace.leaderboard_space.storage.local import open_storage


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
