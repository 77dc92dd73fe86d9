import pytest

from fairspace.metrics.cognitive_error_rate.formula import (
    BASELINES,
    KINDS,
    average_increase,
    increase,
)
from tests.metrics.tables import rows

UNCERTAIN = {("LLaMA-3.2", "gender"): 9.01, ("Qwen-2.5", "gender"): 9.49}
"""Cells that the published table gives as 10.1 and 10.49; the mean of their own row is this; E-FOF-06."""
COLUMNS = dict(zip(KINDS, ("rep_high", "rep_low", "attr", "ingroup", "outgroup"), strict=True))


def test_baselines_are_what_a_blind_model_reaches() -> None:
    for attribute, k in (("gender", 2), ("race", 4)):
        for kind in KINDS:
            expected = 1 - 1 / k if kind == "outgroup" else 1 / k
            assert BASELINES[attribute][kind] == expected


@pytest.mark.parametrize("row", rows("fof_table3_cognitive_errors"), ids=lambda row: row["model"])
@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_average_increase_reproduces_table_3(row: dict[str, str], attribute: str) -> None:
    rates = {kind: float(row[f"{column}_{attribute}"]) / 100 for kind, column in COLUMNS.items()}
    increases = [increase((rate,) * 3, BASELINES[attribute][kind]) for kind, rate in rates.items()]
    found = 100 * average_increase(increases)[0]
    if (row["model"], attribute) in UNCERTAIN:
        assert found == pytest.approx(UNCERTAIN[row["model"], attribute], abs=0.005)
    else:
        # The mean of five rates printed to 0.01 is off by at most 0.005, and so is its own rounding.
        assert found == pytest.approx(float(row[f"avg_increase_{attribute}"]), abs=0.0101)
