import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairspace.submissions import verifying
from fairspace.submissions.commands.app import app
from fairspace.submissions.verifying import Recomputed, difference, printed_tables, within_digits
from tests import oracles
from tests.oracles import __main__ as running
from tests.oracles import fact_or_fair, libraries
from tests.oracles.comparison import Comparison, Verification, compare, of_paper
from tests.oracles.report import WIDTH, document, lines, number

PAGE = Path(__file__).parents[3] / "cards" / "verification.md"
ERRATA = (PAGE.parent / "errata.md").read_text(encoding="utf-8")


def test_every_printed_table_follows_or_has_an_erratum() -> None:
    comparisons = [*map(of_paper, printed_tables())]
    assert not Verification(tuple(comparisons)).unlisted
    listed = {row.departure for row in comparisons if row.departure}
    assert all(f"## {name}\n" in ERRATA for name in listed)
    assert all(row.verdict == row.departure for row in comparisons if row.departure)  # an erratum is no licence


def test_an_oracle_agrees_on_damaged_answers() -> None:
    oracle = fact_or_fair.ORACLES[0]
    comparisons, without = oracles.against_text(("damaged",), (oracle,))
    assert {row.verdict for row in comparisons} == {"equal"}
    assert all(math.isfinite(row.difference) for row in comparisons)
    assert sum(row.undefined for row in comparisons) == 0
    assert without == {f"{oracle.benchmark.title} {oracle.revision}": ()}


def test_a_fault_in_a_score_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "entropy_score", lambda counts, missing: (0.5, 0.5, 0.5))
    assert {row.scorer for row in libraries.against_scipy() if row.verdict != "equal"} == {"S_E"}


def test_formulas_agree_with_scipy_and_fairlearn() -> None:
    comparisons, skipped = libraries.comparisons()
    assert not skipped
    assert {(row.source, row.verdict) for row in comparisons} == {("SciPy", "equal"), ("fairlearn", "equal")}


def test_without_fairlearn_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fairlearn.metrics", None)
    monkeypatch.setattr(libraries, "DRAWS", 1)
    comparisons, skipped = libraries.comparisons()
    assert {row.source for row in comparisons} == {"SciPy"}
    assert "not installed" in skipped["fairlearn"]


@pytest.mark.slow
def test_every_oracle_agrees_and_is_on_the_committed_page() -> None:
    """Drawn answers to every revision; to the newest ones also those with cells that nothing answers."""
    newest = tuple(oracle for oracle in oracles.ORACLES if oracle.revision == oracle.benchmark.revisions[0])
    older = tuple(oracle for oracle in oracles.ORACLES if oracle not in newest)
    comparisons = [
        *oracles.against_text(("drawn",), older)[0],
        *oracles.against_text(("drawn", "empty groups"), newest)[0],
    ]
    assert not Verification(tuple(comparisons)).unlisted
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert {row.scorer for row in comparisons if row.scorer not in page} == set()


def test_an_unlisted_difference_ends_the_run_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Comparison("oracles", "IRIS", "RD", "drawn", "the text", 7, 0.5)
    monkeypatch.setattr(running, "verify", lambda clones, say: Verification((row,)))
    out = tmp_path / "verification.md"
    assert running.main(["--out", str(out)]) == 1
    assert "DIFFERS: IRIS, RD, drawn" in capsys.readouterr().out
    assert "DIFFERS: IRIS, RD, drawn" in out.read_text(encoding="utf-8")


def test_the_command_ends_with_1_if_a_printed_table_does_not_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = CliRunner().invoke(app, ["verify", "--json"])
    assert ended.exit_code == 0
    assert len(json.loads(ended.stdout)["tables"]) == len(list(printed_tables()))
    row = Recomputed("IRIS", "IFS_Gen score", "Table 23", 7, 0.5, 0.01)
    monkeypatch.setattr(verifying, "printed_tables", lambda: [row])
    ended = CliRunner().invoke(app, ["verify", "--json"])
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["tables"][0]["verdict"] == "DIFFERS"


ROW = Comparison("oracles", "IRIS", "RD", "drawn", "the text", 7, 2e-16)


def test_a_number_that_one_side_alone_has_differs_without_limit() -> None:
    assert difference(0.25, 0.5) == 0.25
    assert difference(None, math.nan) == difference(math.inf, math.inf) == 0
    assert difference(1.0, None) == difference(math.nan, 0.0) == math.inf


def test_a_difference_above_its_bound_is_named_or_fails() -> None:
    assert ROW.verdict == "equal"
    assert replace(ROW, difference=2e-9).verdict == "DIFFERS"
    assert replace(ROW, difference=2e-9, departure="E-IRIS-03").verdict == "E-IRIS-03"
    assert replace(ROW, departure="E-IRIS-03").verdict == "equal"
    whole = Verification((ROW, replace(ROW, scorer="AD", difference=math.inf)))
    assert [row.scorer for row in whole.unlisted] == ["AD"]


def test_numbers_are_compared_by_scorer() -> None:
    ours = {"RD_gender": 0.5, "RD_age": 0.25, "AD_gender": None}
    theirs = {"RD_gender": 0.5, "RD_age": 0.5, "AD_gender": math.nan, "AD_age": 1.0}
    rows = list(compare("oracles", "IRIS", "drawn", "the text", ours, theirs, lambda name: name[:2]))
    assert [(row.scorer, row.count, row.undefined, row.difference) for row in rows] == [
        ("RD", 2, 0, 0.25),
        ("AD", 2, 1, math.inf),
    ]


def test_printed_cells_are_split_by_erratum_and_the_worst_decides() -> None:
    cells = [(1.0, 1.0, 0.1, ""), (1.0, 1.05, 0.1, ""), (1.0, 1.05, 0.01, ""), (1.0, 3.0, 0.1, "E-FOF-01")]
    rows = list(within_digits("FACT-OR-FAIR", "Table 5", "S_fair", cells))
    assert [(row.count, row.bound, row.verdict) for row in rows] == [(3, 0.01, "DIFFERS"), (1, 0.1, "E-FOF-01")]


def test_the_report_fits_a_terminal_and_is_the_same_on_every_processor() -> None:
    rows = (
        replace(
            ROW, part="printed", data="Tables 13-15", scorer="cognitive error increase", difference=12.5, bound=0.1
        ),
        ROW,
        replace(ROW, difference=3e-17),
        replace(ROW, difference=math.inf, departure="E-GENRES-07", undefined=3),
    )
    whole = Verification(
        rows, {"the code": "no clone " * 20}, {"the code": ("change " * 30,)}, {"IRIS": ("x" * 40,) * 3}
    )
    text = lines(whole)
    assert max(map(len, text)) <= WIDTH
    assert number(0.0) == number(3e-17) == number(2e-16) == "<1e-10"
    assert {"equal, drawn, drawn: RD (14 numbers)", "E-GENRES-07: RD, drawn one side"} <= {*text}
    assert "DIFFERS: IRIS, cognitive error increase" in " ".join(text)
    assert "Listed departures: E-GENRES-07" in " ".join(text)
    assert document(whole).startswith("# Verification")


@pytest.mark.parametrize("value", [1e-9, 0.5, 1e9])
def test_larger_differences_are_printed_with_two_digits(value: float) -> None:
    assert float(number(value)) == value
