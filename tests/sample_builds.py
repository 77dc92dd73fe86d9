"""All sample builds by `fairspace build all --sample`, made once for all the tests and workers that read them."""

import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from fairspace.builders.registry import NAMES
from tests.shared_folder import shared_folder

COMMAND = [
    sys.executable,
    "-c",
    "from fairspace.submissions.commands.main import main; main()",
    "build",
    "all",
    "--sample",
    "--out",
]


def sample_builds(factory: pytest.TempPathFactory) -> Path:
    """The folder with a subfolder per dataset, not to be written to: a test that changes anything copies it."""
    folder = shared_folder(factory)
    built, whole = folder / "sample-builds", folder / "sample-builds.whole"
    with FileLock(folder / "sample-builds.lock"):
        if not whole.exists():
            done = subprocess.run([*COMMAND, str(built)], capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
            assert sorted(folder.name for folder in built.iterdir()) == sorted(NAMES)
            whole.touch()
    return built
