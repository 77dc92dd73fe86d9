"""Output of commands reaches a console of any encoding, and a file whole or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.submissions.format import writing

Run = Callable[..., tuple[int, str, str]]
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
    ran = "fs.run(lambda prompt: 'A', 'fact_or_fair', revision='v2-core', limit=1, tasks=['llm_objective'])"
    words = [sys.executable, "-c", f"import fairspace as fs; {ran if asked else measured}"]
    done = subprocess.run(words, env={**os.environ, **away}, capture_output=True, text=True)
    assert done.returncode == int(asked)
    assert not asked or "Set HF_HOME, XDG_CACHE_HOME, XDG_DATA_HOME to a folder that can be written." in done.stderr
