import pytest

from fairspace.submissions.benchmarks.benchmark import Benchmark
from tests.submissions import sample


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setattr("fairspace.submissions.checking.submission.benchmark", lambda name: sample.BENCH)
    return sample.BENCH
