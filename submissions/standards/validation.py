"""Validation of IRIS itself over its paper's models: reliability, robustness, distinctness, impartiality (section 4.1).

- `alpha`: Cronbach's alpha of a sector's normalised values (Figure 4(a));
- `leave_one_out`: Spearman correlation of the ranks without one metric with the ranks of all (A.2.2, Tables 7 and 8);
- `reweighted`: the same with the weight of a dimension, a sector or a metric up or down by 10 % (A.2.2, Figure 4(b));
- `correlations`: of the sectors' distances from the ideal (Figure 4(c));
- `welch`: t tests of the total between architectures (Figure 4(d)).

The paper prints single values of IFS_Gen, RFS_Gen and the success penalty only, and sums of the other sectors: results
that need more are undefined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.registry import table
from fairspace.metrics.iris_score.standards import FOUNDATIONAL_COHORT, GRANULAR, SECTORS

Floats = NDArray[np.float64]
Row = dict[str, Any]
"""One line of a check: its numbers, None where undefined, and `printed`, the paper's."""
CHANGE = 0.1
"""Change of a weight in A.2.2."""
PRINTED_ALPHA = {"BIS_Gen": 0.20}
"""Section 4.1 prints one alpha; the other sectors' lie above 0.7."""
PRINTED_CORRELATIONS = {("RFS_Gen", "BIS_Gen"): -0.80, ("RFS_Gen", "IFS_Und"): 0.57}
"""Section 4.2 prints two of Figure 4(c)."""
PRINTED_WELCH = 0.76
"""p of Figure 4(d), hybrid against purely autoregressive models (Table 4)."""
HYBRID, PURE = "hybrid", "purely autoregressive"
PRINTED_HYBRIDS = frozenset(("Bagel", "BLIP3-o", "Show-o", "UniWorld-V1", "VILA-U"))
"""Table 4's hybrid models among the seven."""


@dataclass(frozen=True)
class Cohort:
    """Models with the parts of their totals.

    Args:
        metrics: (m,) names of the metrics in the total's norm that every model has.
        sectors: (m,) the sector of each metric.
        squares: (n, m) squared normalised values.
        sector_squares: (n, 6) sums over all metrics of a sector, also of those not printed one by one.
    """

    metrics: tuple[str, ...]
    sectors: tuple[str, ...]
    squares: Floats
    sector_squares: Floats
    total: Floats


def published_cohort() -> Cohort:
    """The seven models of the paper, from Tables 3 and 23 to 28.

    Squared deviations are those of the fitted total (erratum E-IRIS-06): printed magnitudes, RFS_Und from its two
    norms, AC divided by 9.
    """
    by_table = {
        name: {row["model"]: row for row in table(name)}
        for name in (
            *("iris_table3_overall", "iris_table23_ifs_gen", "iris_table24_rfs_gen", "iris_table25_bis_gen"),
            *("iris_table26_ifs_und", "iris_table27_rfs_und", "iris_table28_bis_und"),
        )
    }

    def column(file: str, name: str) -> Floats:
        return np.array([float(by_table[file][model][name]) for model in FOUNDATIONAL_COHORT])

    rd = [name for name in by_table["iris_table23_ifs_gen"]["Bagel"] if name.startswith("RD_")]
    jsd = [name for name in by_table["iris_table24_rfs_gen"]["Bagel"] if name.startswith("JSD_")]
    known = {name: ("IFS_Gen", column("iris_table23_ifs_gen", name)) for name in rd}
    known |= {name: ("RFS_Gen", column("iris_table24_rfs_gen", name)) for name in jsd}
    known["Penalty_delta_GSR"] = ("BIS_Gen", column("iris_table25_bis_gen", "delta_GSR"))
    levels = [column("iris_table28_bis_und", f"AC_{level}") / 9 for level in ("single", "dual", "triple")]
    levels += [column("iris_table28_bis_und", f"DHR_{level}") for level in ("single", "dual", "triple")]
    norms = [column("iris_table27_rfs_und", name) for name in ("norm_JSD", "norm_ASDS")]
    sums: Mapping[str, Floats] = {
        "IFS_Gen": column("iris_table23_ifs_gen", "magnitude") ** 2,
        "RFS_Gen": column("iris_table24_rfs_gen", "magnitude") ** 2,
        "BIS_Gen": column("iris_table25_bis_gen", "magnitude") ** 2,
        "IFS_Und": column("iris_table26_ifs_und", "magnitude") ** 2,
        "RFS_Und": np.square(norms).sum(axis=0),
        "BIS_Und": np.square(levels).sum(axis=0),
    }
    return Cohort(
        tuple(known),
        tuple(sector for sector, _ in known.values()),
        np.stack([numbers**2 for _, numbers in known.values()], axis=1),
        np.stack([sums[sector] for sector in SECTORS], axis=1),
        column("iris_table3_overall", "iris_score"),
    )


