"""Tasks in lm-eval, and logs of lm-eval, lmms-eval and lighteval as submissions."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("inspect_ai")

import fairspace as fs
from fairspace import harness
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import choose, whole_units
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.running.asking.inspect_task import parts
from fairspace.submissions.running.logs.harnesses import import_harness
from fairspace.submissions.running.settings import ModelFacts
from tests.foreign import HERE
from tests.served import Served

ROOT = Path(__file__).parents[4]
CORE: dict[str, Any] = {"benchmark": "fact_or_fair", "revision": "v2-core"}
ROWS = 200
RESAMPLES = "200"


@pytest.fixture(autouse=True)
def _resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", RESAMPLES)


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory, served: Served) -> Path:
    """Output of the real lm_eval, for the first 200 requests."""
    folder = tmp_path_factory.mktemp("lm_eval")
    assert "fairspace_fact_or_fair_core" in harness.write_tasks("fact_or_fair", folder / "tasks")
    address = f"model=tiny,base_url={served.url}/chat/completions,num_concurrent=8,tokenizer_backend=none"
    command = [sys.executable, "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", address]
    command += ["--apply_chat_template", "--include_path", "tasks", "--tasks", "fairspace_fact_or_fair_core"]
    command += ["--limit", str(ROWS), "--output_path", "out", "--log_samples", "--system_instruction", "Be short."]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": served.key}
    environment["FAIRSPACE_RESAMPLES"] = RESAMPLES
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "|llm_fairness" in ended.stdout
    return folder / "out"


@pytest.mark.slow
@pytest.mark.process
def test_lm_eval_shows_our_values_and_its_log_is_our_own_run(
    logged: Path, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (samples,), (results,) = logged.rglob("samples_*.jsonl"), logged.rglob("results_*.json")
    lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == ROWS
    answers = {line["doc"]["prompt"]: line["resps"][0][0] for line in lines}
    # A question that lm_eval did not ask is a KeyError: the first rows are the part of fs.run(limit=25).
    own_run = fs.run(
        lambda prompt: answers[prompt], "fact_or_fair", dataset_revision="v2-core", limit=25, folder=tmp_path / "own"
    )
    direct = fs.score(own_run)
    outcome = import_harness("lm-eval", [logged], tmp_path / "mine", ModelFacts())
    imported = fs.score(tmp_path / "mine")
    assert run("import", "lm-eval", logged, "--out", tmp_path / "too")[0] == 0
    assert read_submission(tmp_path / "too").digest == read_submission(tmp_path / "mine").digest
    assert imported.values == direct.values
    assert imported.scored == direct.scored
    assert imported.scored.part
    assert imported.scored.ranked is None
    shown = json.loads(results.read_text(encoding="utf-8"))["results"]["fairspace_fact_or_fair_core"]
    values = {**direct.values, **direct.scored.shown}
    for name in benchmark("fact_or_fair").reporting.in_harness:
        uncertainty = values[name].uncertainty
        assert uncertainty is not None
        assert (shown[f"{name},none"], shown[f"{name}_stderr,none"]) == (values[name].value, uncertainty.error)
    (stage,) = outcome.stages
    held = read_submission(tmp_path / "own").manifest
    assert held is not None
    assert (stage.model, stage.engine, stage.limit, stage.stratified) == ("tiny", "lm-eval", 25, True)
    assert stage.prompts == held.stages[0].prompts
    assert stage.settings["temperature"] == 0.0
    assert stage.settings["system_instruction"] == "Be short."
    assert len(str(stage.settings["task_hash"])) == 64
    assert "left out" in outcome.notes[0]


@pytest.mark.parametrize("rows", [130, 187, 200, 1001])
def test_a_limit_of_any_length_is_an_even_part_of_whole_units(rows: int) -> None:
    asked = parts("fact_or_fair", None, revision="v2-core")
    first = harness.documents(asked)[:rows]
    kept, limit = whole_units(first)
    assert kept
    for part in asked:
        mine = [row for row in kept if row["task"] == part.task]
        whole = len({row["stimulus"] for row in mine})
        chosen = choose(part.stimuli, whole, stratified=True)
        assert {row["stimulus"] for row in mine} <= {row["stimulus"] for row in first}
        assert {row["stimulus"] for row in mine} == {part.stimuli[place].id for place in chosen}
        assert whole <= limit


def test_every_function_in_the_written_tasks_is_there(tmp_path: Path) -> None:
    class Loader(yaml.SafeLoader):
        pass

    def function(_: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
        module, _, name = node.value.rpartition(".")
        assert module == "fairspace.harness"
        return getattr(harness, name)

    Loader.add_constructor("!function", function)
    names = [
        name
        for each in ("fact_or_fair", "stereotypical_bias", "genres")
        for name in harness.write_tasks(each, tmp_path)
    ]
    assert {file.stem for file in tmp_path.iterdir()} == {*names}
    for name in names:
        task = yaml.load((tmp_path / f"{name}.yaml").read_text(encoding="utf-8"), Loader)
        assert task["task"] == name
        assert all(callable(metric["aggregation"]) for metric in task["metric_list"])
        assert task["doc_to_text"] == "{{prompt}}"
    with pytest.raises(fs.UsageError, match="shows no pictures"):
        harness.write_tasks("iris", tmp_path)
    with pytest.raises(AttributeError):
        _ = harness.fact_or_fair__nothing


def test_stereotypical_biass_task_gives_the_values_of_its_text_half() -> None:
    task = harness.make("stereotypical_bias_text_core")
    documents = task["items"]()["test"]
    kept = [task["keep"](document, ["female" if place % 3 else "male"]) for place, document in enumerate(documents)]
    shown = {name: task[name]([row[name] for row in kept]) for name in kept[0]}
    rows = [{"id": row["id"], "response": "female" if place % 3 else "male"} for place, row in enumerate(documents)]
    direct = fs.score(rows, "stereotypical_bias", dataset_revision="v2-core", text_only=True)
    assert direct.signature["shown"]
    assert shown["gender_persona"] == direct.values["gender_persona"].value
    assert direct.values["gender_persona"].uncertainty is not None
    assert shown["gender_persona_stderr"] == direct.values["gender_persona"].uncertainty.error


LOGS = {"lmms-eval": "lmms_eval", "lighteval": "lighteval"}


def log(layout: str, folder: Path) -> Path:
    """A copy of a program's own output, with the names and folders that it gives."""
    shutil.copytree(HERE / LOGS[layout], folder, ignore=shutil.ignore_patterns("source.toml"))
    if layout == "lighteval":
        time = "2026-11-30T07-27-32.163263"
        (folder / "details/hash" / time).mkdir(parents=True)
        (folder / "results/hash").mkdir(parents=True)
        (folder / "details.parquet").rename(folder / "details/hash" / time / f"details_fof_core|0_{time}.parquet")
        (folder / f"results_{time}.json").rename(folder / "results/hash" / f"results_{time}.json")
    return folder


