from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fairspace as fs

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(autouse=True)
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "100")
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("asked_at_once")
def test_the_examples_of_the_library_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in blocks("LIBRARY.md"):
        exec(compile(block, "LIBRARY.md", "exec"), names)
    assert "UNKNOWN_ID at answers row 0: 'llm_objective/" in capsys.readouterr().out
    assert names["same"].values == names["result"].values
    assert set(names["comparison"].to_frame()["model"]) == {"always B"}


@pytest.mark.slow
def test_the_first_example_scores_plots_and_exports_within_fifteen_lines(where: Path) -> None:
    (code,) = (block for block in blocks("README.md") if "fs.run" in block)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    exec(compile(code, "README.md", "exec"), {})
    assert (where / "figure.svg").read_text(encoding="utf-8").startswith("<svg")
    assert r"\toprule" in (where / "table.tex").read_text(encoding="utf-8")


def test_every_function_is_on_the_page_and_says_what_it_takes() -> None:
    page = (ROOT / "LIBRARY.md").read_text(encoding="utf-8")
    for name in set(fs.__all__) - {"__version__", "Answers", "Comparison", "Result", "RunError", "UsageError"}:
        assert f"fs.{name}" in page, name
        assert getattr(fs, name).__doc__
