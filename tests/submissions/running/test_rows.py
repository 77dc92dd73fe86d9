import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.names import HUB, taken_names
from fairspace.submissions.running import rows
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.evaluating import open_all
from fairspace.submissions.running.planning import GPU, PlanLine, Size, local, made_parts, plan
from tests.submissions.running.local import tiny_models

KINDS, MODELS = rows.LIST["kinds"], rows.LIST["models"]


def test_the_list_has_twenty_open_models_with_stated_estimates() -> None:
    assert len(MODELS) == 20
    for name, about in MODELS.items():
        assert HUB.fullmatch(name)
        assert not taken_names(name, "not stated")
        asked, size = KINDS[about["kind"]], about["parameters"] * 1e9
        lines = [PlanLine("", "x", False, 0, 0, asked["requests"], 0, asked["input"], asked["output"])]
        lines += [PlanLine("", "x", True, 0, 0, asked["images"], 0)] if asked["images"] else []
        kind = "" if "denoiser" in about else "janus"
        of = Size(size, about.get("denoiser", 0) * 1e9 or size, 2 * size, kind)
        seconds = sum(local(line, of, GPU, f"?steps={about.get('steps', '')}") for line in lines)
        assert about["hours"] == float(f"{seconds / 3600:.2g}"), name
        assert about["gb"] == float(f"{2.4 * about['parameters']:.2g}"), name


def test_each_kind_has_cores_that_exist_and_their_requests() -> None:
    for kind, about in KINDS.items():
        cores = {core: core.split("@") for core in (*about["answers"], *about["makes"])}
        assert all(revision in benchmark(name).revisions for name, revision in cores.values())
        made = [made_parts(ChosenPart(cores[core][0], dataset_revision=cores[core][1])) for core in about["makes"]]
        assert sum(len(part.positions) for parts in made for part in parts) == about["images"], kind
    lines = [line for opened in open_all(core=True) for line in plan(opened, "x") if line.model]
    language = KINDS["language model"]
    assert sum(line.requests for line in lines) == language["requests"]
    assert sum(line.input for line in lines) == pytest.approx(language["input"], rel=0.01)
    assert sum(line.output for line in lines) == pytest.approx(language["output"], rel=0.01)


def test_wanted_models_come_from_a_file_and_hostile_names_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "wanted.json"

    def wanted(*models: object, state: str = "asked") -> dict[str, object]:
        asked = [{"model": model, "benchmarks": ["genres"], "state": state} for model in models]
        file.write_text(json.dumps({"models": asked}))
        return dict(rows.wanted_models([f"@{file}"]))

    assert wanted("a/b", "c/d") == {"a/b": ["genres"], "c/d": ["genres"]}
    assert wanted("a/b", state="on the board") == {}
    assert list(rows.wanted_models([])) == list(MODELS)
    assert rows.wanted_models(["./own", "a/b"]) == {"./own": (), "a/b": ()}
    for name in ("../../etc", "./own", "/etc", "a/b@c", "http://a/b", "a/b/c", "-x/y", "a/b\n", 5):
        with pytest.raises(SystemExit, match="is no model"):
            wanted(name)
    for text in ("[]", "{", '{"models": [5]}'):
        file.write_text(text)
        with pytest.raises(SystemExit, match="no answer of /api/v1/wanted"):
            rows.wanted_models([f"@{file}"])


def killed(*about: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.process
def test_a_killed_process_is_a_failure_of_its_core_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rows, "run_core", killed)
    assert rows.main([next(iter(MODELS))]) == 1
    assert capfd.readouterr().err.count(rows.KILLED) == 3


@pytest.mark.slow
@pytest.mark.process
def test_rows_go_on_after_a_kill_and_past_a_model_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "0")
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        tiny_models.chat(tmp_path / name, ["A", "B"])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    words = ["./one", "./broken", "./two", "./none", "--limit", "1"]
    first = subprocess.Popen([sys.executable, "-m", rows.__name__, *words], start_new_session=True)
    journal = tmp_path / "rows" / "one" / "fact_or_fair-v2-core" / "submission.run"
    while not journal.exists():
        assert first.poll() is None
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    monkeypatch.setitem(KINDS["language model"], "answers", ["fact_or_fair@v2-core"])
    assert rows.main(words) == 1
    out, err = capfd.readouterr()
    assert "./one, fact_or_fair@v2-core: done" in out
    assert "./two, fact_or_fair@v2-core: done" in out
    assert "Failed: ./broken, fact_or_fair@v2-core: RunError: MODEL_UNKNOWN" in err
    assert "Failed: ./none: TOOL_MISSING" in err
    results = {path: path.read_bytes() for path in tmp_path.glob("rows/*/*/result.json")}
    assert {json.loads(text)["meta"]["model"] for text in results.values()} == {"one", "two"}
    (tmp_path / "one" / "model.safetensors").unlink()  # whoever opens it again fails
    assert rows.main(["./one", "./two", "--limit", "1"]) == 0
    assert {path: path.read_bytes() for path in results} == results
