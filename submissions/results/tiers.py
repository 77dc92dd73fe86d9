"""Ranks as tiers: which models of a board can be told apart at all.

Two results that keep draws are compared on common items: a draw of one is of the same clusters as that draw of the
other, so the error of their difference is the spread of the differences of their draws (on the logarithm where the
benchmark's scores are logarithmic). IRIS' steer prompts (BIS_Gen) follow from a model's own images: their draws are not
of common items, and count like those of two models drawn apart. What differs is the number that ranks go by, the worst
case, so missing samples count against a model here, too. A difference is significant if it is more than z errors away
from 0; z is the normal quantile at 0.05 / 2, divided by the number of pairs of the cohort (Bonferroni, in a single
step: with any dependence of the pairs, the chance that one pair of equal models is told apart is at most 5 %, as far as
the differences are normal).

Tier 1 holds the best model and all that are not significantly worse than it; tier 2 the best of the others and all that
are not significantly worse than that one, and so on. Two models of one tier may still differ significantly from each
other. A model's range of ranks says what is known of it alone: from 1 + the models that are significantly better, to
all less those that are significantly worse. Printed rows have no draws, so no tier; nothing is known of their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.by_result import ByResult
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.bootstrap import MOST_UNDEFINED
from fairspace.submissions.uncertainty.design import Floats, Integers
from fairspace.submissions.uncertainty.draws import KEPT
from fairspace.submissions.uncertainty.scores import many_score_draws

if TYPE_CHECKING:
    from fairspace.submissions.results.row import Row

FAMILY = 0.05
"""Chance that any pair of equal models of a cohort is told apart."""
FEWEST_DRAWS = 20
"""With fewer draws a model has no tier; with fewer common ones, a difference's error is the sum of the errors."""
MOST_RANGES = 200
"""A cohort with more models has no ranges of ranks: these need every pair."""
_SLACK = 1.000001
_DRAWS: ByResult[Floats] = ByResult()


