"""Jobs: what was accepted waits here until it is scored, refused or failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leaderboard_space.settings import Settings
from leaderboard_space.state import State, Submission

Stage = Literal["queued", "running", "retried", "ended"]


@dataclass(frozen=True)
class Progress:
    """Where a submission stands.

    Args:
        stage: `retried` waits again after a try that ended its process.
        position: from 1, of those that wait; 0 for one that does not.
        tries: how often it was begun.
        since: when the stage began, as `Event.time`.
    """

    stage: Stage
    position: int = 0
    tries: int = 0
    since: str = ""


class Jobs:
    """The queue of a Space, and those who work on it.

    Args:
        state: of the store; its storage keeps what is accepted.
        settings: where the queue lies, workers, limits of a job.
    """

    def __init__(self, state: State, settings: Settings) -> None:
        self.state, self.settings = state, settings

    def put(self, submission: Submission) -> None:
        """Let a submission be scored. Putting the same attempt twice is no harm."""
        raise NotImplementedError

    def start(self) -> None:
        """Queue what the log says is waiting, and begin to work."""
        raise NotImplementedError

    def stop(self, seconds: float = 20.0) -> None:
        """Take no further job, give the running ones some seconds, and leave what is not done to the next start."""
        raise NotImplementedError

    def progress(self, submission: Submission) -> Progress:
        """Where a submission stands."""
        raise NotImplementedError

    def waiting(self) -> list[str]:
        """The ids of those that wait, the next one first."""
        raise NotImplementedError
