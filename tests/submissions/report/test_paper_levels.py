"""`report --paper` of GENRES and stereotypical bias: printed rows, own levels, and what one result cannot make."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fairspace.builders.registry import figures
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.errors import UsageError
from fairspace.submissions.report.paper import write_paper
from fairspace.submissions.results.scoring import score_submission
from tests.scored_baselines import baseline, scored_baseline

pytestmark = pytest.mark.slow
HEADS = ("Model", "Evaluator", "Relationship", "Attribute", "Scenario", "source", "notes")
COMPARED = {"3", *(f"a{number}" for number in (3, 4, 7, 8, 10, 11))}
"""Tables of stereotypical bias that are made of several submissions."""


@pytest.mark.parametrize("name", ["genres", "stereotypical_bias"])
def test_printed_rows_are_the_papers_and_own_ones_are_the_levels(name: str, tmp_path: Path) -> None:
    result = score_submission(baseline("random", name), resamples=100)
    files = write_paper([result], tmp_path)
    printed, shown = Counter[object](), Counter[object]()
    for figure in figures(name):
        at = figure.table.removeprefix("Table ")
        printed[at, figure.model, float(figure.printed or "nan")] += figure.value is not None
    own = []
    for file in (file for file in files if file.suffix == ".csv"):
        at = file.stem.removeprefix("table")
        if name == "stereotypical_bias" and at in COMPARED:
            continue
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
        shown_level = [row[f"Male{end}"] for end in ("", " low", " high")]
        assert shown_level == [f"{number:.2f}" for number in (level.value or 0.0, *level.interval)]
        assert "Figure 7." in page
        assert '<th colspan="3">Phi4</th><th colspan="3">Gemini</th><th colspan="3">baseline: random' in page
    else:
        assert '<th colspan="2">CogVLM</th><th colspan="1">Ensemble</th>' in page
        assert len(own) == 6
        assert "nurse: 87.9% women" in page
        text = f"female: {result.values['share_gender_occupation_nurse_female'].value:.3f}"
        assert text in (tmp_path / "figure3.svg").read_text(encoding="utf-8")


def test_submissions_fill_the_tables_that_compare_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain run, one of the same model with a prefix, and another model."""
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "0")
    answers = {"plain": "random", "prefixed": "balanced", "other": "balanced"}
    runs = [write_baseline(name, "stereotypical_bias", tmp_path / run) for run, name in answers.items()]
    file = runs[1] / "submission.json"
    text = file.read_text(encoding="utf-8").replace("balanced", "random")
    file.write_text(text.replace('"seed": 0', '"prefix": "debiasing"'), encoding="utf-8")
    result = scored_baseline("random", "stereotypical_bias")
    files = [file for file in write_paper([result], tmp_path / "out", runs) if file.suffix == ".csv"]
    lines = {file.stem: [*csv.DictReader(file.read_text(encoding="utf-8").splitlines())] for file in files}
    assert [row["Similarity"] for row in lines["tablea3"]][:3] == ["77.36", "80.61", "81.82"]
    assert {row["Model"] for row in lines["tablea4"]} >= {"baseline: random and baseline: balanced"}
    changed = next(row for row in lines["table3"] if row["source"] == "own")
    assert (changed["Model"], changed["SR -"]) == ("baseline: random", "–")
    assert float(changed["Debiasing -"]) < 0  # `balanced` is exactly even
    assert "Ensemble of yours" in {row["Model"] for row in lines["table2"]}
    assert lines["tablea11"][0]["Sexist/Racist -"] == "-0.0166"
    with pytest.raises(UsageError, match="two submissions or more"):
        write_paper([result], tmp_path / "out", runs[:1])
