import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import json, sys
sys.argv = ["fairspace", *sys.argv[1:]]
from fairspace.submissions.commands.main import main
try:
    main()
finally:
    sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""
HEAVY = {
    "datasets",
    "diffusers",
    "evaluate",
    "gradio",
    "httpx",
    "huggingface_hub",
    "inspect_ai",
    "jinja2",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "scipy",
    "sentence_transformers",
    "spacy",
    "starlette",
    "torch",
    "transformers",
}
PAGES = {"gradio", "huggingface_hub", "jinja2", "starlette", "httpx", "inspect_ai", "torch", "transformers"}


def imported(*words: object) -> set[str]:
    done = subprocess.run([sys.executable, "-c", COMMAND, *map(str, words)], capture_output=True, text=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_of_all_commands_imports_no_pydantic() -> None:
    assert "pydantic" not in imported("--help")  # for the help of one command, typer imports it


@pytest.mark.parametrize("words", ["--help", "--version", "run --help", "score --help", "leaderboard serve --help"])
def test_help_imports_nothing_heavy_and_no_benchmark(words: str) -> None:
    modules = imported(*words.split())
    assert HEAVY & modules == set()
    assert not [name for name in modules if name.endswith(".declaration")]
    assert not [name for name in modules if name.startswith("fairspace.leaderboard_space")]


@pytest.mark.slow
def test_score_imports_no_statistics_before_it_has_read_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAIRSPACE_RESAMPLES", raising=False)  # a number of resamples is checked first
    (tmp_path / "submission.json").write_text("{}")
    modules = imported("score", tmp_path)
    assert "pyarrow" in modules
    assert {"scipy", *PAGES} & modules == set()


@pytest.mark.slow
def test_a_scored_submission_opened_no_page_and_no_model(tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    imported("baseline", "constant", "--benchmark", "fact_or_fair", "--out", demo)
    modules = imported("score", demo, "--resamples", 100, "--out", tmp_path / "result.json")
    assert (tmp_path / "result.json").is_file()
    assert PAGES & modules == set()
    assert not [name for name in modules if name.startswith("fairspace.leaderboard_space")]
    others = {name.split(".")[3] for name in modules if name.endswith(".declaration")}
    assert others == {"fact_or_fair"}
