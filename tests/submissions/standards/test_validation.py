import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fairspace.builders.registry import table
from fairspace.metrics.iris_score.standards import INAUGURAL
from fairspace.submissions.benchmarks.iris.validation import alpha, cohort_of, leave_one_out, published_cohort, validate
from fairspace.submissions.commands.app import app
from fairspace.submissions.results.board import scored_row
from tests.submissions.benchmarks.iris.results import iris_result


def test_alpha_by_hand() -> None:
    # items 1, 2, 3 and 2, 4, 6: variances 1 and 4, sums 3, 6, 9 with variance 9: 2 * (1 - 5/9) = 8/9
    assert alpha(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])) == pytest.approx(8 / 9)
    assert alpha(np.array([[1.0, -1.0], [2.0, -2.0]])) != alpha(np.array([[1.0, 1.0], [2.0, 2.0]]))
    for undefined in (np.ones((1, 3)), np.ones((3, 1)), np.ones((3, 3))):
        assert math.isnan(alpha(undefined))


def test_alpha_equals_pingouins() -> None:
    import pandas as pd
    import pingouin

    rng = np.random.default_rng(0)
    items = rng.random((8, 1)) + rng.random((8, 5))
    assert alpha(items) == pytest.approx(pingouin.cronbach_alpha(pd.DataFrame(items))[0])


def test_leaving_one_metric_out_reproduces_tables_7_and_8_where_values_are_printed() -> None:
    printed = {row["metric_removed"]: row for row in table("iris_table7_8_loo")}
    found = leave_one_out(published_cohort())
    known = [one for one in found if one["rho"] is not None]
    assert len(found) == 60
    assert [one["changed"] for one in known] == [*list(printed)[:13]]
    for one in known:
        assert one["rho"] == pytest.approx(float(printed[one["changed"]]["spearman_rho"]), abs=5e-5)
        assert one["p"] == pytest.approx(float(printed[one["changed"]]["p_value"]), abs=5e-5)


def test_alphas_of_the_sectors_printed_in_full_are_above_07_and_the_others_are_undefined() -> None:
    found = {one["sector"]: one for one in validate()["reliability"]}
    assert found["IFS_Gen"]["alpha"] == pytest.approx(0.9001, abs=5e-5)
    assert found["RFS_Gen"]["alpha"] == pytest.approx(0.8473, abs=5e-5)
    for sector in ("BIS_Gen", "IFS_Und", "RFS_Und", "BIS_Und"):
        assert found[sector]["alpha"] is None
        assert "one by one" in found[sector]["reason"]


def test_the_command_prints_the_printed_figures_beside() -> None:
    text = CliRunner().invoke(app, ["verify"]).output
    for figure in ("0.9286", "47 are not known", "0.76", "E-IRIS-22", "7 cannot be recomputed"):
        assert figure in text
    found = json.loads(CliRunner().invoke(app, ["verify", "--json"]).output)["validation"]
    assert len(found["leave_one_out"]) == 60


def test_complete_results_have_every_check(tmp_path: Path) -> None:
    """Every check has its number or a reason; too few results and a lacking value are errors."""
    levels = (0.1, 0.2, 0.0)
    made = [iris_result(f"m{n}", "lab", level, RD_gender=0.3 * n) for n, level in enumerate(levels)]
    files = [tmp_path / f"{n}.json" for n in range(3)]
    for file, result in zip(files, made, strict=True):
        file.write_text(result.dumps(), encoding="utf-8")
    answer = CliRunner().invoke(app, ["verify", "--results", *map(str, files), "--json"])
    checks = json.loads(answer.stdout)["validation"]
    assert [row["rho"] is not None or row["reason"] != "" for row in checks["leave_one_out"]] == [True] * 63
    totals = cohort_of([scored_row(result, "inaugural") for result in made], INAUGURAL).total
    assert totals == pytest.approx([result.scored.scores["iris_score"].value for result in made])
    assert [row["alpha"] is None for row in checks["reliability"]] == [False] * 6
    assert (checks["welch"][0]["p"], checks["welch"][0]["reason"][:8]) == (None, "it needs")
    two = CliRunner().invoke(app, ["verify", "--results", *map(str, files[:2])])
    assert "RESULTS_FEW at iris/inaugural: 2 complete models" in str(two.exception)
    files[0].write_text(iris_result("m", "lab", RD_gender=float("nan")).dumps(), encoding="utf-8")
    lacking = CliRunner().invoke(app, ["verify", "--results", *map(str, files)])
    assert "RESULTS_INCOMPLETE at m: 1 values have no number, first RD_gender" in str(lacking.exception)
