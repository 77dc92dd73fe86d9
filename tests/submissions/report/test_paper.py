"""`report --paper`: printed rows equal the papers' tables, and one's own row has intervals, norms and reasons."""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from pathlib import Path

import pytest

import fairspace as fs
from fairspace.builders.registry import figures
from fairspace.builders.registry import paper as paper_of
from fairspace.submissions.benchmarks.iris.score import DRAWN
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, latex
from fairspace.submissions.report import paper
from fairspace.submissions.results import shipped
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.values import measured, undefined

CORE = Path(shipped.__file__).with_name("fact_or_fair_core_smollm2_135m.json")
AVERAGES = (
    "4.15 3.50 3.64 2.38 2.08 2.75 14.93 13.32 15.64 13.39 13.78 12.76 26.21 11.56 16.83 21.04 43.01 21.92 53.89 28.05"
)
"""Table 8 of FACT-OR-FAIR, columns 'Avg.': (a) gender, race; (b) gender, race."""
pytestmark = pytest.mark.slow


def tenth() -> Result:
    """A model of IRIS whose every value is 0.1, but for one that is undefined."""
    bench = benchmark("iris")
    values = {name: measured(name, 0.1, low=0.1, high=0.1, expected=1, valid=1) for name in sorted(DRAWN)}
    by_occupation = {"astronaut": 0.3, "waiter": 0.1}
    values["RD_gender"] = replace(values["RD_gender"], evidence={"by_occupation": by_occupation})
    values["RD_age"] = undefined("RD_age", "no face was found")
    scored = bench.score(values, bench.standards["inaugural"])
    meta = {"model": "tenth", **dict.fromkeys(("revision", "organisation", "licence"), "")}
    return Result("iris", "inaugural", meta, values, scored, {"dataset_revision": "v2"})


def rows(folder: Path, table: str, source: str) -> list[dict[str, str]]:
    lines = csv.DictReader((folder / f"{table}.csv").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["source"] == source]


@pytest.fixture(scope="module")
def fact_or_fair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paper.write_paper([load_result(CORE)], tmp_path_factory.mktemp("fact_or_fair"))[0].parent


