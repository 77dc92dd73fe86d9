import json
from pathlib import Path

import pytest

from fairspace.submissions.running.asking.models import ModelSettings, read_name
from tests.served import Served
from tests.submissions.conftest import Run
from tests.submissions.running.local import tiny_models

FACTS = ("eval", "--benchmark", "fact_or_fair", "--core", "--limit", 2)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_one_command_goes_from_a_server_to_reports_and_asks_nothing_twice(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Served.start() as served:
        monkeypatch.setenv("SERVER_API_KEY", served.key)
        named = ("--model", f"{served.url}#m", "--judge", f"{served.url}#judge")
        words = ("eval", "--core", "--limit", 2, "--out", "out", *named)
        out = run.fine(*words)
        assert "fact_or_fair v2-core: 16 of 2,478 requests; stereotypical_bias v2-core: 4 of" in " ".join(out.split())
        folders = [
            here / "out" / name for name in ("fact_or_fair-v2-core", "stereotypical_bias-v2-core", "genres-v2-core")
        ]
        kept = {"submission", "submission.run", "result.json", "report.html"}
        for folder in folders:
            assert {path.name for path in folder.iterdir()} == kept
            assert f"Report: {folder.relative_to(here) / 'report.html'}" in out
        assert [*(folders[2] / "submission").glob("judgements.*")]
        first, before = [(folder / "result.json").read_text() for folder in folders], served.requests()
        assert json.loads(first[0])["meta"]["model"] == "m"
        (folders[0] / "report.html").unlink()
        run.fine(*words)
        assert served.requests() == before
        assert [(folder / "result.json").read_text() for folder in folders] == first
        assert (folders[0] / "report.html").exists()
        assert str(served.url) not in (folders[0] / "submission" / "manifest.json").read_text()


@pytest.mark.slow
def test_a_folder_and_a_function_are_evaluated_and_a_judge_is_not_needed(run: Run, here: Path) -> None:
    tiny_models.chat(here / "my-model", ["A", "B"])
    out = run.fine(*FACTS, "--model", "my-model", "-M", "max_tokens=2", "-M", "device=cpu")
    assert "my-model-eval/fact_or_fair-v2-core/report.html" in out
    (here / "own.py").write_text("def answer(prompt):\n    return 'A'\n")
    told = ("--seed", 5, "--about", "model=Mine", "--about", "licence=MIT")
    out = run.fine("eval", "--benchmark", "genres", "--limit", 1, "--model", "own.py:answer", *told)
    meta = json.loads((here / "own.py-answer-eval" / "genres" / "submission" / "submission.json").read_text())
    assert (meta["model"], meta["licence"], meta["generation"]["seed"]) == ("Mine", "MIT", 5)
    assert "name one with --judge MODEL" in " ".join(out.split())
    assert (here / "own.py-answer-eval" / "genres" / "result.json").exists()


@pytest.mark.parametrize(
    ("named", "name", "address"),
    [
        ("openai/gpt-4o", "openai/gpt-4o", ""),
        ("./m", "local/./m", ""),
        ("~/m", "local/~/m", ""),
        ("runs/m.GGUF", "local/./runs/m.GGUF", ""),
        ("local/./m", "local/./m", ""),
        ("own.py:f", "python/own.py:f", ""),
        ("python/own.py:f", "python/own.py:f", ""),
        ("http://h:8/v1#org/m", "openai-api/server/org/m", "http://h:8/v1"),
        ("", "", ""),
    ],
)
def test_a_model_is_named_as_people_name_it(named: str, name: str, address: str) -> None:
    assert read_name(named) == (name, address)
    settings = ModelSettings(named)
    assert (settings.name, settings.base_url) == (name, address)


def test_a_plan_asks_nothing_names_no_private_folder_and_knows_who_sees(run: Run, here: Path) -> None:
    (here / "own.py").write_text("def blind(prompt, seed):\n    raise SystemExit\ndef seeing(prompt, images): ...\n")
    plan = ("eval", "--dry-run", "--core", "--limit", 14, "--data", "built", "--model")
    out = run.fine(*plan, here / "own.py:blind")
    assert "python/own.py:blind takes no pictures" in " ".join(out.split())
    assert "llm_objective by python/own.py:blind: 42 of 198 requests; " in out
    asked = [line.partition(" by ")[0] for line in out.splitlines() if " by " in line]
    assert asked == ["llm_objective", "llm_subjective", "language_gender", "language_race", "narrative"]
    assert str(here) not in out
    assert {path.name for path in here.iterdir()} <= {"own.py", "__pycache__"}
    assert "takes no pictures" not in run(*plan, "own.py:seeing")[1]
