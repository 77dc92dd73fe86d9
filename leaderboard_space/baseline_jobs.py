"""The bundled baselines, scored in the background while nobody waits: a Space with an empty store starts at once."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from leaderboard_space.attempt import limits, read_outcome, scratch
from leaderboard_space.child import run_child
from leaderboard_space.job_queue import Job
from leaderboard_space.settings import Settings
from leaderboard_space.state import State, add_result
from submissions.bundled import missing

LEASE = Job("baselines", 0)
"""Whoever has it scores baselines."""
_LOG = logging.getLogger("fairspace.jobs")
_NICE = 19


class BaselineJobs:
    """Scores what is missing of the baselines, one at a time and behind everything else.

    Args:
        state: of the store.
        settings: limits.
    """

    def __init__(self, state: State, settings: Settings) -> None:
        self.state, self.settings = state, settings
        self._broken: set[tuple[str, str]] = set()

    def pending(self) -> list[tuple[str, str]]:
        """Benchmark and name of those that are still to be scored."""
        return [about for about in missing(self.state) if about not in self._broken]

    def score_next(self, halt: threading.Event) -> None:
        """Score one; where `halt` is set meanwhile, nothing came of it. StorageError: it is to be scored again."""
        benchmark, name = self.pending()[0]
        about = {"id": f"{benchmark}/{name}"}
        most = replace(limits(self.settings), nice=_NICE)
        with scratch(self.settings, f"baseline-{benchmark}-{name}") as folder:
            ended = run_child("leaderboard_space.scoring_baseline", [benchmark, name, str(folder)], folder, most, halt)
            if ended.halted:
                return
            outcome = read_outcome(ended, folder)
        if outcome.result is None:
            self._broken.add((benchmark, name))
            _LOG.error("a baseline is left out: it %s", outcome.reason, extra=about)
            return
        add_result(self.state.storage, outcome.result)
        self.state.refresh()
        _LOG.info("a baseline was scored", extra={**about, "seconds": round(ended.seconds, 3)})
