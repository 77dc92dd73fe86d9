import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import CODES
from tests.served import Served
from tests.submissions.running.images import painter as images_painter

Run = Callable[..., tuple[int, str, str]]
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
    code, _, err = run(*words[:2], "iris", *words[3:], "--dry-run")
    assert code == 1
    assert "TASK_UNKNOWN at iris, task occupation, tournament, pair: python/own.py:blind takes no pictures. " in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run --benchmark genres --out x", "Name a model that answers (--model)"),
        ("run --benchmark genrez --model openai/m --out x", "did you mean 'genres'?"),
        ("run --benchmark stereotypical_bias --model openai/m --prefix plian --out x", "did you mean 'plain'?"),
        (
            "run --benchmark genres --model openai/m --prefix debiasing --out x",
            "Only stereotypical_bias takes --prefix",
        ),
        (
            "run --benchmark iris --model openai/m --text-only --out x",
            "Only stereotypical_bias and genres take --text-only",
        ),
        ("run --benchmark fact_or_fair --model openai/m --ares a --out x", "--labeller labels what --images makes"),
        ("run --benchmark genres --images python:a:b --out x", "genres has no task of making images"),
        ("run --benchmark fact_or_fair --model openai/m -M device --out x", "-M device: write NAME=VALUE"),
        ("run --benchmark iris --images python:a:b --ares a --quality iqa --out x", "--quality iqa: write NAME=VALUE"),
        ("run --benchmark iris --images python:a:b --quality iqa=clip --out x", "name all three"),
        (
            "run --benchmark iris --images python:a:b --faces yolo --out x",
            "--faces finds the faces that --labeller labels",
        ),
        (
            "run --benchmark fact_or_fair --model openai/m --not-stratified --out x",
            "--not-stratified says how --limit chooses",
        ),
        (
            "run --benchmark fact_or_fair --model openai/m --about parameters=nan --out x",
            "parameters is 'nan'. Expected:",
        ),
        (
            "run --benchmark fact_or_fair --model openai/m --about architecture=x --out x",
            "architecture is 'x'. Expected:",
        ),
        ("run --benchmark fact_or_fair --model openai/m --about licens=MIT --out x", "did you mean 'licence'?"),
        ("run --benchmark fact_or_fair --model openai/m -M top_p=2 --out x", "a number, at least 0, at most 1"),
        ("run --benchmark fact_or_fair --model openai/m -M max_tokens=0 --out x", "a whole number, at least 1"),
        ("run --benchmark fact_or_fair --model openai/m -M timeout=soon --out x", "a whole number, at least 1"),
        ("run --benchmark fact_or_fair --model openai/m --limit 0 --out x", "greater than or equal to 1"),
        ("run --benchmark fact_or_fair --model openai/m --out full", "was not made by a run"),
        ("run --benchmark fact_or_fair --model openai/m --out nowhere/x", "There is no folder nowhere"),
        ("run --model openai/m --out x", "--benchmark"),
        (
            "run --benchmark fact_or_fair --images python:a:b --out x --cost-limit 1",
            "--token-limit and --cost-limit bound what --model answers",
        ),
        ("judge full", "--model"),
        ("judge nowhere --model openai/m", "There is no submission at nowhere"),
        ("judge full/file --model openai/m", "judgements are written into a folder"),
        ("judge full --model openai/m --revision a --revision b", "2 revisions of 1 judges"),
        ("run --dry-run --benchmark genrez", "did you mean 'genres'?"),
        ("run --dry-run --benchmark fact_or_fair --not-stratified", "--not-stratified says how --limit chooses"),
        ("import inspect full/file --out full", "There is something at full already"),
        ("import inspect --out x", "FILE"),
        ("import inspect a.eval", "--out"),
        ("import genres a.jsonl --out x --about parameters=7", "takes no parameters"),
    ],
)
def test_wrong_use_ends_with_2_says_what_is_right_and_writes_nothing(
    run: Run, here: Path, arguments: str, said: str
) -> None:
    (here / "full").mkdir()
    (here / "full" / "file").write_text("")
    code, out, err = run(*arguments.split())
    assert code == 2, err
    assert said in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in out + err
    assert not (here / "x").exists()
    assert not list(here.glob("*/journal.sqlite"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            "run --benchmark genres --model openai/m --tasks narativ --out x",
            "TASK_UNKNOWN",
            "did you mean 'narrative'?",
        ),
        ("run --benchmark iris --model openai/m --tasks generation_neutral --out x", "TASK_UNKNOWN", "nothing to do"),
        ("run --benchmark iris --images python:a:b --tasks occupation --out x", "TASK_UNKNOWN", "leave out --images"),
        ("run --benchmark genres --model openai/m --out x", "DATA_MISSING", "name the datasets with --data"),
        ("run --benchmark genres --model openai/m --data . --out x", "DATA_MISSING", "fairspace build genres"),
        ("run --benchmark fact_or_fair --model served --out x", "MODEL_UNKNOWN", "PROVIDER/MODEL"),
        ("run --benchmark fact_or_fair --model nope/m --out x", "MODEL_UNKNOWN", "nope"),
        ("run --benchmark fact_or_fair --model openai-api/lab/m --out x", "MODEL_UNKNOWN", "LAB_API_KEY"),
        ("run --benchmark fact_or_fair --images pyton:a:b --out x", "MODEL_UNKNOWN", "did you mean 'python'?"),
        ("run --benchmark fact_or_fair --images python:a_b_c:b --out x", "MODEL_UNKNOWN", "No module named 'a_b_c'"),
        ("run --benchmark fact_or_fair --images endpoint:http://127.0.0.1:9/v1 --out x", "MODEL_UNKNOWN", "#MODEL"),
        ("run --dry-run --benchmark fact_or_fair --provider-prices nowhere.json", "PRICES_INVALID", "cannot be read"),
        ("run --dry-run --benchmark genres", "DATA_MISSING", "name the datasets with --data"),
        ("run --dry-run --benchmark genres --text-only --tasks narativ", "TASK_UNKNOWN", "did you mean 'narrative'?"),
        ("import inspect nowhere.eval --out x", "LOG_INVALID", "no file"),
        ("import inspect file.txt --out x", "LOG_INVALID", "the suffix '.txt'"),
    ],
)
def test_what_cannot_be_run_ends_with_1_a_code_and_a_remedy(
    run: Run, here: Path, arguments: str, code: str, said: str
) -> None:
    (here / "file.txt").write_text("")
    found, out, err = run(*arguments.split())
    assert found == 1, err
    assert code in CODES
    assert f"fairspace: {code} at " in err
    assert said in err
    assert "Traceback" not in out + err
    assert not (here / "x").exists()


