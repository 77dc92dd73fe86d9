import json
import math
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairspace.submissions import verifying
from fairspace.submissions.commands.app import app
from fairspace.submissions.verifying import Recomputed, printed_tables
from tests import oracles
from tests.oracles import __main__ as running
from tests.oracles import fact_or_fair, libraries
from tests.oracles.comparison import Comparison, Verification, of_paper

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
