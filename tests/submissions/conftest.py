import pytest

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.commands import main as cli
from tests.submissions import sample


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setattr("fairspace.submissions.checking.submission.benchmark", lambda name: sample.BENCH)
    return sample.BENCH


class Run:
    """The command, run in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capfd = monkeypatch, capfd

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        self.monkeypatch.setattr("sys.argv", ["fairspace", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = self.capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    def fine(self, *arguments: object) -> str:
        """Standard output of a command that ends with 0."""
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def refused(self, expected: int, *arguments: object) -> str:
        """Standard error, unfolded, of a command that ends with this code and without a traceback.

        Only `run` and `eval` print before: what they leave out.
        """
        code, out, err = self(*arguments)
        assert (code, out == "" or arguments[0] in ("run", "eval")) == (expected, True), out + err
        assert "Traceback" not in out + err
        return " ".join(err.replace("│", " ").split())


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capfd)
