"""`report --paper`: printed rows equal the papers' tables, and one's own row has intervals, norms and levels."""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import sqrt
from pathlib import Path

import pytest

import fairspace as fs
from fairspace.builders.registry import figures
from fairspace.builders.registry import paper as paper_of
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.iris.score import DRAWN
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, latex
from fairspace.submissions.report import paper
from fairspace.submissions.results import shipped
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result, score_submission
from fairspace.submissions.values import measured, undefined
from tests.scored_baselines import baseline, scored_baseline
from tests.submissions.conftest import Run

CORE = Path(shipped.__file__).with_name("fact_or_fair_core_smollm2_135m.json")
AVERAGES = (
    "4.15 3.50 3.64 2.38 2.08 2.75 14.93 13.32 15.64 13.39 13.78 12.76 26.21 11.56 16.83 21.04 43.01 21.92 53.89 28.05"
)
"""Table 8 of FACT-OR-FAIR, columns 'Avg.': (a) gender, race; (b) gender, race."""
OTHER_TABLES = {
    "fact_or_fair": set[str](),
    "iris": {"7", "8", *map(str, (*range(20, 23), *range(30, 38)))},
    "genres": set[str](),
    "stereotypical_bias": {"3", *(f"a{number}" for number in (3, 4, 7, 8, 10, 11))},
}
"""Benchmark -> its tables of no model's result, or of several submissions."""
HEADS = ("", "Model", "Evaluator", "Relationship", "Attribute", "Scenario", "source", "notes")
Written = Callable[[str], tuple[Result, Path]]
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
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A result of a benchmark, and the folder of its paper's tables."""

    @cache
    def write(name: str) -> tuple[Result, Path]:
        if name in ("iris", "fact_or_fair"):
            result = tenth() if name == "iris" else load_result(CORE)
        else:
            result = score_submission(baseline("random", name), resamples=100)
        return result, paper.write_paper([result], tmp_path_factory.mktemp(name))[0].parent

    return write


