"""What a board shows from the start: the bundled baselines, scored by this version, and the shipped results."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.registry import NAMES as BENCHMARKS
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.version import VERSION

if TYPE_CHECKING:
    from fairspace.leaderboard_space.state import State


def missing(state: State) -> list[tuple[str, str]]:
    """Benchmark and name of the baselines that this version of the software has not scored yet.

    Those of older versions stay in the log; the board shows the newest of each.
    """
    done = {
        (entry.benchmark, entry.result.meta["baseline"])
        for entry in state.entries()
        if entry.result.meta.get("baseline") and entry.result.meta.get("revision") == VERSION
    }
    return [pair for pair in product(BENCHMARKS, BASELINES) if pair not in done]


def add_shipped(state: State) -> int:
    """Add the shipped results that the store has never had; return how many. Errors: StorageError."""
    from fairspace.leaderboard_space.result_events import add_result

    there = {logged.entry for logged in state.entries()}
    lacking = [result for result in shipped_results() if entry(result) not in there]
    for result in lacking:
        add_result(state.storage, result)
    return len(lacking)


def score_one(benchmark: str, name: str) -> Result:
    """The result of one baseline. SubmissionError if it does not pass the check."""
    with tempfile.TemporaryDirectory() as scratch:
        report = check_submission(write_baseline(name, benchmark, Path(scratch) / "baseline"))
        if report.submission is None:
            raise SubmissionError(list(report.faults))
        return score_submission(report.submission)
