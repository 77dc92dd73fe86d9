"""All sample builds by `fairspace build all --sample`, made once for all tests, workers and runs."""

import subprocess
import sys
from pathlib import Path

from fairspace.builders.registry import NAMES
from tests.store import stored

COMMAND = [sys.executable, "-c", "from fairspace.submissions.commands.main import main; main()"]


def sample_builds() -> Path:
    """The folder with a subfolder per dataset; read-only for tests."""
    return stored("sample-builds", _make, ("ares", "builders", "cards", "submissions/commands"))


def _make(folder: Path) -> None:
    command = [*COMMAND, "build", "all", "--sample", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
