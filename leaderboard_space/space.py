"""One Space: its settings, its store, what the log comes to, the jobs, and taking submissions in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leaderboard_space.intake import Intake
from leaderboard_space.jobs import Jobs
from leaderboard_space.settings import Settings
from leaderboard_space.state import State
from leaderboard_space.storage import Storage
from leaderboard_space.storage.local import LocalStorage

HUB = "hf://datasets/"


@dataclass(frozen=True)
class Space:
    """What the pages and endpoints work with.

    Args:
        settings: how it runs.
        storage: the log and the files.
        state: what the log comes to.
        jobs: what waits and what is being scored.
        intake: takes submissions in.
    """

    settings: Settings
    storage: Storage
    state: State
    jobs: Jobs
    intake: Intake

    @classmethod
    def open(cls, settings: Settings) -> Space:
        """Open the store and fold its log; nothing is started yet. StorageError if the store cannot be read."""
        storage = open_storage(settings)
        state = State(storage)
        state.refresh()
        jobs = Jobs(state, settings)
        return cls(settings, storage, state, jobs, Intake(state, jobs, settings))


def open_storage(settings: Settings) -> Storage:
    """The storage that the settings name."""
    if settings.store.startswith(HUB):
        from leaderboard_space.storage.hub import HubStorage

        return HubStorage(settings.store.removeprefix(HUB), settings.work, settings.commits_an_hour)
    return LocalStorage(Path(settings.store))
