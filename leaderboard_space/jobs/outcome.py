"""What a job's child process is given, and the outcome that it leaves."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from fairspace.leaderboard_space.jobs import FAULTS, RESULT
from fairspace.leaderboard_space.jobs.child import Ended, threads_of_user
from fairspace.leaderboard_space.jobs.limits import JobLimits
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.verification.identity import read_identity
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import MAX_BYTES, load_result
from fairspace.submissions.uncertainty.resampling import SETTING as RESAMPLES

_LOG = logging.getLogger("fairspace.jobs")
SCRATCH = "scoring"
_NICE = 10
"""Scoring gives way to those who read."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a child process: one of the three.

    Args:
        result: of a submission that was scored.
        faults: of one that was refused.
        reason: why there is neither.
        final: whether another try would come to the same.
        ours: whether the Space is the cause, and not the file.
        identity: of the answers that were scored, as `read_identity` gives it.
    """

    result: Result | None = None
    faults: tuple[Fault, ...] = ()
    reason: str = ""
    final: bool = False
    ours: bool = False
    identity: Mapping[str, Any] = field(default_factory=dict)


def scoring_settings(settings: Settings) -> dict[str, str]:
    """Environment variables of a job's process."""
    return {RESAMPLES: str(settings.resamples)}


def limits(settings: Settings) -> JobLimits:
    """Resource limits of a job."""
    return JobLimits(
        settings.scoring_memory,
        settings.scoring_cpu_seconds,
        settings.scoring_seconds,
        settings.scoring_file_bytes,
        threads=threads_of_user(),
        nice=_NICE,
    )


@contextmanager
def scratch(settings: Settings, name: str) -> Iterator[Path]:
    """An empty folder for a child, gone afterwards; where a killed worker left it behind, the next try clears it."""
    folder = (settings.work / SCRATCH / name).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_outcome(ended: Ended, folder: Path, secret: str = "") -> Outcome:
    """The outcome that a child process wrote; with the Space's secret nobody knows which answers are compared."""
    if ended.reason:
        _LOG.warning("a child ended: it %s", ended.reason, extra={"output": ended.output})
        return Outcome(reason=ended.reason, final=ended.beyond)
    try:
        if faults := read_faults(folder):
            return Outcome(faults=faults)
        result = load_result(folder / RESULT)
        return Outcome(result=result, identity=_identity(folder, result, secret))
    except (UsageError, ValueError, TypeError) as error:
        _LOG.warning("a child left no outcome: %s", error, extra={"output": ended.output})
        return Outcome(reason="ended without a result")


def _identity(folder: Path, result: Result, secret: str) -> dict[str, Any]:
    return read_identity(folder, result.benchmark, result.signature.get("dataset_revision", ""), secret)


def read_faults(folder: Path) -> tuple[Fault, ...]:
    """The faults that a child process wrote, if any. ValueError or TypeError for a file that holds none."""
    file = folder / FAULTS
    if not file.is_file() or file.stat().st_size > MAX_BYTES:
        return ()
    return tuple(Fault(**fault) for fault in orjson.loads(file.read_bytes()))