def test_an_unknown_role_of_quality_is_told_before_an_image_is_made(run: Run, here: Path) -> None:
    options = ("run", "--benchmark", "iris", "--images", f"python:{images_painter.FILE}:paint", "--ares", "a")
    for named, code, said in (
        ("fase-iqa=clip", 2, "did you mean 'face-iqa'?"),
        ("face_iqa=clip", 2, "did you mean 'face-iqa'?"),
        ("face-iqa=clp", 1, "did you mean 'clip'?"),
        ("reference=dinov2:./nowhere", 1, "TOOL_MISSING"),
    ):
        found, out, err = run(*options, "--quality", named, "--out", "x")
        assert (found, said in err) == (code, True), err
        assert "Traceback" not in out + err
        assert not (here / "x.run" / "images").exists()


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
    ],
)
def test_a_package_that_lacks_is_named_with_its_extra(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, extra: str, arguments: str
) -> None:
    monkeypatch.setattr("fairspace.builders.errors.find_spec", lambda name: None if name == lacks else name)
    code, _, err = run(*arguments.split())
    assert code == 2
    assert f"{lacks.replace('_', '-')} not installed: pip install " in err
    assert f"[{extra}]'." in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "PRICES_INVALID"),
        ("{}", "no model"),
        ('{"openai/m": {"inputs": 1}}', "did you mean 'input'?"),
        ('{"openai/m": {"input": 1}}', "one of input and output"),
        ('{"openai/m": {"input": "1", "output": 2}}', "without quotes"),
        ('{"openai/n": {"input": 1, "output": 2}}', "did you mean 'openai/n'?"),
    ],
)
def test_wrong_prices_are_told(run: Run, here: Path, text: str, said: str) -> None:
    (here / "prices.json").write_text(text)
    code, out, err = run(*PLAN, "--provider-prices", "prices.json")
    assert (code, out) == (1, "")
    assert "PRICES_INVALID" in err
    assert said in err


