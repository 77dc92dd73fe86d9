"""The uncertainty of scores, from the draws of the raw values that a result keeps, under whatever standard.

Scores are functions of values that may be biased at small n: gaps and norms look larger than they are, the more so the
more alike the groups are. A draw's distance from the score is turned round (2 score - draw), on the logarithm where
scores are logarithmic; turned round, the draws stand for what the true score may be, and how many of them reach a
threshold is the chance that it does. How much of the bias the draws show depends on how alike the groups are, so the
interval is a bracket: from no bias to `TIED` times what the draws show, and 1.96 standard errors on either side, cut
at what the score can be (`ScoringTable.limits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.uncertainty.bootstrap import MOST_UNDEFINED, TIED
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.draws import Draws
from fairspace.submissions.uncertainty.uncertainty import LEVEL, Uncertainty

if TYPE_CHECKING:
    from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored
    from fairspace.submissions.benchmarks.scoring_table import Limits

UNIT = "the samples of its values"
WITHOUT = (-np.inf, np.inf)
NO_LIMITS: Limits = {}
_TOGETHER = 200
"""Results whose draws are made at a time: their raw values take some tens of MB."""


def true_draws(bench: Benchmark, scored: Scored, draws: Draws, standard: Any, changed: Adjustment) -> dict[str, Floats]:
    """Score -> (k,) what the true score may be, nan where a draw has no number; scores without draws are left out.

    None is beyond what the score can be, `ScoringTable.limits`.
    """
    table = bench.table_of(scored, standard, changed)
    replicates = turned(bench, scored, table.replicates(draws.columns()))
    return {name: np.clip(column, *table.limits.get(name, WITHOUT)) for name, column in replicates.items()}


def turned(bench: Benchmark, scored: Scored, drawn: Mapping[str, Floats]) -> dict[str, Floats]:
    """As `true_draws`, from the draws of the scores, and not cut: the mean of these shows the whole bias."""
    differences = {}
    for name, column in drawn.items():
        value = scored.scores[name].value if name in scored.scores else None
        if value is None or np.isnan(column).mean() > MOST_UNDEFINED:
            continue
        with np.errstate(divide="ignore", over="ignore"):
            differences[name] = value * (value / column) if bench.logarithmic else 2 * value - column
    return differences


def many_score_draws(
    bench: Benchmark, scored_draws: Sequence[tuple[Scored, Draws]], standard: Any, changed: Adjustment = AS_RELEASED
) -> Iterator[dict[str, Floats]]:
    """Score -> (k,) draws of each of many results, in their order: thousands in about a second.

    Draws of results that keep the same values are laid end to end, because a table takes any number.
    """
    for first in range(0, len(scored_draws), _TOGETHER):
        part = scored_draws[first : first + _TOGETHER]
        alike: list[tuple[Any, tuple[str, ...], int, list[int]]] = []
        for place, (scored, draws) in enumerate(part):
            standards, k = bench.resolve_standard(standard, scored.labels), len(draws.steps)
            group = next((g for g in alike if g[2] == k and g[1] == draws.names and g[0] == standards), None)
            if group is None:
                alike.append((standards, draws.names, k, [place]))
            else:
                group[3].append(place)
        by_place: dict[int, dict[str, Floats]] = {}
        for standards, names, k, places in alike:
            stacked = np.concatenate([part[place][1].table() for place in places])
            columns = dict(zip(names, stacked.T, strict=True))
            scores = bench.scoring(standards, changed).replicates(columns)
            for number, place in enumerate(places):
                by_place[place] = {name: column[k * number : k * (number + 1)] for name, column in scores.items()}
        yield from (by_place[place] for place in range(len(part)))


def with_uncertainty(bench: Benchmark, scored: Scored, draws: Draws, standard: Any, changed: Adjustment) -> Scored:
    """The scores with their uncertainty, and the chances of what thresholds decide."""
    table = bench.table_of(scored, standard, changed)
    replicates = turned(bench, scored, table.replicates(draws.columns()))
    scores = dict(scored.scores)
    for name, about in uncertainties_of(scored, replicates, bench.logarithmic, table.limits).items():
        scores[name] = replace(scores[name], uncertainty=about)
    return replace(scored, scores=scores, chances=chances_of(bench, replicates, scored, standard, changed))


def chances_of(
    bench: Benchmark, replicates: Mapping[str, Floats], scored: Scored, standard: Any, changed: Adjustment
) -> dict[str, float]:
    """`Scored.chances`, from what the true scores may be."""
    return {name: round(chance, 4) for name, chance in bench.chances(replicates, scored, standard, changed).items()}


def uncertainties_of(
    scored: Scored, replicates: Mapping[str, Floats], logarithmic: bool, limits: Limits = NO_LIMITS
) -> dict[str, Uncertainty]:
    """The uncertainty of scores.

    Args:
        scored: the scores.
        replicates: what each true score may be by `turned`, (k,) each and all of one length.
        logarithmic: as `Benchmark.logarithmic`.
        limits: what the scores can be; no end of an interval and no debiased score is beyond it.

    The mean of the draws (of their logarithms) is the score less the bias that they show, the debiased estimate. An
    interval holds its score. A score whose draws or ends are beyond all numbers has no uncertainty.
    """
    replicates = {
        name: column for name, column in replicates.items() if not _endless(column, limits.get(name, WITHOUT))
    }
    if not replicates:
        return {}
    columns = np.stack(list(replicates.values()))
    known = ~np.isnan(columns)
    smallest, largest = np.array([limits.get(name, WITHOUT) for name in replicates]).T
    cut = np.clip(columns, smallest[:, None], largest[:, None])
    columns = np.where(np.isinf(columns), cut, columns)
    with np.errstate(divide="ignore", invalid="ignore"):  # GENRES' metrics are below 0 as often as above
        logs = np.log(columns)
    relative = np.isfinite(np.where(known, logs, 0.0)).all(axis=1) & np.full(len(columns), logarithmic)
    scale = np.where(relative[:, None], logs, columns)
    values = np.array([scored.scores[name].value for name in replicates], dtype=float)
    scaled = np.where(relative, np.log(np.where(relative, values, 1.0)), values)
    middle = np.nanmean(scale, axis=1)
    half = -ndtri((1 - LEVEL) / 2) * _spread(scale)
    corners = np.stack([scaled, scaled - TIED * (scaled - middle)])
    ends = np.stack([corners.min(axis=0) - half, corners.max(axis=0) + half, middle])
    with np.errstate(over="ignore"):
        ends = np.where(relative, np.exp(np.where(relative, ends, 0.0)), ends)
    low, high, debiased = np.clip(ends, smallest, largest)
    low, high = np.minimum(low, values), np.maximum(high, values)  # an exponential is not to the last digit
    percentiles = np.nanquantile(cut, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    parts = (_spread(cut), low, high, *percentiles, debiased)
    undefined = (~known).sum(axis=1).tolist()
    numbers = zip(replicates, undefined, *(part.tolist() for part in parts), strict=True)
    usable = {name: (lost, own_parts) for name, lost, *own_parts in numbers if np.isfinite(own_parts).all()}
    return {name: _told(columns.shape[1], lost, *own_parts) for name, (lost, own_parts) in usable.items()}


def _endless(column: Floats, limits: tuple[float, float]) -> bool:
    """Whether a draw is infinite, and the score's limits do not cut it."""
    return bool(np.isinf(np.clip(column, *limits)).any())


def _spread(columns: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.nanstd(columns, axis=1, ddof=1) if columns.shape[1] > 1 else np.zeros(len(columns))


def _told(
    draws: int,
    undefined: int,
    error: float,
    low: float,
    high: float,
    percentile_low: float,
    percentile_high: float,
    debiased: float,
) -> Uncertainty:
    return Uncertainty(
        unit=UNIT,
        clusters=0,
        resamples=draws,
        undefined=undefined,
        error=error,
        low=low,
        high=high,
        method="bracket",
        percentile_low=percentile_low,
        percentile_high=percentile_high,
        debiased=debiased,
    )
