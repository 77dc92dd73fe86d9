"""The look at a file before it takes a place in the queue: a child with seconds of the processor opens it.

Faults that the look finds end the submission. A look that breaks leaves the file to scoring, which has its own limits.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.jobs.attempt import LOST
from fairspace.leaderboard_space.jobs.child import run_child
from fairspace.leaderboard_space.jobs.outcome import limits, read_faults, scratch
from fairspace.leaderboard_space.jobs.tries import TROUBLE, Job, waiting
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path
from fairspace.submissions.checking.structure import too_costly
from fairspace.submissions.format.faults import Fault

PRECHECKING = "fairspace.leaderboard_space.jobs.prechecking"
_LOG = logging.getLogger("fairspace.jobs")
_WALL = 30
"""Seconds that a look may last for each second of the processor, on a machine that is busy."""


class Prechecks:
    """Looks at the files of accepted submissions.

    Args:
        state: of the store.
        settings: limits.
        module: what the child runs; '' for none.
    """

    def __init__(self, state: State, settings: Settings, module: str = PRECHECKING) -> None:
        self.state, self.settings, self.module = state, settings, module

    def passes(self, job: Job, halt: threading.Event) -> bool:
        """Whether a submission may take a place in the queue; what has faults is refused in the log.

        False also where the look was halted, or the log could not be written: then it is to be looked at again.
        """
        try:
            faults = self._faults(job, halt)
            if halt.is_set():
                return False
            if faults:
                self._refuse(job, faults)
        except TROUBLE as error:
            _LOG.warning("a file could not be looked at: %s", error, extra={"id": job.id})
            return isinstance(error, StorageError) and error.code in LOST  # scoring says so
        except Exception:  # noqa: BLE001 - whatever breaks here, scoring looks at the file again
            _LOG.exception("a look at a file broke", extra={"id": job.id, "code": "OUR_FAULT"})
            return True
        return not faults

    def _faults(self, job: Job, halt: threading.Event) -> tuple[Fault, ...]:
        """The faults that the look finds; none if it came to no end for another reason than its cost."""
        submission = waiting(self.state, job)
        if submission is None:
            return ()
        seconds = self.settings.check_cpu_seconds
        most = replace(limits(self.settings), cpu_seconds=seconds, seconds=_WALL * seconds)
        with (
            self.state.storage.local(submission_path(submission.sha256)) as file,
            scratch(self.settings, f"check-{job.id}-{job.attempt}") as folder,
        ):
            ended = run_child(self.module, [str(Path(file).resolve()), str(folder)], folder, most, halt)
            if ended.beyond:
                return (too_costly(seconds),)
            if ended.reason:
                _LOG.warning("a look came to no end: it %s", ended.reason, extra={"id": job.id, "output": ended.output})
            return read_faults(folder) or ()

    def _refuse(self, job: Job, faults: tuple[Fault, ...]) -> None:
        about = {"id": job.id, "attempt": job.attempt, "tries": 0}
        body = about | {"faults": [fault.to_json() for fault in faults]}
        self.state.storage.append([Draft("refused", f"ended:{job.id}:{job.attempt}", body)])
        self.state.refresh()
        _LOG.info("a job ended", extra=about | {"outcome": "refused"})
