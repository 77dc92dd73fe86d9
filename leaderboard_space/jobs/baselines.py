"""Scores the bundled baselines in the background, so that a Space with an empty store starts at once."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from fairspace.leaderboard_space.jobs.bundled import missing
from fairspace.leaderboard_space.jobs.child import run_child
from fairspace.leaderboard_space.jobs.outcome import limits, read_outcome, scoring_settings, scratch
from fairspace.leaderboard_space.jobs.tries import Job
from fairspace.leaderboard_space.result_events import add_result
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State

BASELINES = Job("baselines", 0)
"""The scoring of baselines among the running jobs."""
_LOG = logging.getLogger("fairspace.jobs")
_SCORING = "fairspace.leaderboard_space.jobs.scoring_baseline"
_NICE = 19


class BaselineJobs:
    """Scores missing baselines, one at a time, when no submission waits.

    Args:
        state: of the store.
        settings: limits.
    """

    def __init__(self, state: State, settings: Settings) -> None:
        self.state, self.settings = state, settings
        self._broken: set[tuple[str, str]] = set()

    def pending(self) -> list[tuple[str, str]]:
        """Benchmark and name of the missing baselines."""
        return [about for about in missing(self.state) if about not in self._broken]

    def next(self) -> tuple[str, str] | None:
        """The next baseline to score. StorageError."""
        self.state.refresh()
        return next(iter(self.pending()), None)

    def score(self, about: tuple[str, str], halt: threading.Event) -> None:
        """Score one baseline; nothing is kept if `halt` is set meanwhile. StorageError: score it again."""
        benchmark, name = about
        context = {"id": f"{benchmark}/{name}"}
        most = replace(limits(self.settings), nice=_NICE)
        with scratch(self.settings, f"baseline-{benchmark}-{name}") as folder:
            ended = run_child(
                _SCORING, [benchmark, name, str(folder)], folder, most, halt, scoring_settings(self.settings)
            )
            if ended.halted:
                return
            outcome = read_outcome(ended, folder)
        if outcome.result is None:
            self._broken.add(about)
            _LOG.error("a baseline is left out until the next start: it %s", outcome.reason, extra=context)
            return
        add_result(self.state.storage, outcome.result)
        self.state.refresh()
        _LOG.info("a baseline was scored", extra={**context, "seconds": round(ended.seconds, 3)})
