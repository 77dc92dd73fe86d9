import json
import os
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pyarrow.parquet as pq
import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageUser

import fairspace as fs
from fairspace.answers import check_answers
from fairspace.submissions.benchmarks.task import ask_seed
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.asking.asking import Harvest
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.logs.importing import import_inspect, limit_of, open_log, read_log
from fairspace.submissions.running.settings import ModelFacts
from tests.submissions.running.logs.inspect_logs import MODEL

ROOT = Path(__file__).parents[4]
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    command = [sys.executable, "-m", "tests.submissions.running.logs.inspect_logs", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def log(logs: Path) -> Path:
    return logs / "whole.eval"


def header(path: str, **facts: Any) -> Mapping[str, Change]:
    """The change of facts at a place of the header."""

    def change(part: dict[str, Any]) -> None:
        for name in path.split():
            part = part[name]
        part.update(facts)

    return {"header": change}


def metadata(**facts: Any) -> Mapping[str, Change]:
    return header("eval metadata fairspace", **facts)


def sample_metadata(**facts: Any) -> Mapping[str, Change]:
    return {"sample": lambda sample: sample["metadata"].update(facts)}


def imported(files: list[Path], out: Path, **about: Any) -> Submission:
    import_inspect(files, out, about=ModelFacts(**about))
    return read_submission(out)


def changed(log: Path, folder: Path, *, sample: Change | None = None, header: Change | None = None) -> Path:
    made = folder / f"{len(list(folder.iterdir()))}.eval"
    with zipfile.ZipFile(log) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = json.loads(source.read(name))
            change = sample if name.startswith("samples/") else header if name == "header.json" else None
            if change is not None:
                change(data)
            target.writestr(name, json.dumps(data))
    return made


def answers_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    return list(sample["metadata"]["answers"])


def refused(files: list[Path], folder: Path, code: str) -> str:
    """The error on importing these logs, which must have that code and write nothing."""
    with pytest.raises(RunError) as caught:
        import_inspect(files, folder / "refused")
    assert caught.value.code == code
    assert not (folder / "refused").exists()
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_a_log_becomes_a_submission_that_checks(log: Path, tmp_path: Path) -> None:
    told = ModelFacts(revision="r2", organisation="Lab", licence="MIT", parameters=7.2, open_weights=True)
    done = import_inspect([log], tmp_path / "s", about=replace(told, architecture="autoregressive"))
    report = check_submission(tmp_path / "s")
    assert report.submission is not None
    meta, stage = report.submission.meta, done.stages[0]
    assert (meta.model, meta.revision, meta.organisation, meta.licence) == ("plain", "r2", "Lab", "MIT")
    assert (meta.parameters, meta.open_weights, meta.architecture) == (7.2, True, "autoregressive")
    assert meta.generation == {"limit": 2, "stratified": False, "seed": 1, "temperature": 0, "unreadable_again": 5}
    assert report.submission.tables["responses"].num_rows == 2 * 3 + 2 * 25
    assert report.submission.manifest is not None
    assert report.submission.manifest.stages == [stage]
    assert (stage.what, stage.model, stage.engine, stage.revision) == ("responses", MODEL, "inspect_ai", "r2")
    assert (stage.requests, stage.fates) == (56, {"answered": 56, "refused": 0, "failed": 0})
    assert stage.engine_version == read_eval_log(log, header_only=True).eval.packages["inspect_ai"]
    assert (stage.limit, stage.tasks) == (2, ["llm_objective", "llm_subjective"])
    assert stage.input_tokens > 0
    assert done.notes == ()


def test_a_log_is_checked_and_scored_as_the_submission_that_it_becomes(
    run: Callable[..., tuple[int, str, str]], logs: Path, log: Path, tmp_path: Path
) -> None:
    whole, broken = check_answers(log), check_answers(logs / "broken.eval")
    assert whole.submission is not None
    assert whole.submission.digest == imported([log], tmp_path / "s").digest
    assert whole.submission.manifest is not None
    assert broken.notes[0].endswith("of 4 stimuli have no answers in the logs; they are missing")
    scored = fs.score(log, resamples=0)
    assert scored.to_json()["scores"] == fs.score(tmp_path / "s", resamples=0).to_json()["scores"]
    code, out, _ = run("score", log, "--resamples", 0, "--json")
    assert (code, json.loads(out)["scores"]) == (0, json.loads(scored.dumps())["scores"])


def test_an_answer_of_a_sample_under_way_is_taken_once(log: Path) -> None:
    opened = open_benchmark(ChosenPart("fact_or_fair", limit=2, seed=1))
    part = opened.parts["llm_objective"]
    place = opened.positions["llm_objective"][0]
    (ask, *_), stimulus = part.read(place).asks, part.stimuli[place].id
    harvest, request = Harvest(), [ChatMessageUser(content=ask.prompt)]
    harvest._logs = {stimulus: [str(log)]}
    assert harvest.take(request, ask_seed(1, *ask.key)) is None
    for _ in range(2):
        anyio.run(harvest.read, stimulus)
    assert harvest.take([ChatMessageUser(content="Another?")], ask_seed(1, *ask.key)) is None
    assert harvest.take(request, 7) is None
    output = harvest.take(request, ask_seed(1, *ask.key))
    assert output is not None
    with open_log(log) as opened_log:
        answers = [row for sample in opened_log.samples for row in answers_of(dict(sample))]
    logged = [(row["task"], row["id"], row["sample"]) for row in answers if row["response"] == output.completion]
    assert ask.key in logged
    for _ in range(part.unreadable_again):
        harvest.take(request, ask_seed(1, *ask.key))
    assert harvest.take(request, ask_seed(1, *ask.key)) is None


def test_the_submission_of_a_run_and_of_its_log_are_the_same(logs: Path, tmp_path: Path) -> None:
    run, found = read_submission(logs / "run"), imported([logs / "run.eval"], tmp_path / "imported")
    assert found.meta == run.meta
    assert found.tables["responses"].equals(run.tables["responses"])
    assert found.digest == run.digest
    assert found.manifest is not None
    assert run.manifest is not None
    (here,), (there,) = found.manifest.stages, run.manifest.stages
    for name in ("what", "model", "engine_version", "prompts", "tasks", "fates", "input_tokens", "limit"):
        assert getattr(here, name) == getattr(there, name), name


def test_what_was_set_of_generation_is_kept(logs: Path, tmp_path: Path) -> None:
    found = imported([logs / "settings.eval"], tmp_path / "s")
    generation = dict(found.meta.generation)
    assert str(generation.pop("system_message")).startswith("sha256 ")
    assert generation == {
        "limit": 2, "stratified": False, "seed": 1, "temperature": 0.25, "max_tokens": 50, "extra_headers": "x-key",
        "unreadable_again": 5,
    }  # fmt: skip
    assert "secret" not in "".join(file.read_text() for file in (tmp_path / "s").glob("*.json"))


def test_a_broken_log_and_its_retry_are_the_unbroken_one(logs: Path, log: Path, tmp_path: Path) -> None:
    broken, retried = logs / "broken.eval", logs / "retried.eval"
    assert read_eval_log(broken, header_only=True).status == "error"
    done = import_inspect([broken], tmp_path / "part")
    assert done.notes[0].endswith("of 4 stimuli have no answers in the logs; they are missing")
    part, whole = read_submission(tmp_path / "part"), imported([log], tmp_path / "whole")
    assert 0 < part.tables["responses"].num_rows < whole.tables["responses"].num_rows
    assert imported([retried], tmp_path / "retried").digest == whole.digest
    assert imported([retried, broken], tmp_path / "both").digest == whole.digest
    assert import_inspect([retried, broken], tmp_path / "again").notes == ()


def test_a_log_of_a_killed_process_has_what_was_written(log: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed.eval"
    gone = ("header.json", "summaries.json", "samples/llm_subjective/influenza_hospitalization_rate/highest/0/base")
    with zipfile.ZipFile(log) as source, zipfile.ZipFile(killed, "w") as target:
        for name in source.namelist():
            if not name.startswith(gone):
                target.writestr(name, source.read(name))
    done = import_inspect([killed], tmp_path / "s")
    assert read_submission(tmp_path / "s").tables["responses"].num_rows == 31
    assert done.notes == ("1 of 4 stimuli have no answers in the logs; they are missing",)
    assert done.stages[0].started == done.stages[0].ended


def test_of_a_sample_that_was_logged_again_the_last_one_counts(log: Path, tmp_path: Path) -> None:
    made = changed(log, tmp_path)
    with zipfile.ZipFile(made, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        name = next(name for name in archive.namelist() if name.startswith("samples/llm_objective"))
        sample = json.loads(archive.read(name))
        answers_of(sample)[0].update(response="Said in the second attempt.")
        archive.writestr(name, json.dumps(sample))
    table = imported([made], tmp_path / "s").tables["responses"]
    assert table.num_rows == 56
    assert table["response"].to_pylist().count("Said in the second attempt.") == 1


def test_logs_of_two_tasks_are_one_submission(logs: Path, log: Path, tmp_path: Path) -> None:
    parts = [logs / f"{task}.eval" for task in ("llm_objective", "llm_subjective")]
    found = imported(parts, tmp_path / "s")
    assert found.digest == imported([log], tmp_path / "t").digest
    assert found.manifest is not None
    assert [stage.tasks for stage in found.manifest.stages] == [["llm_objective"], ["llm_subjective"]]


def test_failed_answers_are_left_out_and_refused_ones_are_null(log: Path, tmp_path: Path) -> None:
    def spoil(sample: dict[str, Any]) -> None:
        first, second = answers_of(sample)[:2]
        first |= {"fate": "failed", "response": None, "reason": "no answer"}
        second |= {"fate": "refused", "response": None, "reason": "a filter"}

    done = import_inspect([changed(log, tmp_path, sample=spoil)], tmp_path / "s")
    table = pq.read_table(tmp_path / "s" / "responses.parquet")
    assert table.num_rows == 56 - 4
    assert table["response"].null_count == 4
    assert done.stages[0].fates == {"answered": 48, "refused": 4, "failed": 4}
    assert done.notes == ("4 requests failed; they are missing",)


def test_what_failed_in_one_log_is_taken_from_the_other(log: Path, tmp_path: Path) -> None:
    def fail(sample: dict[str, Any]) -> None:
        answers_of(sample)[0].update(fate="failed", response=None)

    failed = changed(log, tmp_path, sample=fail)
    for number, order in enumerate(([log, failed], [failed, log])):
        assert imported(order, tmp_path / str(number + 50)).tables["responses"].num_rows == 56


def test_an_item_that_two_logs_answer_differently_is_a_conflict(log: Path, tmp_path: Path) -> None:
    other = changed(log, tmp_path, sample=lambda sample: answers_of(sample)[0].update(response="Another one."))
    said = refused([log, other], tmp_path, "LOG_CONFLICT")
    assert "sample 0" in said
    assert "Another one." in said


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (header("eval", model="openai/other"), "model"),
        (header("plan config", temperature=0.9), "setting"),
        (metadata(seed=2), "setting"),
        (metadata(benchmark="iris", dataset_revision="v1"), "benchmark"),
        (metadata(stratified=True), "stratified"),
    ],
)
def test_logs_of_different_runs_are_a_conflict(
    log: Path, tmp_path: Path, changes: Mapping[str, Change], says: str
) -> None:
    assert says in refused([log, changed(log, tmp_path, **changes)], tmp_path, "LOG_CONFLICT")


def test_the_mark_is_that_of_the_task_that_was_asked_least(log: Path, tmp_path: Path) -> None:
    both, one, whole = (
        read_log(changed(log, tmp_path, **metadata(tasks=tasks, limit=limit)))
        for tasks, limit in ((["a", "b"], 2), (["a"], 5), (["a", "b"], None))
    )
    assert limit_of([both]) == (2, False)
    assert limit_of([both, one]) == (2, False)
    assert limit_of([one]) == (5, False)
    assert limit_of([one, both, whole]) == (None, False)


def test_a_sample_of_the_data_is_marked_and_a_folder_is_not_named(log: Path, tmp_path: Path) -> None:
    def change(header: dict[str, Any]) -> None:
        header["eval"]["metadata"]["fairspace"].update(sample_data=True)
        header["eval"].update(model="vllm//home/alice/mine")

    found = imported([changed(log, tmp_path, header=change)], tmp_path / "s")
    assert found.meta.generation["sample_data"] is True
    assert found.meta.model == "mine"
    assert found.manifest is not None
    (stage,) = found.manifest.stages
    assert (stage.model, stage.settings["sample_data"]) == ("vllm/mine", True)


def field(name: str, value: Any) -> Mapping[str, Change]:
    def change(sample: dict[str, Any]) -> None:
        if sample["id"] == "llm_objective/cancer_incidence_rate/highest/race":
            answers_of(sample)[0][name] = value

    return {"sample": change}


HOSTILE: dict[str, tuple[Mapping[str, Change], str]] = {
    "another_task": (header("eval", metadata={}, task="gsm8k"), "gsm8k"),
    "metadata_is_a_text": (header("eval metadata", fairspace="x"), "fact_or_fair"),
    "unknown_benchmark": (metadata(benchmark="mmlu"), "mmlu"),
    "limit_is_a_text": (metadata(limit="2"), "limit"),
    "limit_is_zero": (metadata(limit=0), "limit"),
    "seed_is_huge": (metadata(seed=10**30), "seed"),
    "unknown_prefix": (metadata(prefix="rude"), "--prefix"),
    "tasks_are_a_number": (metadata(tasks=3), "tasks"),
    "many_tasks": (metadata(tasks=["a"] * 1000), "tasks"),
    "dataset_with_a_line_break": (metadata(datasets={"a\nb": "v1"}), "datasets"),
    "another_revision": (metadata(dataset_revision="v9"), "v9"),
    "a_judge": (metadata(table="judgements"), "fairspace judge"),
    "model_of_two_lines": (header("eval", model="a\nb"), "model"),
    "model_is_long": (header("eval", model="a" * 999), "model"),
    "time_is_odd": (header("stats", started_at="soon"), "soon"),
    "header_without_eval": ({"header": lambda header: header.pop("eval")}, "header"),
    "header_of_another_kind": (header("", eval=3), "header"),
    "commit_of_two_lines": (header("eval", revision={"type": "git", "origin": "", "commit": "a\nb"}), "commit"),
    "limit_of_inspect": (header("eval config", limit=4), "the task's own limit"),
    "sample_of_inspect": (header("eval config", sample_id="a"), "the task's own limit"),
    "more_samples": (header("eval dataset", samples=9), "the task's own limit"),
    "answers_are_a_text": (sample_metadata(answers="x"), "sample"),
    "answers_are_numbers": (sample_metadata(answers=[1]), "sample"),
    "prompts_are_no_hash": (sample_metadata(prompts="x"), "hash"),
    "prompts_are_missing": (sample_metadata(prompts=None), "hash"),
    "unknown_fate": (field("fate", "lost"), "fate"),
    "sample_is_negative": (field("sample", -1), "sample"),
    "sample_is_true": (field("sample", True), "sample"),
    "sample_out_of_range": (field("sample", 7), "SAMPLE_RANGE"),
    "tokens_are_negative": (field("input_tokens", -5), "input_tokens"),
    "response_is_a_number": (field("response", 3), "response"),
    "response_is_missing": (field("response", None), "answered"),
    "response_with_nul": (field("response", "a\0b"), "NUL"),
    "response_with_half_a_character": (field("response", "\ud800"), "JSON"),
    "refused_with_a_text": (field("fate", "refused"), "refused"),
    "unknown_id": (field("id", "llm_objective/none/highest/gender"), "UNKNOWN_ID"),
    "unknown_task": (field("task", "quiz"), "UNKNOWN_TASK"),
    "task_of_images": (field("task", "t2i_objective"), "WRONG_TABLE"),
    "id_is_a_path": (field("id", "../../../etc/passwd"), "UNKNOWN_ID"),
    "id_steers_the_terminal": (field("id", "\x1b[2J\u202e"), "UNKNOWN_ID"),
    "no_answers": (sample_metadata(answers=[]), "no answer"),
    "epoch_0": ({"sample": lambda sample: sample.update(epoch=0)}, "epoch"),
    "epoch_2": ({"sample": lambda sample: sample.update(epoch=2)}, "epoch"),
    "epoch_is_a_text": ({"sample": lambda sample: sample.update(epoch="2")}, "epoch"),
    "no_epoch": ({"sample": lambda sample: sample.update(epoch=None)}, "epoch"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_log_is_refused(log: Path, tmp_path: Path, name: str) -> None:
    changes, says = HOSTILE[name]
    assert says in refused([changed(log, tmp_path, **changes)], tmp_path, "LOG_INVALID")


def test_the_same_item_twice_in_a_log_is_a_conflict(log: Path, tmp_path: Path) -> None:
    def repeat(sample: dict[str, Any]) -> None:
        sample["metadata"]["answers"].append(answers_of(sample)[0] | {"response": "Another one."})

    assert "Another one." in refused([changed(log, tmp_path, sample=repeat)], tmp_path, "LOG_CONFLICT")


@pytest.mark.parametrize("cut", [10, 100, 5000])
def test_a_truncated_log_is_refused(log: Path, tmp_path: Path, cut: int) -> None:
    (tmp_path / "log.eval").write_bytes(log.read_bytes()[:-cut])
    refused([tmp_path / "log.eval"], tmp_path, "LOG_INVALID")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"text", os.urandom(4096)])
def test_what_is_no_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log.eval").write_bytes(content)
    refused([tmp_path / "log.eval"], tmp_path, "LOG_INVALID")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 1_000_000, b'{"metadata":' * 100_000, b"\xff", b"NaN"])
