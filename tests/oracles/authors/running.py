"""A child process in which authors' code runs on a temporary copy of the files that are used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.oracles.authors.clones import CloneError, Repository
from tests.oracles.comparison import Comparison

LIMIT = 900
"""Seconds that a program may take."""


class Outcome(NamedTuple):
    """What a clone gave: comparisons, what was changed so that it runs, and what each listed departure is."""

    comparisons: list[Comparison]
    patches: tuple[str, ...]
    departures: Mapping[str, str]


def copy(repository: Repository, clone: Path, to: Path) -> None:
    """Copy the files that are used, once they are those of the commit."""
    repository.check(clone)
    for path in repository.files:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(clone / path, to / path)


def run(script: str, folder: Path, repository: Repository) -> Any:
    """Run one of our child scripts on a folder with the copy and the data; what it writes to `out.json`."""
    program = Path(__file__).with_name(script)
    command = [sys.executable, "-I", "-W", "ignore", str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=folder)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        expected, mend = "an end without an error", "compare the versions of its packages with the repository's own"
        raise CloneError("CLONE_FAILED", repository.address, last[:300], expected, mend)
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))
