import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.values import Value
from tests.served import WAYS, Fault, Served
from tests.served.faults import Way
from tests.submissions.running.run_expected import expected, found
from tests.submissions.running.run_factory import Commands, journaled, manifest, run_inspect

pytestmark = pytest.mark.process

MODEL = ("--model", "openai-api/served/m")
CHOSEN = ChosenPart("fact_or_fair", limit=3, stratified=True, seed=3)
ASKED = (*MODEL, "--limit", 3, "--stratified", "--seed", 3, "-M", "timeout=2", "-M", "max_retries=1")
LOST: tuple[Way, ...] = ("slow", "truncated", "cut", "reset", "html", "not_completion", "empty")
SPOILED: tuple[Way, ...] = ("silent", "half", "filtered", "refusal", "blocked", "refusing", "unreadable")
FAULTS = (
    *(Fault("status", status=status, seconds=0.05, share=0.05) for status in (429, 500, 503)),
    *(Fault(way, seconds=30, share=0.03) for way in LOST),
    *(Fault(way, share=0.03, times=None) for way in SPOILED),
    Fault("status", status=400, share=0.03, times=None, code="invalid_request"),
    Fault("status", status=500, share=0.01, times=None),
    *(Fault(way, share=0.02, times=None) for way in ("truncated", "html", "empty")),
)
SERVED = {"faults": FAULTS}


@pytest.fixture(scope="module")
def ran(commands: Commands, served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ran") / "mine"
    commands.run("run", "--benchmark", "fact_or_fair", *ASKED, "--out", out)
    return out


def test_every_item_has_exactly_one_fate(ran: Path) -> None:
    fates = expected(CHOSEN, FAULTS)
    assert found(journaled(ran.with_name("mine.run") / "journal.sqlite")) == fates
    rows = pq.read_table(ran / "responses.parquet").to_pylist()
    responses = {(row["task"], row["id"], row["sample"]): row["response"] for row in rows}
    assert len(responses) == len(rows)
    assert responses == {key: text for key, (fate, text) in fates.items() if fate != "failed"}
    (stage,) = manifest(ran)["stages"]
    counts = {fate: sum(one == fate for one, _ in fates.values()) for fate in ("answered", "refused", "failed")}
    assert stage["fates"] == counts
    assert stage["requests"] == len(fates)
    assert counts["refused"]
    assert counts["failed"]
    assert check_submission(ran).ok


def test_plain_inspect_gives_the_same_submission(ran: Path, commands: Commands, served: Served, tmp_path: Path) -> None:
    """The log reports what `fairspace score` reports."""
    from inspect_ai.log import read_eval_log

    served.requests(reset=True)
    words = ("-T", "limit=3", "-T", "stratified=true", "-T", "seed=3", "--attempt-timeout", 10, "--max-retries", 1)
    logged = ("--display", "none", "--log-dir", tmp_path / "logs")
    run_inspect(["eval", "fairspace/fact_or_fair", *MODEL, *words, *logged], tmp_path, **served.environment())
    (log,) = (tmp_path / "logs").iterdir()
    commands.run("import", "inspect", log, "--out", tmp_path / "mine")
    assert (tmp_path / "mine" / "responses.parquet").read_bytes() == (ran / "responses.parquet").read_bytes()
    meta, known = (json.loads((folder / "submission.json").read_bytes()) for folder in (tmp_path / "mine", ran))
    assert meta == known
    mine, whole = (manifest(folder)["stages"][0] for folder in (tmp_path / "mine", ran))
    same = ("what", "model", "engine", "engine_version", "prompts", "datasets", "tasks", "requests", "fates", "limit")
    assert {name: mine[name] for name in same} == {name: whole[name] for name in same}

    commands.run("score", ran, "--out", tmp_path / "result.json")
    results = read_eval_log(str(log), header_only=True).results
    assert results is not None
    reported = {name: metric.value for name, metric in results.scores[0].metrics.items()}
    assert {name: reported.pop(f"requests_{name}") for name in whole["fates"]} == whole["fates"]
    assert any(math.isfinite(number) for number in reported.values())
    for value in map(Value.from_json, json.loads((tmp_path / "result.json").read_bytes())["scores"]):
        parts = {"": value.value, ".low": value.low, ".high": value.high, ".coverage": value.coverage}
        for part, number in parts.items():
            metric = reported.pop(f"{value.name}{part}")
            assert math.isnan(metric) if number is None else metric == number, f"{value.name}{part}"
    assert not reported


def test_every_way_to_fail_was_met() -> None:
    assert {fault.way for fault in FAULTS} == {*WAYS} - {"verbatim"}  # test_accepting.py has the forms of others
