"""A run killed at random points (SIGKILL) gives the unbroken submission and repeats no journaled request."""

import random
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.journal import Key
from tests.served import Fault, Served
from tests.submissions.running.run_expected import expected, found, requests
from tests.submissions.running.run_factory import Commands, assert_same, journaled, until
from tests.tiny_ares import random_ares

pytestmark = pytest.mark.process

CONNECTIONS = 6
BOUNDS = ("-M", "timeout=30", "-M", "max_retries=1", "-M", f"max_connections={CONNECTIONS}")
ASKED = ("--model", "openai-api/served/m", "--stratified", "--seed", 5, *BOUNDS)
FAULTS = (
    *(Fault("status", status=status, seconds=0.05, share=0.03) for status in (429, 503)),
    *(Fault(way, share=0.03) for way in ("truncated", "reset", "html", "empty")),
    *(Fault(way, share=0.02, times=None) for way in ("half", "filtered", "refusal", "blocked", "unreadable")),
    *(Fault(way, share=0.02, times=None) for way in ("truncated", "html", "not_completion")),
)
SERVED = {"faults": FAULTS, "latency": 0.01, "spread": 0.02}
KILLS = {"fact_or_fair": (5, 3), "iris": (2, 2)}
PROBES = 3
"""Requests that may repeat, as a probe of a model whose last answers are all failures."""


def points(kills: int, total: int) -> list[int]:
    """Numbers of requests at which a run is killed, never near its end."""
    return sorted(random.Random(f"{kills} {total}").sample(range(1, total * 9 // 10), kills))


class Asked:
    """Requests to the server before a kill whose fate was in the journal."""

    def __init__(self, chosen: ChosenPart, journal: Path, served: Served) -> None:
        self.keys: dict[Key, str] = {key: request.key for key, request in requests(chosen)}
        self.journal, self.served = journal, served
        self.before: dict[str, int] = {}

    def note(self) -> None:
        attempts = self.served.requests().attempts
        if self.journal.is_file():
            keys = [self.keys[answer.key] for answer in journaled(self.journal)]
            self.before |= {key: attempts[key] for key in keys if key not in self.before}

    def check(self) -> None:
        """Assert that nothing in the journal was asked again, apart from probes."""
        attempts = self.served.requests().attempts
        assert sum(attempts[key] - number for key, number in self.before.items()) <= PROBES


@pytest.mark.parametrize("benchmark", KILLS)
def test_a_run_that_was_killed_ends_as_the_unbroken_one(
    benchmark: str, data: Path, commands: Commands, served: Served, tmp_path: Path
) -> None:
    limit, kills = KILLS[benchmark]
    words = ("run", "--benchmark", benchmark, "--data", data, "--limit", limit, *ASKED)
    served.requests(reset=True)
    commands.run(*words, "--out", tmp_path / "unbroken")
    total = served.requests(reset=True).total
    chosen = ChosenPart(benchmark, str(data), (), limit, True, 5)
    asked = Asked(chosen, tmp_path / "killed.run" / "journal.sqlite", served)
    for point in points(kills, total):
        command = commands.start(*words, "--out", tmp_path / "killed")
        served.kill_at(point, command.pid)
        assert command.wait() == -9, command.output
        asked.note()
        assert not (tmp_path / "killed").exists()
    commands.run(*words, "--out", tmp_path / "killed")
    asked.check()
    again = Counter(served.requests().answers) - Counter(dict.fromkeys(asked.keys.values(), 1))
    assert again.total() <= kills * CONNECTIONS + PROBES
    assert found(journaled(asked.journal)) == expected(chosen, FAULTS)
    assert check_submission(tmp_path / "killed").ok
    assert_same(tmp_path / "killed", tmp_path / "unbroken")


def test_a_judge_that_was_killed_ends_as_the_unbroken_one(
    data: Path, commands: Commands, served: Served, tmp_path: Path
) -> None:
    words = ("run", "--benchmark", "genres", "--text-only", "--limit", 12)
    for name in ("unbroken", "killed"):
        commands.run(*words, *ASKED, "--out", tmp_path / name)
    # What the engine does not send again by itself counts as an attempt of ours, and a kill may lie behind it.
    served.inject(*(fault for fault in FAULTS if fault.times is None or fault.way in ("status", "reset")))
    judge = ("judge", "--model", "openai-api/served/judge", "--model", "openai-api/served/second", *BOUNDS)
    served.requests(reset=True)
    commands.run(*judge, tmp_path / "unbroken")
    total = served.requests(reset=True).total
    before = (tmp_path / "killed" / "submission.json").read_bytes()
    for point in points(2, total):
        command = commands.start(*judge, tmp_path / "killed")
        served.kill_at(point, command.pid)
        assert command.wait() == -9, command.output
        assert (tmp_path / "killed" / "submission.json").read_bytes() == before
    commands.run(*judge, tmp_path / "killed")
    assert served.requests().total <= total + 2 * CONNECTIONS + PROBES
    served.inject(*FAULTS)
    assert check_submission(tmp_path / "killed").ok
    assert_same(tmp_path / "killed", tmp_path / "unbroken")


IMAGE_FAULTS = (
    Fault("status", status=429, seconds=0.05, share=0.05),
    Fault("status", status=500, share=0.02),
    Fault("half", share=0.05),
    Fault("reset", share=0.02),
    Fault("blocked", share=0.1, times=None),
    Fault("unreadable", share=0.05, times=None),
)


def test_images_of_an_endpoint_and_their_labels_survive_kills(commands: Commands, tmp_path: Path) -> None:
    with Served.start(faults=IMAGE_FAULTS, latency=0.01, pixels=48, picture="jpeg") as served:
        images = f"endpoint:{served.url}#served-images?size=48&seed=true&concurrency=4&attempts=3"
        asked = ("--limit", 40, "--seed", 2, "--stratified")
        words = ("run", "--benchmark", "iris", "--images", images, "--ares", random_ares(), *asked)
        environment = served.environment()
        commands.run(*words, "--out", tmp_path / "unbroken", environment=environment)
        total = served.requests(reset=True).total
        work = tmp_path / "killed.run"
        labelling = work / "annotations" / "generation_neutral"
        for requests in (total // 4, None, total * 3 // 4):
            command = commands.start(*words, "--out", tmp_path / "killed", environment=environment)
            if requests is None:
                assert until(labelling.exists, command), command.output
                command.kill()
            else:
                served.kill_at(requests, command.pid)
            assert command.wait() == -9, command.output
        commands.run(*words, "--out", tmp_path / "killed", environment=environment)
        counted = served.requests()
    assert sum(number - 1 for number in counted.answers.values() if number > 1) <= 3 * 4
    assert check_submission(tmp_path / "killed").ok
    assert_same(tmp_path / "killed", tmp_path / "unbroken")
    rows = pq.read_table(tmp_path / "killed" / "annotations.parquet").to_pylist()
    assert {row["task"] for row in rows} == {"generation_neutral", "generation_steer"}
