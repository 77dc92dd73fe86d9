from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

import fairspace as fs

FOLDER = Path(__file__).parents[2] / "notebooks"
MOST_LINES = 15


def test_every_benchmark_has_a_notebook() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(fs.BENCHMARKS)


@pytest.mark.slow
@pytest.mark.usefixtures("asked_at_once")
@pytest.mark.parametrize("name", fs.BENCHMARKS)
def test_a_notebook_goes_from_items_to_a_figure(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "100")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert len([line for cell in cells for line in cell.splitlines() if line.strip()]) <= MOST_LINES
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"{name}.ipynb, cell {number}", "exec"), names)
    figure = names["figure"].document()
    assert "95 % interval" in figure
    assert "undefined" not in figure
