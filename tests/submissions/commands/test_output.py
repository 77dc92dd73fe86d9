"""Output of commands reaches a console of any encoding, and a file whole or not at all."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairspace.builders import writing
from tests.submissions.conftest import Run

SHIPPED = Path(__file__).parents[3] / "submissions" / "results" / "shipped"
COMMAND = [sys.executable, "-c", "from fairspace.submissions.commands.main import main; main()"]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    told = json.loads(next(SHIPPED.glob("fact_or_fair_core*.json")).read_text(encoding="utf-8"))
    told["meta"]["model"] = "通义千问"
    file = tmp_path / "result.json"
    file.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    return file


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "C"])
@pytest.mark.parametrize("words", [["score"], ["score", "--json"], ["report"]])
def test_a_sign_that_the_console_lacks_is_replaced(encoding: str, words: list[str], result: Path) -> None:
    named = {"PYTHONIOENCODING": encoding} if encoding != "C" else {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [*COMMAND, *words, result], env={**os.environ, **named, "PYTHONUTF8": "0"}, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if "--json" in words:
        assert json.loads(done.stdout.decode("ascii"))["meta"]["model"] == "通义千问"
    elif words == ["score"]:
        assert "???? on FACT-OR-FAIR" in done.stdout.decode(encoding.replace("C", "ascii"))
        assert b">=0." in done.stdout


@pytest.mark.parametrize(
    "words", [["score", "--out", "r.json"], ["report", "--out", "r.html"], ["report", "--eee", "r"]]
)
def test_a_full_disk_leaves_the_earlier_file_and_a_sentence(
    words: list[str], result: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(path: Path, data: str, encoding: str) -> None:
        path.write_bytes(data.encode(encoding)[:100])
        raise OSError(28, "No space left on device")

    out = tmp_path / words[2]
    (out if words[1] == "--out" else tmp_path / "other").write_text("earlier")
    monkeypatch.setattr(Path, "write_text", full)
    code, _, said = run(words[0], result, words[1], out)
    assert code == 2
    assert "No space left on device." in said
    assert words[2] in said
    left = {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file != result}
    assert set(left.values()) == {b"earlier"}


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def write() -> None:
        with writing.beside(tmp_path / "mine") as place:
            place.mkdir()
            (place / "a").write_text("a")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="mine"):
        write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
@pytest.mark.parametrize("asked", [True, False])
def test_a_home_that_cannot_be_written_is_named_or_not_needed(asked: bool, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    away = dict.fromkeys(("HOME", "HF_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(tmp_path / "file" / "home"))
    measured = "fs.measure({'g': ['a', 'b'] * 5}, 'representation_disparity', predictions='g', groups=['a', 'b'])"
    ran = "fs.run(lambda prompt: 'A', 'fact_or_fair', dataset_revision='v2-core', limit=1, tasks=['llm_objective'])"
    words = [sys.executable, "-c", f"import fairspace as fs; {ran if asked else measured}"]
    done = subprocess.run(words, env={**os.environ, **away}, capture_output=True, text=True)
    assert done.returncode == int(asked)
    assert not asked or "Set HF_HOME, XDG_CACHE_HOME, XDG_DATA_HOME to a folder that can be written." in done.stderr


SMALL = 16 << 10
"""Bytes that a file may have in the test below; a result, a page and a submission have more."""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize(
    "words",
    [
        ["score", "RESULT", "--out", "OUT"],
        ["report", "RESULT", "--out", "OUT.html"],
        ["report", "RESULT", "--paper", "--out", "paper"],
        ["baseline", "random", "--benchmark", "genres", "--out", "new"],
        ["items", "genres", "--out", "items"],
    ],
)
def test_a_disk_that_takes_no_more_ends_every_command_that_writes_with_a_sentence(
    words: list[str], result: Path, tmp_path: Path
) -> None:
    """A limit on the size of files is the system's own EFBIG, with nothing replaced by a test."""
    earlier = [tmp_path / name for name in ("OUT", "OUT.html", "paper/paper.html", "items/narrative.parquet")]
    for file in earlier:
        file.parent.mkdir(exist_ok=True)
        file.write_text("earlier")
    limited = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({SMALL}, {SMALL})); {COMMAND[-1]}"
    told = [str(result) if word == "RESULT" else word for word in words]
    # -B: CPython 3.11 puts a compiled file that the limit cut off in its place, where every later process finds it.
    done = subprocess.run([sys.executable, "-Bc", limited, *told], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "fairspace: EFBIG at " in done.stderr
    assert "Traceback" not in done.stderr
    assert {file.read_text() for file in earlier} == {"earlier"}
    assert not [file for file in tmp_path.rglob("*") if ".part" in file.name or file.name == "new"]


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_kill_while_a_file_is_written_leaves_the_earlier_one_and_the_next_command_mends(tmp_path: Path) -> None:
    writes = "from fairspace.builders.writing import beside; from pathlib import Path; import os, signal\n"
    writes += "with beside(Path('r.json')) as place: place.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    (tmp_path / "r.json").write_text("earlier")
    assert subprocess.run([sys.executable, "-c", writes], cwd=tmp_path).returncode == -signal.SIGKILL
    assert (tmp_path / "r.json").read_text() == "earlier"
    writing.write_text(tmp_path / "r.json", "new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("r.json", "new")]


IMPORTING = """
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
    done = subprocess.run([sys.executable, "-c", IMPORTING, *map(str, words)], capture_output=True, text=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("words", ["--help", "--version", "run --help", "score --help", "leaderboard serve --help"])
def test_help_imports_nothing_heavy_and_no_benchmark(words: str) -> None:
    modules = imported(*words.split())
    assert HEAVY & modules == set()
    assert words != "--help" or "pydantic" not in modules  # for the help of one command, typer imports it
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
