import signal
import time
from pathlib import Path

import pytest

from fairspace.submissions.checking.submission import check_submission
from tests.served import Served
from tests.submissions.running.run_factory import Command, Commands, assert_same, journaled, until

pytestmark = pytest.mark.process

WORDS = ("run", "--benchmark", "fact_or_fair", "--model", "openai-api/served/m", "--stratified", "--seed", 4)
BOUNDS = ("-M", "max_connections=4", "-M", "max_retries=1", "-M", "timeout=30")
ASKED = (*WORDS, "--limit", 4, *BOUNDS)
TOTAL = 2 * 3 + 4 * 25  # a topic with two queries of facts; the next, with four, does not fit
SERVED = {"latency": 0.05}


@pytest.fixture(scope="module")
def unbroken(commands: Commands, served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("unbroken") / "mine"
    commands.run(*ASKED, "--out", out)
    return out


def signalled(commands: Commands, served: Served, out: Path, after: int, how: signal.Signals) -> Command:
    before = served.requests().total
    command = commands.start(*ASKED, "--out", out)
    served.kill_at(before + after, command.pid, how)
    assert until(lambda: served.requests().total >= before + after, command), command.output
    return command


def kept(out: Path) -> int:
    return len(journaled(out.with_name(out.name + ".run") / "journal.sqlite"))


def test_ctrl_c_ends_a_run_soon_and_the_same_command_goes_on(
    commands: Commands, served: Served, unbroken: Path, tmp_path: Path
) -> None:
    out, before = tmp_path / "mine", 0
    for _ in range(2):
        command = signalled(commands, served, out, 30, signal.SIGINT)
        pressed = time.monotonic()
        assert command.wait() == 130
        assert time.monotonic() - pressed < 30
        done = kept(out)
        assert done >= before + 20
        assert f"RUN_STOPPED at {out}.run: stopped; {done} of {TOTAL} requests have their fate." in command.output
        assert "run the same command again" in command.output
        assert "Traceback" not in command.output
        assert not out.exists()
        before = done
    commands.run(*ASKED, "--out", out)
    assert_same(out, unbroken)


def test_a_model_that_falls_silent_ends_the_run_and_nothing_counts_as_failed(
    commands: Commands, unbroken: Path, tmp_path: Path
) -> None:
    out, journal = tmp_path / "mine", tmp_path / "mine.run" / "journal.sqlite"
    with Served.start(latency=0.02) as own:
        environment = own.environment()
        command = commands.start(
            *ASKED, "-M", "max_retries=0", "-M", "max_connections=16", "--out", out, environment=environment
        )
        own.end_at(50)
        assert own.process.wait(120) == -signal.SIGKILL
        stopped = time.monotonic()
        assert command.wait() == 1
        assert time.monotonic() - stopped < 90
        assert "MODEL_SILENT" in command.output
        assert "requests in a row failed, the last with" in command.output
        assert "Traceback" not in command.output
        assert {answer.fate for answer in journaled(journal)} == {"answered"}
        own.restart()
        commands.run(*ASKED, "--out", out, environment=environment)
    assert_same(out, unbroken)


def test_a_full_disk_is_told_and_nothing_is_lost(commands: Commands, unbroken: Path, tmp_path: Path) -> None:
    command = commands.start(*ASKED, "--out", tmp_path / "mine", file_size=32 << 10)
    assert command.wait() == 1
    assert "Traceback" not in command.output
    assert "RUN_INCOMPLETE" in command.output
    commands.run(*ASKED, "--out", tmp_path / "mine")
    assert_same(tmp_path / "mine", unbroken)


def test_two_runs_in_one_folder_are_refused(commands: Commands, served: Served, tmp_path: Path) -> None:
    first = signalled(commands, served, tmp_path / "mine", 10, signal.SIGSTOP)
    second = commands.start(*ASKED, "--out", tmp_path / "mine")
    assert second.wait() == 1
    assert "RUN_IN_USE" in second.output
    first.kill(signal.SIGCONT)
    first.done()


def test_a_run_goes_on_only_as_it_began_and_grows_but_never_shrinks(
    commands: Commands, served: Served, unbroken: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine"
    assert signalled(commands, served, out, 20, signal.SIGKILL).wait() == -signal.SIGKILL
    for option, value in (("--seed", 5), ("--model", "openai-api/served/other")):
        refused = commands.start(*ASKED, option, value, "--out", out)
        assert refused.wait() == 1
        assert "RUN_OTHER" in refused.output
    served.requests(reset=True)
    commands.run(*ASKED, "--limit", 2, "--out", tmp_path / "small")
    begun = served.requests(reset=True).total
    assert 0 < begun < TOTAL
    commands.run(*ASKED, "--out", tmp_path / "small")
    assert served.requests().total == TOTAL - begun
    assert served.requests().most_answers == 1
    assert_same(tmp_path / "small", unbroken)
    commands.run(*ASKED, "--out", out)
    assert_same(out, unbroken)
    assert check_submission(out).ok