def test_a_broken_sample_is_refused(log: Path, tmp_path: Path, content: bytes) -> None:
    made = tmp_path / "log.eval"
    made.write_bytes(log.read_bytes())
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("samples/x_epoch_1.json", content)
    refused([made], tmp_path, "LOG_INVALID")


def test_a_damaged_byte_is_found_by_the_checksum(log: Path, tmp_path: Path) -> None:
    plain = changed(log, tmp_path)
    with zipfile.ZipFile(plain) as archive:
        info = next(info for info in archive.infolist() if info.filename.startswith("samples/"))
    data = bytearray(plain.read_bytes())
    data[info.header_offset + 60 + len(info.filename)] ^= 0xFF
    plain.write_bytes(data)
    assert "cannot be read" in refused([plain], tmp_path, "LOG_INVALID")


def test_a_large_member_that_is_not_read_is_none_of_our_business(log: Path, tmp_path: Path) -> None:
    made = changed(log, tmp_path)
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("reductions.json", bytes(65 << 20))
    assert imported([made], tmp_path / "s").tables["responses"].num_rows == 56


def test_a_header_of_many_parts_is_bounded_as_a_whole(log: Path, tmp_path: Path) -> None:
    made = changed(log, tmp_path)
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"_journal/config_updates/{number}.json", b"[]" + b" " * (30 << 20))
    assert "at most 67,108,864 bytes in all" in refused([made], tmp_path, "LOG_INVALID")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_a_bomb_is_refused_before_it_is_read_or_cut_off_where_it_lies_about_its_size(
    log: Path, tmp_path: Path, method: int
) -> None:
    made = changed(log, tmp_path)
    with zipfile.ZipFile(made, "a", method) as archive, archive.open("samples/x_epoch_1.json", "w") as member:
        for _ in range(80):
            member.write(bytes(1 << 20))
    assert "at most 67,108,864" in refused([made], tmp_path, "LOG_INVALID")
    data = bytearray(made.read_bytes())
    entry = data.rfind(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    made.write_bytes(data)
    assert "cannot be read" in refused([made], tmp_path, "LOG_INVALID")


@pytest.mark.parametrize("name", ["nothing.eval", "s3://bucket/log.eval", "log.txt", "."])
def test_only_logs_on_this_machine_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "log.txt").write_text("x")
    refused([tmp_path / name], tmp_path, "LOG_INVALID")