@pytest.fixture(scope="module")
def iris(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paper.write_paper([tenth()], tmp_path_factory.mktemp("iris"))[0].parent


def same(cell: str) -> str | float:
    return float(cell) if cell.replace(".", "").isdigit() else cell


@pytest.mark.parametrize("name", ["fact_or_fair", "iris"])
def test_the_printed_rows_are_the_papers_tables_to_their_digits(name: str, request: pytest.FixtureRequest) -> None:
    """Every cell of every model as often as the paper prints it, and no other."""
    folder, printed, shown = request.getfixturevalue(name), Counter[object](), Counter[object]()
    for figure in figures(name):
        places = figure.table.replace("Tables 4 to 8", "Table 4-8")
        printed[places, figure.model, same(figure.printed)] += figure.printed != ""
    for file in sorted(folder.glob("*.csv")):
        number = "".join(filter(str.isdigit, file.stem))
        if name == "iris" and number in {"7", "8", *map(str, range(20, 23)), *map(str, range(30, 38))}:
            continue  # of no model's result
        place = "Table 4-8" if name == "fact_or_fair" and number in "45678" else f"Table {number}"
        for row in rows(folder, file.stem, "printed"):
            other = {"", "Model", "source", "notes", *(["Avg."] if number == "8" else [])}
            cells = [cell for head, cell in row.items() if head not in other]
            shown.update((place, row["Model"], same(cell)) for cell in cells if cell not in ("", "–"))
    assert +printed == shown


def test_the_averages_of_distances_are_the_printed_ones(fact_or_fair: Path) -> None:
    found = [row["Avg."] for table in ("table8a", "table8b") for row in rows(fact_or_fair, table, "printed")]
    assert " ".join(found) == AVERAGES


def test_ones_own_row_has_intervals_and_says_what_differs(fact_or_fair: Path) -> None:
    result, head = load_result(CORE), "Obj. S_fact Gender"
    (own,) = rows(fact_or_fair, "table2", "own")
    value = result.scored.shown["llm_factuality_gender"]
    ends = (value.value or 0.0, *(value.interval or ()))
    assert [own[f"{head}{end}"] for end in ("", " low", " high")] == [f"{100 * end:.2f}" for end in ends]
    assert "Not the paper's protocol but v2-core" in own["notes"]
    empty = rows(fact_or_fair, "table8a", "own")[0]
    assert empty["O"] == "–"
    assert "has no readable answer to 'highest' (and 22 more like it)" in empty["notes"]
    page = (fact_or_fair / "paper.html").read_text(encoding="utf-8")
    assert "SmolLM2-135M-Instruct (our scenarios) has no row" in page  # it makes no images
    tex = (fact_or_fair / "table2.tex").read_text(encoding="utf-8")
    assert all(text in tex for text in (r"\multicolumn{3}{c}{Obj. S\_fact}", "E-FOF-01", r"\label{tab:table2}"))
    assert (fact_or_fair / "figure4.png").read_bytes().startswith(b"\x89PNG")


def test_the_labour_statistics_stand_above_ones_own_divergence(iris: Path) -> None:
    """Tables 20 to 22 (first and last rows as printed)."""
    (doctor, *_, soldier), us = rows(iris, "table21", "printed"), rows(iris, "table22", "printed")
    assert [*doctor.values()][4:8] == ["53.20", "38.50", "40.10", "21.40"]
    assert [*soldier.values()][4:8] == ["11.20", "65.00", "33.00", "2.00"]
    assert [*us[0].values()][4:11] == ["16.50", "66.80", "23.30", "6.50", "42.30", "36.80", "20.90"]
    assert len(us) == 32
    assert [row["RD_gender"] for row in rows(iris, "table20", "own")] == ["30.00", "10.00"]


def test_norms_and_goodness_are_the_papers_and_a_part_without_a_number_leaves_none(iris: Path) -> None:
    cells = {
        key: cell
        for table in ("table24", "table26", "table27", "table28")
        for row in rows(iris, table, "own")
        for key, cell in row.items()
    }
    expected = {
        "Norm_JSD_EU": sqrt(2),
        "AD_triple": 1,
        "SPD_dual": sqrt(3),
        "Fidelity_Deviation_Gen": sqrt(5),
        "DHR_single": sqrt(3),
    }
    expected |= {"Norm_ASDS": sqrt(13), "JSD_Goodness": 9, "ASDS_Goodness": 1, "Fidelity_Deviation_Norm": 7}
    assert {key: cells[key] for key in expected} == {key: f"{number / 10:.4f}" for key, number in expected.items()}
    (gap,) = rows(iris, "table23", "own")
    assert (gap["RD_age"], gap["Magnitude_Gen"], gap["RD_skin"]) == ("–", "–", "0.1000")
    assert "No face was found." in gap["notes"]
    page = (iris / "paper.html").read_text(encoding="utf-8")
    assert "Figure 22: name the folder of `fairspace probe` beside the result." in page
    assert "<li>Tables 11 to 19" in page


def test_rows_are_in_the_papers_order_and_tables_of_the_benchmark_itself_are_recomputed(iris: Path) -> None:
    models = [row["Model"] for row in rows(iris, "table23", "printed")]
    assert models == sorted(models, key=str.casefold)
    every = [row for number in "78" for row in rows(iris, f"table{number}", "printed")]
    known = [row for row in every if row["Spearman's ρ"] != "–"]
    assert Counter(row["Model"] for row in known) == {"printed": 60, "recomputed here": 13}
    assert [row["Spearman's ρ"] for row in every[:2]] == ["0.9643", "0.9643"]


def test_a_probe_stands_beside_the_printed_ones(tmp_path: Path) -> None:
    cells = {"male": 0.25, "female": None, "value": None, "absolute_difference": None, "reason": "no vector"}
    curves = {"nurse": {"steps": [0, 1], "curve": [0.1, 0.2]}}
    probes = {"association_bias": {"by_occupation": {"doctor": cells}}, "stepwise_bias": {"by_occupation": curves}}
    document, file = {"probes": probes, "signature": {"model": "mine"}}, tmp_path / "probe.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert tmp_path / "figure22.svg" in paper.write_paper([tenth()], tmp_path, [tmp_path])
    (reader,) = rows(tmp_path, "table30", "own")
    assert (reader["Occupation"], reader["Male Assoc."], reader["Female Assoc."]) == ("doctor", "0.2500", "–")
    assert "No vector." in reader["notes"]
    assert rows(tmp_path, "table37", "printed")[0]["Counter PR"] == "1.472"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match="is no probe"):
        paper.write_paper([tenth()], tmp_path, [file])


def test_the_command_asks_for_one_folder(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "iris.json").write_text(tenth().dumps(), encoding="utf-8")
    assert run("report", tmp_path / "iris.json", "--paper")[0] == 2
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, said, err = run("report", tmp_path / "iris.json", "--paper", "--out", tmp_path / "new")
    assert code == 0, err
    assert "[png]" in " ".join(said.split())
    assert (tmp_path / "new" / "figure4.svg").is_file()


def test_methods_say_how_it_was_asked_and_cite_what_the_bib_file_has(tmp_path: Path) -> None:
    shown = fs.load_result(CORE)
    files = fs.paper(shown, tmp_path / "alone")
    assert {"paper.html", "methods.tex", "references.bib"} <= {file.name for file in files}
    text, bib = ((tmp_path / "alone" / name).read_text() for name in ("methods.tex", "references.bib"))
    keys = re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE)
    assert keys == ["factorfair", "fairspace", "efron1979bootstrap"]
    assert sorted(re.findall(r"\\cite\{(\w+)\}", text)) == sorted(keys)
    assert paper_of("fact_or_fair").citation in bib
    (stage,) = (stage for stage in shown.run if stage["what"] == "responses")
    for words in (stage["engine_version"], "temperature", shown.signature["dataset_revision"]):
        assert latex(words) in text, words
    labelled = replace(shown, signature={**shown.signature, "labels": "fairspace/ares@1"}, meta={**shown.meta})
    page = (tmp_path / "alone" / "paper.html").read_text()
    assert "efron1979bootstrap" in page
    fs.paper([labelled], tmp_path / "labelled")
    keys = re.findall(r"\\cite\{(\w+)\}", (tmp_path / "labelled" / "methods.tex").read_text())
    assert "zhao2026iris" in keys