def test_a_plan_is_printed(run: Run, here: Path) -> None:
    (here / "prices.json").write_text('{"openai/m": {"input": 2.5, "output": 10}}')
    plan = (*PLAN, "--limit", 9)
    code, out, _ = run(*plan, "--provider-prices", "prices.json")
    assert code == 0
    assert "not ranked" in out
    assert "llm_objective by openai/m: 18 of " in out  # 6 queries: whole topics
    assert " USD; difference " in out
    assert not list(here.glob("*.run"))


def test_a_run_says_what_came_of_it_and_goes_on_with_the_same_command(run: Run, here: Path, served: Served) -> None:
    served.requests(reset=True)
    told = ("model=M", "parameters=7", "open_weights=false", "architecture=autoregressive")
    code, out, err = run(*OBJECTIVE, "--out", "mine", *(word for text in told for word in ("--about", text)))
    assert code == 0, err
    assert "responses by openai-api/served/m: 9 answered" in out
    assert "Next: fairspace score mine" in out
    assert run("check", "mine")[0] == 0
    meta = json.loads((here / "mine" / "submission.json").read_text())
    assert (meta["model"], meta["generation"]["temperature"], meta["generation"]["limit"]) == ("M", 0, 3)
    assert (meta["parameters"], meta["open_weights"], meta["architecture"]) == (7, False, "autoregressive")
    code, again, _ = run(*OBJECTIVE, "--out", "mine", "--about", "model=M", "--again")
    assert code == 0
    assert "9 answered" in again
    assert served.requests().total == 9
    code, _, err = run(*OBJECTIVE, "--out", "mine", "-M", "temperature=1")
    assert code == 1
    assert "RUN_OTHER" in err


def test_a_log_of_a_run_becomes_the_submission_that_the_run_wrote(run: Run, here: Path) -> None:
    assert run(*OBJECTIVE, "--out", "mine")[0] == 0
    (log,) = (here / "mine.run" / "logs").glob("*.eval")
    code, out, err = run("import", "inspect", log, "--out", "imported")
    assert code == 0, err
    assert "Next: fairspace score imported" in out
    mine, imported = (read_submission(here / name) for name in ("mine", "imported"))
    assert mine.tables["responses"].equals(imported.tables["responses"])


def test_a_run_into_the_folder_it_stands_in_has_its_workings_beside_it(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "mine").mkdir()
    monkeypatch.chdir(here / "mine")
    code, _, err = run(*OBJECTIVE, "--out", ".")
    assert code == 0, err
    assert (here / "mine" / "submission.json").is_file()
    assert (here / "mine.run" / "journal.sqlite").is_file()


def test_judges_read_a_run(run: Run, here: Path) -> None:
    options = ("--limit", 2, "--out", "mine")
    code, out, err = run("run", "--benchmark", "genres", "--text-only", *MODEL, *options)
    assert code == 0, err
    assert "Next: fairspace judge mine" in out
    code, out, err = run("judge", "mine", "--model", "python/json:dumps", "-M", "exotic=1")
    assert (code, "argument 'exotic'" in err) == (1, True), "arguments of the provider reach a judge"
    code, out, err = run("judge", "mine", *MODEL, "--model", "openai-api/served/n", "--revision", "1")
    assert code == 0, err
    assert "judgements by openai-api/served/n: 6 read" in out
    judged = read_submission(here / "mine")
    assert judged.meta.judge is not None
    assert (judged.meta.judge.version, judged.tables["judgements"].num_rows) == ("1", 12)
