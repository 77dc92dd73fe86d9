import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.values import Value
from tests.served import WAYS, Fault, Served
from tests.served.faults import Way
from tests.submissions.running.run_expected import expected, found
from tests.submissions.running.run_factory import ROOT, Commands, journaled, manifest, registered

pytestmark = pytest.mark.process

MODEL = "openai-api/served/m"
ASKED = ("--model", MODEL, "--stratified", "--seed", 3, "-M", "timeout=2", "-M", "max_retries=1")
LIMITS = {"fact_or_fair": 3}
LOST: tuple[Way, ...] = ("slow", "truncated", "cut", "reset", "html", "not_completion", "empty")
SPOILED: tuple[Way, ...] = ("silent", "half", "filtered", "refusal", "blocked", "refusing", "unreadable")
FAULTS = (
    *(Fault("status", status=status, seconds=0.05, share=0.05) for status in (429, 500, 503)),
    *(Fault(way, seconds=30, share=0.03) for way in LOST),
    *(Fault(way, share=0.03, times=None) for way in SPOILED),
    Fault("status", status=400, share=0.03, times=None, code="invalid_request"),
    Fault("status", status=500, share=0.01, times=None),
    Fault("truncated", share=0.02, times=None),
    Fault("html", share=0.02, times=None),
    Fault("empty", share=0.02, times=None),
)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served.start(faults=FAULTS) as served:
        yield served


@pytest.fixture(scope="module", params=LIMITS)
def ran(
    request: pytest.FixtureRequest,
    data: Path,
    commands: Commands,
    served: Served,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[ChosenPart, Path]:
    benchmark = request.param
    out = tmp_path_factory.mktemp(benchmark) / "mine"
    limit = LIMITS[benchmark]
    served.requests(reset=True)
    commands.run("run", "--benchmark", benchmark, "--data", data, "--limit", limit, "--out", out, *ASKED)
    return ChosenPart(benchmark, str(data), (), limit, True, 3), out


def test_every_item_has_exactly_one_fate(ran: tuple[ChosenPart, Path]) -> None:
    chosen, out = ran
    fates = expected(chosen, FAULTS)
    assert found(journaled(out.with_name("mine.run") / "journal.sqlite")) == fates
    rows = pq.read_table(out / "responses.parquet").to_pylist()
    told = {(row["task"], row["id"], row["sample"]): row["response"] for row in rows}
    assert len(told) == len(rows)
    assert told == {key: text for key, (fate, text) in fates.items() if fate != "failed"}
    (stage,) = manifest(out)["stages"]
    counts = {fate: sum(one == fate for one, _ in fates.values()) for fate in ("answered", "refused", "failed")}
    assert stage["fates"] == counts
    assert stage["requests"] == len(fates)
    assert counts["refused"]
    assert counts["failed"]
    assert check_submission(out).ok


def assert_reported(file: Path, out: Path, commands: Commands) -> None:
    """The log reports what `fairspace score` reports."""
    from inspect_ai.log import read_eval_log

    commands.run("score", out, "--out", out.with_name("result.json"))
    scores = json.loads(out.with_name("result.json").read_bytes())["scores"]
    log = read_eval_log(str(file), header_only=True)
    assert log.results is not None
    logged = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    fates = {name: logged.pop(f"requests_{name}") for name in ("answered", "refused", "failed")}
    assert fates == manifest(out)["stages"][0]["fates"]
    assert any(math.isfinite(number) for number in logged.values())
    for value in map(Value.from_json, scores):
        parts = {"": value.value, ".low": value.low, ".high": value.high, ".coverage": value.coverage}
        for part, number in parts.items():
            told = logged.pop(f"{value.name}{part}")
            assert math.isnan(told) if number is None else told == number, f"{value.name}{part}"
    assert not logged


@pytest.mark.parametrize("ran", ["fact_or_fair"], indirect=True)
def test_plain_inspect_gives_the_same_submission(
    ran: tuple[ChosenPart, Path], commands: Commands, served: Served, tmp_path: Path
) -> None:
    _, out = ran
    served.requests(reset=True)
    given = {"limit": LIMITS["fact_or_fair"], "stratified": "true", "seed": 3}
    words = [Path(sys.executable).with_name("inspect"), "eval", "fairspace/fact_or_fair", "--model", MODEL]
    words += [word for name, value in given.items() for word in ("-T", f"{name}={value}")]
    words += ["--attempt-timeout", "10", "--max-retries", "1", "--display", "none", "--log-dir", tmp_path / "logs"]
    environment = {**os.environ, **served.environment(), **registered(tmp_path)}
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "was not found in the registry" not in done.stdout + done.stderr
    (log,) = (tmp_path / "logs").iterdir()
    commands.run("import", "inspect", log, "--out", tmp_path / "mine")
    assert_reported(log, out, commands)
    assert (tmp_path / "mine" / "responses.parquet").read_bytes() == (out / "responses.parquet").read_bytes()
    meta, known = (json.loads((folder / "submission.json").read_bytes()) for folder in (tmp_path / "mine", out))
    assert meta == known
    one, other = (manifest(folder)["stages"][0] for folder in (tmp_path / "mine", out))
    same = ("what", "model", "engine", "engine_version", "prompts", "datasets", "tasks", "requests", "fates", "limit")
    assert {name: one[name] for name in same} == {name: other[name] for name in same}


def test_every_way_to_fail_was_met() -> None:
    assert {fault.way for fault in FAULTS} == {*WAYS} - {"verbatim"}  # test_accepting.py has the forms of others