def validate() -> dict[str, Any]:
    """All five checks over the paper's models, as JSON data: check -> rows; a number that is undefined is None."""
    cohort = published_cohort()
    models = len(FOUNDATIONAL_COHORT)
    notes = [
        f"The paper prints {len(cohort.metrics)} metrics of its models one by one and the others as sums over "
        "their sector; what needs single values of those is undefined here.",
        f"{models} models: alphas, correlations and tests over so few say little; a correlation of "
        f"ranks differs from 1 by {6 * 2 / (models * (models**2 - 1)):.4f} when two neighbours change places.",
    ]
    return {
        "models": list(FOUNDATIONAL_COHORT),
        "reliability": [_reliability(cohort, sector) for sector in SECTORS],
        "leave_one_out": leave_one_out(cohort),
        "reweighted": reweighted(cohort),
        "correlations": correlations(cohort),
        "welch": [welch(cohort.total)],
        "notes": notes,
    }


def alpha(items: Floats) -> float:
    """Cronbach's alpha of (n models, k items): k / (k - 1) * (1 - sum of item variances / variance of the sums).

    At most 1, and can be negative; nan with fewer than two models or items, or if the sums do not vary.
    """
    n, k = items.shape
    if n < 2 or k < 2:
        return math.nan
    whole = float(items.sum(axis=1).var(ddof=1))
    if not whole > 1e-18:
        return math.nan
    return k / (k - 1) * (1 - float(items.var(axis=0, ddof=1).sum()) / whole)


def _reliability(cohort: Cohort, sector: str) -> Row:
    mine = [place for place, place_sector in enumerate(cohort.sectors) if place_sector == sector]
    row = {"sector": sector, "metrics": len(mine), "alpha": None, "reason": "", "printed": PRINTED_ALPHA.get(sector)}
    whole = cohort.squares[:, mine].sum(axis=1)
    if not mine or not np.allclose(whole, cohort.sector_squares[:, SECTORS.index(sector)], atol=5e-3):
        return row | {"reason": "not every value of the sector is known one by one"}
    return row | {"alpha": alpha(np.sqrt(cohort.squares[:, mine]))}


def leave_one_out(cohort: Cohort) -> list[Row]:
    """Ranks without each of the 60 metrics against the ranks with all; rho is None without the metric's values."""
    base = cohort.sector_squares.sum(axis=1)
    printed = {row["metric_removed"]: float(row["spearman_rho"]) for row in table("iris_table7_8_loo")}
    squares = dict(zip(cohort.metrics, cohort.squares.T, strict=True))
    return [
        _stability(metric.name, -1.0, base, squares.get(metric.name), printed.get(metric.name)) for metric in GRANULAR
    ]


def reweighted(cohort: Cohort) -> list[Row]:
    """The weight of each dimension (IFS, RFS, BIS), sector and metric up and down by `CHANGE`, each on its own."""
    of_sector = dict(zip(SECTORS, cohort.sector_squares.T, strict=True))
    parts = {
        dimension: np.sum([part for sector, part in of_sector.items() if sector.startswith(dimension)], axis=0)
        for dimension in dict.fromkeys(sector.partition("_")[0] for sector in SECTORS)
    }
    parts |= of_sector | dict(zip(cohort.metrics, cohort.squares.T, strict=True))
    base = cohort.sector_squares.sum(axis=1)
    return [_stability(name, change, base, part) for change in (CHANGE, -CHANGE) for name, part in parts.items()]


def _stability(changed: str, change: float, base: Floats, part: Floats | None, printed: float | None = None) -> Row:
    """Spearman's correlation of the squared distances with those in which a part weighs more or less."""
    from scipy import stats

    row = {"changed": changed, "change": change, "rho": None, "p": None, "printed": printed}
    if part is None:
        return row
    test = stats.spearmanr(base, base + change * part)
    return row | {"rho": float(test.statistic), "p": float(test.pvalue)}


def correlations(cohort: Cohort) -> list[Row]:
    """Correlations over the models of the norms of every two sectors, as in the authors' coverage analysis."""
    from scipy import stats

    distances = dict(zip(SECTORS, np.sqrt(cohort.sector_squares).T, strict=True))
    rows = []
    for first, second in combinations(SECTORS, 2):
        test, printed = stats.pearsonr(distances[first], distances[second]), PRINTED_CORRELATIONS.get((first, second))
        rows.append(
            {
                "first": first,
                "second": second,
                "r": float(test.statistic),
                "p": float(test.pvalue),
                "printed": printed,
            }
        )
    return rows


def welch(total: Floats) -> Row:
    """The test of the two architectures of the paper's models, (n,) totals in their order."""
    from scipy import stats

    is_hybrid = np.array([model in PRINTED_HYBRIDS for model in FOUNDATIONAL_COHORT])
    totals = total[is_hybrid], total[~is_hybrid]
    test = stats.ttest_ind(*totals, equal_var=False)
    return {
        "first": HYBRID,
        "second": PURE,
        "sizes": [len(part) for part in totals],
        "means": [float(part.mean()) for part in totals],
        "t": float(test.statistic),
        "df": float(test.df),
        "p": float(test.pvalue),
        "printed": PRINTED_WELCH,
    }
