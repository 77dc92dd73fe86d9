"""Check and score in a child process: `python -m fairspace.leaderboard_space.jobs.scoring WHAT FOLDER`.

WHAT is a submission's file, or benchmark and name of a bundled baseline. It writes `result.json` and the identity of
the answers, or `faults.json` for an invalid submission, into the folder.
"""

import sys
from pathlib import Path

import orjson

from fairspace.leaderboard_space.jobs.child import FAULTS, RESULT, write_identity
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.results.scoring import score_submission


def score(file: Path, folder: Path) -> None:
    """Check and score a submission; baselines and images are refused as in `check_submission`."""
    report = check_submission(file, allow_baseline=False)
    if report.submission is None:
        (folder / FAULTS).write_bytes(orjson.dumps([fault.to_json() for fault in report.faults]))
    else:
        write_identity(report.submission, folder)
        (folder / RESULT).write_text(score_submission(report.submission).dumps(), encoding="utf-8")


def score_baseline(benchmark: str, name: str, folder: Path) -> None:
    """Score a bundled baseline. SubmissionError for an invalid one."""
    report = check_submission(write_baseline(name, benchmark, folder / "baseline"))
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    (folder / RESULT).write_text(score_submission(report.submission).dumps(), encoding="utf-8")


if __name__ == "__main__":
    *what, folder = sys.argv[1:]
    score_baseline(what[0], what[1], Path(folder)) if what[1:] else score(Path(what[0]), Path(folder))
