import gc
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.errors import CODES as BUILD_CODES
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import CODES
from tests.served import Served
from tests.submissions.conftest import Run

REFUSED = [json.loads(line) for line in Path(__file__).with_name("refused.jsonl").read_text("utf-8").splitlines()]
"""Commands that are refused before anything is asked, made or written: exit code and words of the error."""
MODEL = ("--model", "openai-api/served/m")
OBJECTIVE = ("run", "--benchmark", "fact_or_fair", "--tasks", "llm_objective", "--limit", 3, "--not-stratified", *MODEL)
PLAN = ("run", "--dry-run", "--benchmark", "fact_or_fair", "--tasks", "llm_objective", "--model", "openai/m")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served.start() as server:
        yield server
    gc.collect()


@pytest.fixture
def here(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in served.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("bench", "asked", "blind"),
    [
        ("stereotypical_bias", {"language_gender", "language_race"}, True),
        ("genres", {"narrative"}, True),
        ("fact_or_fair", {"llm_objective", "llm_subjective"}, False),
    ],
)
def test_a_run_leaves_out_what_its_model_cannot_be_asked_and_says_so_first(
    run: Run, here: Path, bench: str, asked: set[str], blind: bool
) -> None:
    (here / "own.py").write_text("def blind(prompt):\n    return 'Story: A'\n")
    words = ("run", "--benchmark", bench, "--limit", 1, "--model", "own.py:blind")
    for out, tasks in ((run(*words, "--dry-run")[1], ()), (run(*words, "--out", "mine")[1], asked)):
        assert ("python/own.py:blind takes no pictures: what is asked with a picture" in " ".join(out.split())) == blind
        assert ("Not asked, as no --images is named: t2i_objective" in out) == (bench == "fact_or_fair")
        assert not tasks or {*read_submission(here / "mine").tables["responses"]["task"].to_pylist()} == tasks


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused["command"])
def test_a_command_that_cannot_be_meant_is_refused_with_what_is_right_and_writes_nothing(
    run: Run, here: Path, refused: dict[str, Any]
) -> None:
    (here / "empty").mkdir()
    (here / "full").mkdir()
    for name in ("full/file", "file.txt"):
        (here / name).touch()
    (here / "own.py").write_text("def answer(prompt):\n    raise SystemExit\n\n\npaint = answer\n")
    before = {*here.iterdir()}
    error = run.refused(refused["code"], *refused["command"].split())
    assert [words for words in refused["says"] if words not in error] == [], error
    assert refused["code"] == 2 or {*re.findall("fairspace: ([A-Z_]+) at ", error)} <= CODES.keys() | BUILD_CODES.keys()
    assert {file for file in here.iterdir() if file.name not in ("__pycache__", "x.run")} == before
    assert not list(here.rglob("journal.sqlite"))


@pytest.mark.parametrize(
    ("lacks", "extra", "arguments"),
    [
        ("inspect_ai", "run", "run --benchmark genres --model ./a --out x"),
        ("inspect_ai", "ask", "judge x --model a/b"),
        ("inspect_ai", "ask", "eval --model own.py:answer"),
        ("openai", "ask", "eval --model own.py:answer --judge http://127.0.0.1:1/v1#a"),
        ("aiohttp", "ask", "verify-submission x --model openai/a"),
        ("inspect_ai", "ask", "run --dry-run --benchmark fact_or_fair"),
        ("inspect_ai", "ask", "import inspect x.eval --out y"),
        ("torch", "ares", "ares quality x --annotations x --out x"),
    ],
)
def test_a_package_that_lacks_is_named_with_its_extra(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, extra: str, arguments: str
) -> None:
    monkeypatch.setattr("fairspace.builders.errors.find_spec", lambda name: None if name == lacks else name)
    error = run.refused(2, *arguments.split())
    assert f"{lacks.replace('_', '-')} not installed: pip install " in error
    assert f"[{extra}]'." in error


def test_a_plan_is_printed(run: Run, here: Path) -> None:
    (here / "prices.json").write_text('{"openai/m": {"input": 2.5, "output": 10}}')
    out = run.fine(*PLAN, "--limit", 9, "--provider-prices", "prices.json")
    assert "not ranked" in out
    assert "llm_objective by openai/m: 18 of " in out  # 6 queries: whole topics
    assert " USD; difference " in out
    assert not list(here.glob("*.run"))
    (here / "prices.json").write_text("{}")
    assert "PRICES_INVALID" in run.refused(1, *PLAN, "--provider-prices", "prices.json")


def test_a_run_says_what_came_of_it_and_goes_on_with_the_same_command(run: Run, here: Path, served: Served) -> None:
    served.requests(reset=True)
    told = ("model=M", "parameters=7", "open_weights=false", "architecture=autoregressive")
    out = run.fine(*OBJECTIVE, "--out", "mine", *(word for text in told for word in ("--about", text)))
    assert "responses by openai-api/served/m: 9 answered" in out
    assert "Next: fairspace score mine" in out
    run.fine("check", "mine")
    (log,) = (here / "mine.run" / "logs").glob("*.eval")
    assert "Next: fairspace score imported" in run.fine("import", "inspect", log, "--out", "imported")
    mine, imported = (read_submission(here / name) for name in ("mine", "imported"))
    assert mine.tables["responses"].equals(imported.tables["responses"]), "a log becomes what its run wrote"
    meta = json.loads((here / "mine" / "submission.json").read_text())
    assert (meta["model"], meta["generation"]["temperature"], meta["generation"]["limit"]) == ("M", 0, 3)
    assert (meta["parameters"], meta["open_weights"], meta["architecture"]) == (7, False, "autoregressive")
    assert "9 answered" in run.fine(*OBJECTIVE, "--out", "mine", "--about", "model=M", "--again")
    assert served.requests().total == 9
    assert "RUN_OTHER" in run.refused(1, *OBJECTIVE, "--out", "mine", "-M", "temperature=1")


def test_a_run_into_the_folder_it_stands_in_has_its_workings_beside_it(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "mine").mkdir()
    monkeypatch.chdir(here / "mine")
    run.fine(*OBJECTIVE, "--out", ".")
    assert (here / "mine" / "submission.json").is_file()
    assert (here / "mine.run" / "journal.sqlite").is_file()


def test_judges_read_a_run(run: Run, here: Path) -> None:
    options = ("--limit", 2, "--out", "mine")
    assert "Next: fairspace judge mine" in run.fine("run", "--benchmark", "genres", "--text-only", *MODEL, *options)
    error = run.refused(1, "judge", "mine", "--model", "python/json:dumps", "-M", "exotic=1")
    assert "argument 'exotic'" in error, "arguments of the provider reach a judge"
    out = run.fine("judge", "mine", *MODEL, "--model", "openai-api/served/n", "--revision", "1")
    assert "judgements by openai-api/served/n: 6 read" in out
    judged = read_submission(here / "mine")
    assert judged.meta.judge is not None
    assert (judged.meta.judge.version, judged.tables["judgements"].num_rows) == ("1", 12)
