"""Precheck a file in a child process: `python -m fairspace.leaderboard_space.jobs.prechecking FILE FOLDER`.

It writes `faults.json` into the folder if the file's structure has faults.
"""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from fairspace.leaderboard_space.jobs import FAULTS
from fairspace.submissions.checking.submission import check_structure

if __name__ == "__main__":
    faults = check_structure(Path(sys.argv[1]))
    if faults:
        (Path(sys.argv[2]) / FAULTS).write_bytes(orjson.dumps([fault.to_json() for fault in faults]))
