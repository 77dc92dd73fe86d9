from collections.abc import Callable

import pytest

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.commands import main as cli
from tests.submissions import sample


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setattr("fairspace.submissions.checking.submission.benchmark", lambda name: sample.BENCH)
    return sample.BENCH


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process: exit code, standard output, standard error."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["fairspace", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return command