@dataclass(frozen=True)
class Cohort:
    """Models that are ranked together, the best first.

    Args:
        numbers: (n,) what ranks go by, or its logarithm; less is better.
        away: (n, k) draws less the value that they are draws of, 0 where a draw has no number.
        known: (n, k) 1 where a draw has a number, else 0.
    """

    numbers: Floats
    away: Floats
    known: Floats

    @property
    def critical(self) -> float:
        """How many errors a significant difference is away from 0, at least."""
        n = len(self.numbers)
        return float(-ndtri(FAMILY / 2 / max(1, n * (n - 1) // 2)))

    def errors(self, some: Integers, others: Integers) -> Floats:
        """(some, others) standard errors of differences, from the draws that both of a pair have.

        A pair with too few of these has the largest error that the two models' own errors allow, their sum.
        """
        x, y, mine, theirs = self.away[some], self.away[others], self.known[some], self.known[others]
        both = mine @ theirs.T
        total = x @ theirs.T - mine @ y.T
        squares = (x * x) @ theirs.T + mine @ (y * y).T - 2 * (x @ y.T)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (squares - total**2 / both) / (both - 1)
        enough = both >= FEWEST_DRAWS
        scale = np.finfo(float).eps * squares.max(initial=0.0)
        most = _spread(x, mine)[:, None] + _spread(y, theirs)[None, :]
        return np.where(enough, np.sqrt(np.where(variance > scale, variance, 0.0)), most)

    def worse(self, some: Integers, others: Integers) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """(some, others) whether each of some is significantly worse than each of the others."""
        away = self.numbers[some][:, None] - self.numbers[others][None, :]
        with np.errstate(invalid="ignore"):
            return np.asarray((away > self.critical * self.errors(some, others)) & (away > 0))

    def tiers(self) -> list[int]:
        """Of each model, from 1."""
        tiers = np.zeros(len(self.numbers), np.int64)
        left, tier = np.arange(len(tiers)), 0
        errors = self.away.std(axis=1, ddof=1)
        errors[(self.known == 0).any(axis=1)] = np.inf
        while len(left):
            tier += 1
            best = left[0]
            # an error of a difference is at most the sum of the two errors: a model that is far away need not be tested
            below = self.numbers[left] - self.numbers[best] > self.critical * (errors[left] + errors[best]) * _SLACK
            near = left[~below]
            below[~below] = self.worse(near, left[:1])[:, 0]
            tiers[left[~below]] = tier
            left = left[below]
        return [int(tier) for tier in tiers]

    def ranges(self, models: int) -> list[tuple[int, int]]:
        """Of each model, the best and the worst rank among so many models."""
        every = np.arange(len(self.numbers))
        worse = self.worse(every, every)
        return [(1 + int(a), models - int(b)) for a, b in zip(worse.sum(axis=1), worse.sum(axis=0), strict=True)]


def _spread(away: Floats, known: Floats) -> Floats:
    """(n,) standard deviations of the draws that have a number."""
    there = known.sum(axis=1)
    middle = away.sum(axis=1) / there
    return np.asarray(np.sqrt((known * (away - middle[:, None]) ** 2).sum(axis=1) / (there - 1)))


def tiered(rows: Sequence[Row], benchmark: str, standard: str, changed: Adjustment = AS_RELEASED) -> list[Row]:
    """Rows with their tiers and ranges of ranks, in the same order.

    Args:
        rows: of one board, with ranks.
        benchmark: its name.
        standard: under which they were scored.
        changed: what a reader changed about it.
    """
    with_tiers = list(rows)
    for ranked_with in dict.fromkeys(row.ranked_with for row in rows if row.rank is not None):
        alike = [place for place, row in enumerate(rows) if row.rank is not None and row.ranked_with == ranked_with]
        places = [place for place in alike if _has_draws(rows[place])]
        models, kept = _cohort([rows[place] for place in places], benchmark, standard, changed)
        places = [places[number] for number in kept]
        ranges = models.ranges(len(alike)) if len(places) <= MOST_RANGES else [None] * len(places)
        for place, tier, of in zip(places, models.tiers(), ranges, strict=True):
            with_tiers[place] = replace(rows[place], tier=tier, rank_range=of)
    return with_tiers


def why_no_tier(row: Row) -> str:
    """Why a row has no tier, '' if it has one."""
    if row.tier is not None:
        return ""
    if row.provenance == "published":
        return "printed figures come without samples, so nobody knows how sure they are"
    if row.rank is None:
        return "no rank, no tier"
    if _has_draws(row):
        return "too few of its resamples have a score; none has one under a reader's own shares"
    return "scored before results kept resamples; hand it in again for a tier"


def _has_draws(row: Row) -> bool:
    return row.result is not None and row.result.draws is not None


def _cohort(rows: Sequence[Row], benchmark: str, standard: str, changed: Adjustment) -> tuple[Cohort, list[int]]:
    """The models with draws of the number that they are ranked by, and their places among the rows, the best first."""
    bench = find_benchmark(benchmark)
    sign = -1.0 if bench.higher_is_better else 1.0
    draws = _ranked_draws(rows, benchmark, standard, changed)
    ordered: list[tuple[float, int]] = []
    away = np.full((len(rows), KEPT), np.nan)
    for place, (row, column) in enumerate(zip(rows, draws, strict=True)):
        result = row.result
        value = None if result is None else row.scores[result.scored.ranking].value
        number = row.ranked
        column = column[:KEPT]
        if value is None or number is None or not len(column) or (bench.logarithmic and min(value, number) <= 0):
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = sign * (np.log(column) - np.log(value) if bench.logarithmic else column - value)
        deviations[~np.isfinite(deviations)] = np.nan
        lost = np.isnan(deviations)
        if lost.mean() > MOST_UNDEFINED or (~lost).sum() < FEWEST_DRAWS:
            continue
        away[place, : len(column)] = deviations
        ordered.append((sign * float(np.log(number) if bench.logarithmic else number), place))
    ordered.sort()
    kept = [place for _, place in ordered]
    has_number = ~np.isnan(away[kept])
    numbers = np.array([number for number, _ in ordered])
    return Cohort(numbers, np.where(has_number, away[kept], 0.0), has_number.astype(float)), kept


def _ranked_draws(rows: Sequence[Row], benchmark: str, standard: str, changed: Adjustment) -> list[Floats]:
    """The draws of the number that each row is ranked by, empty where it has none; computed once for each result."""
    bench = find_benchmark(benchmark)
    chosen = find_standard(bench, standard)
    results = [row.result for row in rows if row.result is not None]
    new = [result for result in results if _DRAWS.get(result) is None]
    pairs = [(result.scored, result.draws) for result in new if result.draws is not None]
    for result, scores in zip(new, many_score_draws(bench, pairs, chosen, changed), strict=True):
        _DRAWS.put(result, scores.get(result.scored.ranking, np.empty(0)).astype(np.float32))
    cached = [_DRAWS.get(result) for result in results]
    return [np.empty(0) if column is None else column.astype(float) for column in cached]
