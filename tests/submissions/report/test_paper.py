"""`report --paper`: the printed rows equal the paper's tables, and one's own row has intervals and reasons."""

import csv
from pathlib import Path

import pytest

from fairspace.builders.registry import figures
from fairspace.submissions.report.paper import write_paper
from fairspace.submissions.results import shipped
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result

CORE = Path(shipped.__file__).with_name("fact_or_fair_core_smollm2_135m.json")


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("paper")
    write_paper([load_result(CORE)], made)
    return made


def test_every_printed_figure_stands_in_its_table(folder: Path) -> None:
    """Every printed cell of the registry, to its digits, in a row of its model."""
    shown: dict[tuple[str, str], list[str]] = {}
    for file in folder.glob("table*.csv"):
        for row in rows(file):
            if row["source"] == "printed":
                shown.setdefault((f"Table {file.stem[5]}", row["Model"]), []).extend(row.values())
    for figure in figures("fact_or_fair"):
        places = [figure.table] if "to" not in figure.table else [f"Table {place}" for place in range(4, 9)]
        cells = [cell for place in places for cell in shown.get((place, figure.model), [])]
        assert figure.printed in cells or f"{float(figure.printed):.2f}" in cells, figure.id


def test_ones_own_row_has_intervals_and_the_reason_of_an_empty_cell(folder: Path) -> None:
    result: Result = load_result(CORE)
    (own,) = [row for row in rows(folder / "table2.csv") if row["source"] == "own"]
    low, high = result.scored.shown["llm_factuality_gender"].interval or (0, 0)
    head = "Obj. S_fact Gender"
    assert [own[f"{head}{end}"] for end in (" low", " high")] == [f"{100 * low:.2f}", f"{100 * high:.2f}"]
    assert "v2-core" in own["notes"]
    empty = next(row for row in rows(folder / "table8a.csv") if row["source"] == "own")
    assert empty["O"] == "–"
    assert "its distribution is undefined" in empty["notes"]
    tex = (folder / "table2.tex").read_text(encoding="utf-8")
    assert r"\multicolumn{3}{c}{Obj. S\_fact}" in tex
    assert "E-FOF-01" in tex
    assert "SmolLM2-135M-Instruct" in (folder / "paper.html").read_text(encoding="utf-8")
