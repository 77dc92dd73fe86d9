"""Scores the bundled baselines in the background, so that a Space with an empty store starts at once."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import replace

from fairspace.leaderboard_space.jobs.bundled import missing
from fairspace.leaderboard_space.jobs.child import run_child
from fairspace.leaderboard_space.jobs.outcome import limits, read_outcome, scoring_settings, scratch
from fairspace.leaderboard_space.jobs.queue import Job
from fairspace.leaderboard_space.result_events import add_result
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State

LEASE = Job("baselines", 0)
"""Whoever has it scores baselines."""
_LOG = logging.getLogger("fairspace.jobs")
_SCORING = "fairspace.leaderboard_space.jobs.scoring_baseline"
_NICE = 19
_HALTS = 2


class BaselineJobs:
    """Scores missing baselines, one at a time, when no submission waits.

    Args:
        state: of the store.
        settings: limits.
    """

    def __init__(self, state: State, settings: Settings) -> None:
        self.state, self.settings = state, settings
        self._broken: set[tuple[str, str]] = set()
        self._halted: Counter[tuple[str, str]] = Counter()

    def pending(self) -> list[tuple[str, str]]:
        """Benchmark and name of the missing baselines."""
        return [about for about in missing(self.state) if about not in self._broken]

    def next(self) -> tuple[str, str] | None:
        """The next baseline to score, for the holder of the lease. StorageError."""
        self.state.refresh()
        return next(iter(self.pending()), None)

    def gives_way(self, about: tuple[str, str]) -> bool:
        """Whether a job may interrupt it; after some interruptions it runs to its end."""
        return self._halted[about] < _HALTS

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
                self._halted[about] += 1
                return
            outcome = read_outcome(ended, folder)
        if outcome.result is None:
            self._broken.add(about)
            _LOG.error("a baseline is left out until the next start: it %s", outcome.reason, extra=context)
            return
        add_result(self.state.storage, outcome.result)
        self.state.refresh()
        _LOG.info("a baseline was scored", extra={**context, "seconds": round(ended.seconds, 3)})
