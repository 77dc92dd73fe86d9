"""Check and score a submission in a child process: `python -m fairspace.leaderboard_space.jobs.scoring FILE FOLDER`.

It writes `result.json` and whose answers they are, or `faults.json` for a submission that cannot be scored, into the
folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from fairspace.leaderboard_space.jobs import FAULTS, RESULT
from fairspace.leaderboard_space.verification.identity import write_identity
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.results.scoring import score_submission


def score(file: Path, folder: Path) -> None:
    """Check and score a submission; baselines and images are refused as `check_submission` does."""
    report = check_submission(file, allow_baseline=False)
    if report.submission is None:
        (folder / FAULTS).write_bytes(orjson.dumps([fault.to_json() for fault in report.faults]))
    else:
        write_identity(report.submission, folder)
        (folder / RESULT).write_text(score_submission(report.submission).dumps(), encoding="utf-8")


if __name__ == "__main__":
    score(Path(sys.argv[1]), Path(sys.argv[2]))
