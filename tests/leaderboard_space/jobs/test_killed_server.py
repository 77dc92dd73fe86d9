from pathlib import Path

import pytest

from tests.leaderboard_space.jobs.killed_server import run

pytestmark = [pytest.mark.process, pytest.mark.slow]


def test_a_server_that_is_killed_at_random_moments_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    counted = run(tmp_path, rounds=3, seed=7)
    assert counted["rounds"] == 3
    assert counted["processes killed"] >= 3
    assert counted["in the log"] >= counted["acknowledged"]
