"""Score a baseline in a child process.

`python -m fairspace.leaderboard_space.jobs.scoring_baseline BENCHMARK NAME FOLDER`

It writes `result.json` into the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fairspace.leaderboard_space.jobs import RESULT
from fairspace.leaderboard_space.jobs.bundled import score_one

if __name__ == "__main__":
    benchmark, name, folder = sys.argv[1:]
    (Path(folder) / RESULT).write_text(score_one(benchmark, name).dumps(), encoding="utf-8")
