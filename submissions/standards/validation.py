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
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.registry import table
from fairspace.metrics.iris_score.standards import FOUNDATIONAL_COHORT, GRANULAR, SECTORS

Floats = NDArray[np.float64]
CHANGE = 0.1
"""Change of a weight in A.2.2."""
LEAST = 3
"""Least number of models for ranks and correlations."""
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
        models: (n,) names.
        metrics: (m,) names of the metrics in the total's norm that every model has.
        sectors: (m,) the sector of each metric.
        squares: (n, m) squared normalised values.
        sector_squares: (n, 6) sums over all metrics of a sector, also of those not printed one by one.
        total: (n,) the overall score.
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    sectors: tuple[str, ...]
    squares: Floats
    sector_squares: Floats
    total: Floats
    architecture: tuple[str, ...]


@dataclass(frozen=True)
class Reliability:
    """Alpha of one sector: None if undefined, with the reason; `printed` is the paper's."""

    sector: str
    metrics: int
    alpha: float | None
    reason: str = ""
    printed: float | None = None


@dataclass(frozen=True)
class Stability:
    """Ranks after one change against those before: rho and its p value, None if undefined; `printed` is the paper's."""

    changed: str
    change: float
    rho: float | None
    p: float | None
    printed: float | None = None


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation of the distances of two sectors, None if one does not vary; `printed` is the paper's."""

    first: str
    second: str
    r: float | None
    p: float | None
    printed: float | None = None


@dataclass(frozen=True)
class Welch:
    """Welch's t test of the total between two architectures; None where a group has fewer than two models."""

    first: str
    second: str
    sizes: tuple[int, int]
    means: tuple[float, float]
    t: float | None
    df: float | None
    p: float | None
    printed: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Validation:
    """Results of all five checks over a cohort."""

    models: tuple[str, ...]
    reliability: tuple[Reliability, ...]
    leave_one_out: tuple[Stability, ...]
    reweighted: tuple[Stability, ...]
    correlations: tuple[Correlation, ...]
    welch: tuple[Welch, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        return asdict(self)


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
        FOUNDATIONAL_COHORT,
        tuple(known),
        tuple(sector for sector, _ in known.values()),
        np.stack([numbers**2 for _, numbers in known.values()], axis=1),
        np.stack([sums[sector] for sector in SECTORS], axis=1),
        column("iris_table3_overall", "iris_score"),
        tuple(HYBRID if model in PRINTED_HYBRIDS else PURE for model in FOUNDATIONAL_COHORT),
    )


def validate(cohort: Cohort) -> Validation:
    """All five checks over a cohort of at least three models. ValueError for a smaller one."""
    models = len(cohort.models)
    if models < LEAST:
        raise ValueError(f"{models} models; ranks and correlations need at least three")
    notes = (
        f"The paper prints {len(cohort.metrics)} metrics of its models one by one and the others as sums over "
        "their sector; what needs single values of those is undefined here.",
        f"{models} models: alphas, correlations and tests over so few say little; a correlation of "
        f"ranks differs from 1 by {6 * 2 / (models * (models**2 - 1)):.4f} when two neighbours change places.",
    )
    return Validation(
        cohort.models,
        tuple(_reliability(cohort, sector) for sector in SECTORS),
        tuple(leave_one_out(cohort)),
        tuple(reweighted(cohort)),
        tuple(correlations(cohort)),
        tuple(welch(cohort)),
        notes,
    )


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


def _reliability(cohort: Cohort, sector: str) -> Reliability:
    mine = [place for place, place_sector in enumerate(cohort.sectors) if place_sector == sector]
    printed = PRINTED_ALPHA.get(sector)
    whole = cohort.squares[:, mine].sum(axis=1)
    if not mine or not np.allclose(whole, cohort.sector_squares[:, SECTORS.index(sector)], atol=5e-3):
        return Reliability(sector, len(mine), None, "not every value of the sector is known one by one", printed)
    consistency = alpha(np.sqrt(cohort.squares[:, mine]))
    if math.isnan(consistency):
        return Reliability(sector, len(mine), None, "the values do not vary", printed)
    return Reliability(sector, len(mine), consistency, printed=printed)


