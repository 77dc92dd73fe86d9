"""The small benchmark in place of the registry's, for tests that ask for it."""

import pytest

from submissions.benchmark import Benchmark
from tests.submissions import sample


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """Checking finds the small benchmark under every name."""
    monkeypatch.setattr("submissions.check.benchmark", lambda name: sample.BENCH)
    return sample.BENCH
