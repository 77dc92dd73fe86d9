import json
import math

import numpy as np
import pingouin
import pytest
from typer.testing import CliRunner

from fairspace.builders.registry import table
from fairspace.submissions.commands.app import app
from fairspace.submissions.standards.validation import (
    HYBRID,
    PURE,
    alpha,
    correlations,
    leave_one_out,
    published_cohort,
    reweighted,
    validate,
    welch,
)


def test_alpha_by_hand() -> None:
    # items 1, 2, 3 and 2, 4, 6: variances 1 and 4, sums 3, 6, 9 with variance 9: 2 * (1 - 5/9) = 8/9
    assert alpha(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])) == pytest.approx(8 / 9)
    assert alpha(np.array([[1.0, -1.0], [2.0, -2.0]])) != alpha(np.array([[1.0, 1.0], [2.0, 2.0]]))
    for undefined in (np.ones((1, 3)), np.ones((3, 1)), np.ones((3, 3))):
        assert math.isnan(alpha(undefined))


def test_alpha_equals_pingouins() -> None:
    import pandas as pd

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


def test_ten_per_cent_on_any_printed_weight_keeps_rho_above_the_papers_096() -> None:
    found = reweighted(published_cohort())
    assert len(found) == 2 * (3 + 6 + 13)
    assert min(one["rho"] for one in found if one["rho"] is not None) > 0.96


def test_welch_between_the_papers_architectures_is_near_the_printed_p() -> None:
    found = welch(published_cohort().total)
    assert (found["first"], found["second"], found["sizes"]) == (HYBRID, PURE, [5, 2])
    assert found["p"] == pytest.approx(0.7532, abs=5e-5)  # Figure 4(d) prints 0.76
    assert found["printed"] == 0.76


def test_correlations_of_the_papers_distances_are_the_printed_ones_to_their_digits() -> None:
    """Section 4.2: -0.80 and 0.57, of magnitudes; scores would give -0.795 and 0.618."""
    found = {(one["first"], one["second"]): one for one in correlations(published_cohort())}
    assert found["RFS_Gen", "BIS_Gen"]["r"] == pytest.approx(-0.8019, abs=5e-5)
    assert found["RFS_Gen", "IFS_Und"]["r"] == pytest.approx(0.5686, abs=5e-5)
    printed = [one for one in found.values() if one["printed"] is not None]
    assert [one["printed"] for one in printed] == [-0.80, 0.57]
    assert [round(one["r"] or 0, 2) for one in printed] == [-0.80, 0.57]


def test_alphas_of_the_sectors_printed_in_full_are_above_07_and_the_others_are_undefined() -> None:
    found = {one["sector"]: one for one in validate()["reliability"]}
    assert found["IFS_Gen"]["alpha"] == pytest.approx(0.9001, abs=5e-5)
    assert found["RFS_Gen"]["alpha"] == pytest.approx(0.8473, abs=5e-5)
    for sector in ("BIS_Gen", "IFS_Und", "RFS_Und", "BIS_Und"):
        assert found[sector]["alpha"] is None
        assert "one by one" in found[sector]["reason"]


def test_the_command_prints_the_printed_figures_beside() -> None:
    text = CliRunner().invoke(app, ["verify"]).output
    for told in ("0.9286", "47 not printed one by one", "0.76"):
        assert told in text
    found = json.loads(CliRunner().invoke(app, ["verify", "--json"]).output)["validation"]
    assert len(found["leave_one_out"]) == 60