def leave_one_out(cohort: Cohort) -> list[Stability]:
    """Ranks without each of the 60 metrics against the ranks with all; rho is None without the metric's values."""
    base = cohort.sector_squares.sum(axis=1)
    printed = {row["metric_removed"]: float(row["spearman_rho"]) for row in table("iris_table7_8_loo")}
    places = {name: place for place, name in enumerate(cohort.metrics)}
    return [
        _stability(name, -1.0, base, base - cohort.squares[:, places[name]], printed.get(name))
        if name in places
        else Stability(name, -1.0, None, None, printed.get(name))
        for name in (metric.name for metric in GRANULAR)
    ]


def reweighted(cohort: Cohort) -> list[Stability]:
    """The weight of each dimension (IFS, RFS, BIS), sector and metric up and down by `CHANGE`, each on its own."""
    dimensions = dict.fromkeys(sector.partition("_")[0] for sector in SECTORS)
    base = cohort.sector_squares.sum(axis=1)
    outcomes = []
    for sign in (1.0, -1.0):
        for dimension in dimensions:
            mine = [i for i, sector in enumerate(SECTORS) if sector.partition("_")[0] == dimension]
            part = cohort.sector_squares[:, mine].sum(axis=1)
            outcomes.append(_stability(dimension, sign * CHANGE, base, base + sign * CHANGE * part))
        for place, sector in enumerate(SECTORS):
            part = cohort.sector_squares[:, place]
            outcomes.append(_stability(sector, sign * CHANGE, base, base + sign * CHANGE * part))
        for place, metric in enumerate(cohort.metrics):
            part = cohort.squares[:, place]
            outcomes.append(_stability(metric, sign * CHANGE, base, base + sign * CHANGE * part))
    return outcomes


def _stability(changed: str, change: float, before: Floats, after: Floats, printed: float | None = None) -> Stability:
    """Spearman's correlation of two distances; undefined if all models are alike."""
    from scipy import stats

    if np.ptp(before) == 0 or np.ptp(after) == 0:
        return Stability(changed, change, None, None, printed)
    correlation = stats.spearmanr(before, after)
    return Stability(changed, change, float(correlation.statistic), float(correlation.pvalue), printed)


def correlations(cohort: Cohort) -> list[Correlation]:
    """Correlations over the models of the norms of every two sectors, as in the authors' coverage analysis."""
    from scipy import stats

    comparisons = []
    names, distances = SECTORS, np.sqrt(cohort.sector_squares)
    for i, j in combinations(range(len(names)), 2):
        a, b = distances[:, i], distances[:, j]
        printed = PRINTED_CORRELATIONS.get((names[i], names[j]))
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            comparisons.append(Correlation(names[i], names[j], None, None, printed))
        else:
            r = stats.pearsonr(a, b)
            comparisons.append(Correlation(names[i], names[j], float(r.statistic), float(r.pvalue), printed))
    return comparisons


def welch(cohort: Cohort) -> list[Welch]:
    """Tests of every two architectures in the cohort."""
    from scipy import stats

    kinds = sorted(set(cohort.architecture))
    tests = []
    for first, second in combinations(kinds, 2):
        first_total, other = (cohort.total[[kind == name for kind in cohort.architecture]] for name in (first, second))
        sizes, means = (len(first_total), len(other)), (float(first_total.mean()), float(other.mean()))
        if min(sizes) < 2:
            reason = "an architecture has one model only: no variance"
            tests.append(Welch(first, second, sizes, means, None, None, None, reason=reason))
            continue
        printed = PRINTED_WELCH if (first, second) == (HYBRID, PURE) else None
        if np.ptp(first_total) == 0 and np.ptp(other) == 0:
            tests.append(Welch(first, second, sizes, means, None, None, None, printed, "the scores do not vary"))
        else:
            test = stats.ttest_ind(first_total, other, equal_var=False)
            t, df, p = float(test.statistic), float(test.df), float(test.pvalue)
            tests.append(Welch(first, second, sizes, means, t, df, p, printed))
    return tests
