"""Validation of IRIS itself over a cohort of models: reliability, robustness, distinctness, impartiality (section 4.1).

- `alpha`: Cronbach's alpha of a sector's normalised values (Figure 4(a));
- `leave_one_out`: Spearman correlation of the ranks without one metric with the ranks of all (A.2.2, Tables 7 and 8);
- `reweighted`: the same with the weight of a dimension, a sector or a metric up or down by 10 % (A.2.2, Figure 4(b));
- `correlations`: of the sectors' distances from the ideal (Figure 4(c));
- `welch`: t tests of the total between architectures (Figure 4(d)).

All work on a `Cohort`: the squared deviations that the total is the norm of. Ranked rows have all of them. Of the seven
models of the paper the granular values of IFS_Gen, RFS_Gen and the success penalty are printed, and the sums over the
other sectors: what needs more is undefined there, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.printed import table
from fairspace.metrics.iris_score.standards import GRANULAR, SKIN_DRIFT, IrisStandard
from fairspace.submissions.results.row import Row
from fairspace.submissions.standards.validation_cohorts import HYBRID, PURE, Cohort, published_cohort, scored_cohort

Floats = NDArray[np.float64]
CHANGE = 0.1
"""A.2.2 moves weights by 10 %."""
LEAST = 3
"""Models that ranks and correlations need."""
PRINTED_ALPHA = {"BIS_Gen": 0.20}
"""Section 4.1 prints one alpha; of the other sectors it says that they lie above 0.7."""
PRINTED_CORRELATIONS = {("RFS_Gen", "BIS_Gen"): -0.80, ("RFS_Gen", "IFS_Und"): 0.57}
"""Section 4.2 prints two of Figure 4(c)."""
PRINTED_WELCH = 0.76
"""p of Figure 4(d), hybrid against purely autoregressive models; which are which is Table 4's."""


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
    """What `validate` found over one cohort."""

    cohort: str
    standard: str
    models: tuple[str, ...]
    reliability: tuple[Reliability, ...]
    leave_one_out: tuple[Stability, ...]
    reweighted: tuple[Stability, ...]
    correlations: tuple[Correlation, ...]
    welch: tuple[Welch, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def validate(cohort: Cohort, standard: str) -> Validation:
    """All five checks over a cohort of at least three models. ValueError for a smaller one."""
    if len(cohort.models) < LEAST:
        raise ValueError(f"{cohort.name}: {len(cohort.models)} models; ranks and correlations need at least three")
    notes = []
    if drifts := [name for name in cohort.metrics if name in SKIN_DRIFT]:
        notes.append(
            f"{len(cohort.metrics)} metrics: the total of {standard} is the norm of the "
            f"{len(cohort.metrics) - len(drifts)} and of three drifts of Table 27 ({', '.join(drifts)})."
        )
    if not cohort.complete:
        notes.append(
            f"The paper prints {len(cohort.metrics)} metrics of its models one by one and the others as sums over "
            "their sector; what needs single values of those is undefined here."
        )
    if len(cohort.models) < 10:
        notes.append(
            f"{len(cohort.models)} models: alphas, correlations and tests over so few say little; a correlation of "
            f"ranks differs from 1 by {6 * 2 / (len(cohort.models) * (len(cohort.models) ** 2 - 1)):.4f} when two "
            "neighbours change places."
        )
    return Validation(
        cohort.name,
        standard,
        cohort.models,
        tuple(_reliability(cohort, sector) for sector in cohort.all_sectors),
        tuple(leave_one_out(cohort)),
        tuple(reweighted(cohort)),
        tuple(correlations(cohort)),
        tuple(welch(cohort)),
        tuple(notes),
    )


def validations(rows: Sequence[Row], standard: IrisStandard) -> list[Validation]:
    """Over the seven models of the paper, and over the ranked rows scored here if three of them have every value."""
    validations = [validate(published_cohort(), "inaugural")]
    scored = scored_cohort(rows, standard)
    return [*validations, validate(scored, standard.name)] if len(scored.models) >= LEAST else validations


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
    printed = PRINTED_ALPHA.get(sector) if not cohort.complete else None
    whole = cohort.squares[:, mine].sum(axis=1)
    if not mine or not np.allclose(whole, cohort.sector_squares[:, cohort.all_sectors.index(sector)], atol=5e-3):
        return Reliability(sector, len(mine), None, "not every value of the sector is known one by one", printed)
    consistency = alpha(np.sqrt(cohort.squares[:, mine]))
    if math.isnan(consistency):
        return Reliability(sector, len(mine), None, "the values do not vary", printed)
    return Reliability(sector, len(mine), consistency, printed=printed)


def leave_one_out(cohort: Cohort) -> list[Stability]:
    """For each metric: the ranks without it against the ranks with all, with the printed correlation beside.

    Of the paper's models every metric is listed; rho is None where its values are not printed one by one.
    """
    base = cohort.sector_squares.sum(axis=1)
    beside = {row["metric_removed"]: float(row["spearman_rho"]) for row in table("iris_table7_8_loo")}
    printed = {} if cohort.complete else beside
    places = {name: place for place, name in enumerate(cohort.metrics)}
    names = list(places) if cohort.complete else [metric.name for metric in GRANULAR]
    return [
        _stability(name, -1.0, base, base - cohort.squares[:, places[name]], printed.get(name))
        if name in places
        else Stability(name, -1.0, None, None, printed.get(name))
        for name in names
    ]


def reweighted(cohort: Cohort, change: float = CHANGE) -> list[Stability]:
    """The weight of each dimension, sector and metric up and down by `change`, each on its own.

    A dimension is what a sector's name begins with: IFS, RFS and BIS, and what a standard adds to them.
    """
    dimensions = dict.fromkeys(sector.partition("_")[0] for sector in cohort.all_sectors)
    base = cohort.sector_squares.sum(axis=1)
    outcomes = []
    for sign in (1.0, -1.0):
        for dimension in dimensions:
            mine = [i for i, sector in enumerate(cohort.all_sectors) if sector.partition("_")[0] == dimension]
            part = cohort.sector_squares[:, mine].sum(axis=1)
            outcomes.append(_stability(dimension, sign * change, base, base + sign * change * part))
        for place, sector in enumerate(cohort.all_sectors):
            part = cohort.sector_squares[:, place]
            outcomes.append(_stability(sector, sign * change, base, base + sign * change * part))
        for place, metric in enumerate(cohort.metrics):
            part = cohort.squares[:, place]
            outcomes.append(_stability(metric, sign * change, base, base + sign * change * part))
    return outcomes


def _stability(changed: str, change: float, before: Floats, after: Floats, printed: float | None = None) -> Stability:
    """Spearman's correlation of two distances; undefined where all models are alike."""
    from scipy import stats

    if np.ptp(before) == 0 or np.ptp(after) == 0:
        return Stability(changed, change, None, None, printed)
    correlation = stats.spearmanr(before, after)
    return Stability(changed, change, float(correlation.statistic), float(correlation.pvalue), printed)


def correlations(cohort: Cohort) -> list[Correlation]:
    """Of every two sectors, over the models: of the norms of their values, as the authors' coverage analysis has it."""
    from scipy import stats

    comparisons = []
    names, distances = cohort.all_sectors, np.sqrt(cohort.sector_squares)
    for i, j in combinations(range(len(names)), 2):
        a, b = distances[:, i], distances[:, j]
        printed = None if cohort.complete else PRINTED_CORRELATIONS.get((names[i], names[j]))
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            comparisons.append(Correlation(names[i], names[j], None, None, printed))
        else:
            r = stats.pearsonr(a, b)
            comparisons.append(Correlation(names[i], names[j], float(r.statistic), float(r.pvalue), printed))
    return comparisons


def welch(cohort: Cohort) -> list[Welch]:
    """Of every two architectures in the cohort."""
    from scipy import stats

    kinds = sorted(set(cohort.architecture) - {""})
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