@pytest.mark.parametrize(("layout", "limit"), [("lmms-eval", 12), ("lighteval", None)])
def test_a_log_of_lmms_eval_or_lighteval_is_imported(
    layout: str, limit: int | None, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """The data of the log of lighteval had 12 rows."""
    of_task = ("--benchmark", "fact_or_fair", "--dataset-revision", "v2-core", "--about", "licence=MIT")
    code, out, err = run("import", layout, log(layout, tmp_path / "log"), *of_task, "--out", tmp_path / "mine")
    assert code == 0, err
    assert ("responses by hash: 12 answered; limited to 12 stimuli a task" in out) == (limit is not None)
    assert "responses by hash: 12 answered" in out
    held = read_submission(tmp_path / "mine")
    rows = held.tables["responses"].to_pylist()
    assert len(rows) == 12
    assert {row["response"] for row in rows} <= set("ABCD")
    assert held.manifest is not None
    (stage,) = held.manifest.stages
    assert (held.meta.model, held.meta.licence, stage.model) == ("hash", "MIT", "hash")
    assert (stage.settings["temperature"], stage.limit) == (0, limit)
    assert fs.score(tmp_path / "mine", resamples=0).values["share_llm_subjective_male"].valid == 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: {**line, "target": line["target"] + "x"}, "UNKNOWN_ID"),
        (lambda line: {name: line[name] for name in line if name != "target"}, "LOG_INVALID.*row 1 without 'target'"),
    ],
)
def test_a_damaged_log_is_refused(change: Any, message: str, tmp_path: Path) -> None:
    folder = log("lmms-eval", tmp_path / "log")
    (samples,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    samples.write_text("".join(json.dumps(change(line)) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises((fs.RunError, fs.SubmissionError), match=message):
        import_harness("lmms-eval", [folder], tmp_path / "mine", ModelFacts(), **CORE)
    assert not (tmp_path / "mine").exists()


def test_two_answers_other_models_and_broken_results_are_refused(tmp_path: Path) -> None:
    folder, again = (log("lmms-eval", tmp_path / name) for name in ("log", "again"))
    (samples,), (results,) = again.glob("*.jsonl"), again.glob("*.json")

    def refused(*places: Path) -> str:
        with pytest.raises(fs.RunError) as caught:
            import_harness("lmms-eval", list(places), tmp_path / "mine", ModelFacts(), **CORE)
        return str(caught.value)

    assert "12 answered" not in str(
        import_harness("lmms-eval", [folder, again], tmp_path / "twice", ModelFacts(), **CORE)
    )
    results.write_text(results.read_text(encoding="utf-8").replace('"model_name": "hash"', '"model_name": "other"'))
    assert "LOG_CONFLICT" in refused(folder, again)
    results.write_text("[]")
    assert "LOG_INVALID" in refused(again)
    results.write_text('{"n-samples": {"effective": "many"}}')
    assert "LOG_INVALID" in refused(again)
    results.unlink()
    samples.write_text(samples.read_text(encoding="utf-8").replace('"filtered_resps": "D"', '"filtered_resps": "A"'))
    assert "LOG_CONFLICT" in refused(samples, folder)
    with pytest.raises(fs.UsageError, match="files of answers"):
        import_harness("lm-eval", [folder], tmp_path / "mine", ModelFacts(), **CORE)
    with pytest.raises(fs.UsageError, match="Name the benchmark"):
        import_harness("lmms-eval", [folder], tmp_path / "mine", ModelFacts())


def test_rows_of_a_part_are_marked_and_have_no_rank() -> None:
    items = fs.items("stereotypical_bias", "language_gender", dataset_revision="v2-core")
    rows = items.assign(response="female")[["id", "response"]]
    part = fs.score(rows, "stereotypical_bias", dataset_revision="v2-core", limit=140, text_only=True, resamples=0)
    assert part.scored.part
    assert part.scored.ranked is None
    assert "limited to 140 stimuli a task" in " ".join(part.scored.unranked)
    assert part.signature["shown"]
    with pytest.raises(fs.UsageError, match="at least 1"):
        fs.score(rows, "stereotypical_bias", dataset_revision="v2-core", limit=0)
    with pytest.raises(fs.UsageError, match="leave out text_only"):
        fs.score(rows, text_only=True, **CORE)
    answers = fs.run(lambda prompt: "A", "fact_or_fair", dataset_revision="v2-core", limit=2)
    with pytest.raises(fs.UsageError, match="the submission says 2"):
        fs.score(answers, limit=3)


def test_the_command_writes_tasks(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, out, _ = run("items", "fact_or_fair", "--lm-eval", str(tmp_path / "tasks"))
    assert code == 0
    assert f"lm_eval --include_path {tmp_path / 'tasks'} --tasks fairspace_fact_or_fair_core" in out
    assert run("items", "fact_or_fair")[0] == run("items", "genres", "--lm-eval", "x", "--out", "y")[0] == 2
    (tmp_path / "log").mkdir()
    assert run("import", "genres", tmp_path / "log", "--benchmark", "genres", "--out", tmp_path / "mine")[0] == 2
