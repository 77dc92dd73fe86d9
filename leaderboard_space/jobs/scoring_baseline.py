"""`python -m leaderboard_space.jobs.scoring_baseline BENCHMARK NAME FOLDER`: score a baseline in a process of its own.

It writes `result.json` into the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from leaderboard_space.jobs.scoring import RESULT
from submissions.bundled import score_one

if __name__ == "__main__":
    benchmark, name, folder = sys.argv[1:]
    (Path(folder) / RESULT).write_text(score_one(benchmark, name).dumps(), encoding="utf-8")
