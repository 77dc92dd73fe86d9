"""`report --paper` of GENRES and stereotypical bias: printed rows, own levels, and what one result cannot make."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fairspace.builders.registry import figures
from fairspace.submissions.report.paper import write_paper
from fairspace.submissions.results.scoring import score_submission
from tests.scored_baselines import baseline

pytestmark = pytest.mark.slow
HEADS = ("Model", "Evaluator", "Relationship", "Attribute", "Scenario", "source", "notes")
FILES = {"genres": {"2": "2", "3": "3and12", "12": "3and12", "4": "4and13", "13": "4and13"}}


@pytest.mark.parametrize("name", ["genres", "stereotypical_bias"])
def test_printed_rows_are_the_papers_and_own_ones_are_the_levels(name: str, tmp_path: Path) -> None:
    result = score_submission(baseline("random", name), resamples=100)
    files = write_paper([result], tmp_path)
    printed, shown = Counter[object](), Counter[object]()
    for figure in figures(name):
        number = figure.table.removeprefix("Table ")
        at = FILES.get(name, {}).get(number, number)
        printed[at, figure.model, float(figure.printed or "nan")] += figure.value is not None
    own = []
    for file in (file for file in files if file.suffix == ".csv"):
        at = file.stem.removeprefix("tables").removeprefix("table")
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            if row["source"] == "own":
                own.append(row)
                continue
            cells = (cell for head, cell in row.items() if head not in HEADS)
            shown.update((at, row["Model"], float(cell)) for cell in cells if cell not in ("", "–"))
    assert +printed == shown
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "Not made" in page
    if name == "genres":
        level, row = result.values["M3_male_cs"], next(row for row in own if row.get("Relationship") == "CS")
        assert level.interval is not None
        shown_level = [row[f"# subject Male{end}"] for end in ("", " low", " high")]
        assert shown_level == [f"{number:.2f}" for number in (level.value or 0.0, *level.interval)]
        assert "Figure 7." in page
    else:
        assert len(own) == 6
        assert "nurse: 87.9% women" in page
        text = f"female: {result.values['share_gender_occupation_nurse_female'].value:.3f}"
        assert text in (tmp_path / "figure3.svg").read_text(encoding="utf-8")