def number_or_text(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell


@pytest.mark.parametrize("name", OTHER_TABLES)
def test_the_printed_rows_are_the_papers_tables_to_their_digits(name: str, written: Written) -> None:
    """Every cell of every model as often as the paper prints it, and no other."""
    folder, printed, shown = written(name)[1], Counter[object](), Counter[object]()
    for figure in figures(name):
        place = figure.table.replace("Tables 4 to 8", "Table 4-8").removeprefix("Table ")
        if figure.printed and (name in ("iris", "fact_or_fair") or figure.value is not None):
            printed[place, figure.model, number_or_text(figure.printed)] += 1
    for file in sorted(folder.glob("*.csv")):
        place = file.stem.removeprefix("table")
        if name == "fact_or_fair":
            place = "4-8" if place[0] in "45678" else place[0]
        if place in OTHER_TABLES[name]:
            continue
        heads = {*HEADS, *(["Avg."] if file.stem.startswith("table8") else [])}
        for row in rows(folder, file.stem, "printed"):
            cells = [cell for head, cell in row.items() if head not in heads]
            shown.update((place, row["Model"], number_or_text(cell)) for cell in cells if cell not in ("", "–"))
    assert printed == shown


def test_own_rows_of_genres_are_the_levels(written: Written) -> None:
    result, folder = written("genres")
    level = result.values["M3_male_cs"]
    own = [row for file in folder.glob("*.csv") for row in rows(folder, file.stem, "own")]
    row = next(row for row in own if row.get("Relationship") == "CS")
    ends = (level.value or 0.0, *(level.interval or ()))
    assert [row[f"Male{end}"] for end in ("", " low", " high")] == [f"{number:.2f}" for number in ends]
    page = (folder / "paper.html").read_text(encoding="utf-8")
    assert all(words in page for words in ("Not made", "Figure 7."))
    assert '<th colspan="3">Phi4</th><th colspan="3">Gemini</th><th colspan="3">baseline: random' in page


def test_own_rows_of_stereotypical_bias_are_the_levels(written: Written) -> None:
    result, folder = written("stereotypical_bias")
    tables = [file.stem for file in folder.glob("*.csv")]
    compared = OTHER_TABLES["stereotypical_bias"]
    assert sum(len(rows(folder, table, "own")) for table in tables if table.removeprefix("table") not in compared) == 6
    page = (folder / "paper.html").read_text(encoding="utf-8")
    assert all(words in page for words in ("Not made", "nurse: 87.9% women"))
    assert '<th colspan="2">CogVLM</th><th colspan="1">Ensemble</th>' in page
    text = f"female: {result.values['share_gender_occupation_nurse_female'].value:.3f}"
    assert text in (folder / "figure3.svg").read_text(encoding="utf-8")


def test_the_averages_of_distances_are_the_printed_ones(written: Written) -> None:
    fact_or_fair = written("fact_or_fair")[1]
    found = [row["Avg."] for table in ("table8a", "table8b") for row in rows(fact_or_fair, table, "printed")]
    assert " ".join(found) == AVERAGES


def test_ones_own_row_has_intervals_and_says_what_differs(written: Written) -> None:
    fact_or_fair = written("fact_or_fair")[1]
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


def test_the_labour_statistics_stand_above_ones_own_divergence(written: Written) -> None:
    """Tables 20 to 22 (first and last rows as printed)."""
    iris = written("iris")[1]
    (doctor, *_, soldier), us = rows(iris, "table21", "printed"), rows(iris, "table22", "printed")
    assert [*doctor.values()][4:8] == ["53.20", "38.50", "40.10", "21.40"]
    assert [*soldier.values()][4:8] == ["11.20", "65.00", "33.00", "2.00"]
    assert [*us[0].values()][4:11] == ["16.50", "66.80", "23.30", "6.50", "42.30", "36.80", "20.90"]
    assert len(us) == 32
    assert [row["RD_gender"] for row in rows(iris, "table20", "own")] == ["30.00", "10.00"]


def test_norms_and_goodness_are_the_papers_and_a_part_without_a_number_leaves_none(written: Written) -> None:
    iris = written("iris")[1]
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


def test_rows_are_in_the_papers_order_and_tables_of_the_benchmark_itself_are_recomputed(written: Written) -> None:
    iris = written("iris")[1]
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


def test_the_command_asks_for_one_folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "iris.json").write_text(tenth().dumps(), encoding="utf-8")
    run.refused(2, "report", tmp_path / "iris.json", "--paper")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert "[png]" in run.fine("report", tmp_path / "iris.json", "--paper", "--out", tmp_path / "new")
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


def test_submissions_fill_the_tables_that_compare_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain run, one of the same model with a prefix, and another model."""
    monkeypatch.setenv("FAIRSPACE_RESAMPLES", "0")
    answers = {"plain": "random", "prefixed": "balanced", "other": "balanced"}
    runs = [write_baseline(name, "stereotypical_bias", tmp_path / run) for run, name in answers.items()]
    file = runs[1] / "submission.json"
    text = file.read_text(encoding="utf-8").replace("balanced", "random")
    file.write_text(text.replace('"seed": 0', '"prefix": "debiasing"'), encoding="utf-8")
    result = scored_baseline("random", "stereotypical_bias")
    out = paper.write_paper([result], tmp_path / "out", runs)[0].parent
    assert [row["Similarity"] for row in rows(out, "tablea3", "printed")][:3] == ["77.36", "80.61", "81.82"]
    assert {row["Model"] for row in rows(out, "tablea4", "own")} >= {"baseline: random and baseline: balanced"}
    changed = rows(out, "table3", "own")[0]
    assert (changed["Model"], changed["SR -"]) == ("baseline: random", "–")
    assert float(changed["Debiasing -"]) < 0  # `balanced` is exactly even
    assert "Ensemble of yours" in {row["Model"] for row in rows(out, "table2", "own")}
    assert rows(out, "tablea11", "printed")[0]["Sexist/Racist -"] == "-0.0166"
    with pytest.raises(UsageError, match="two submissions or more"):
        paper.write_paper([result], tmp_path / "out", runs[:1])
