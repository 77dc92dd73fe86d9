"""Ranks as tiers: models of a board that cannot be told apart share a tier.

Results with draws are compared on common items: the error of a difference is the spread of the paired draws'
differences (of logarithms for logarithmic scores). IRIS' steer prompts (BIS_Gen) follow from a model's own images, so
their draws are independent. Compared are the ranked numbers, the worst case, so missing samples count against a model.
A row is tested as if the board ended with it: Bonferroni over the pairs of different models down to that row, by
Student's t for the few draws. So rows below never change its tier, and copies count once. At most 5 % of cohorts of
equal models show a separation (simulations: `submissions/uncertainty/README.md`, "Tiers").
Tier 1 holds the best model and all that are not significantly worse; tier 2 likewise among the others, and so on.
Two models of one tier may still differ significantly. Ranges of ranks count the significantly better and worse models:
simultaneous confidence sets (Mogstad, Romano, Shaikh and Wilhelm 2023). Printed rows have no draws, so no tier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.resampling import MOST_UNDEFINED
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.draws import KEPT, Drawn, many_replicates
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, row_with
from fairspace.submissions.results.scoring import find_standard

LEVEL = 0.03
"""Level of the pairs down to a row: at most 5 % of equal cohorts separate in simulations, 6.5 % with equal groups."""
FEWEST_DRAWS = 20
"""Fewest draws for a tier; with fewer common draws, a difference's error is the sum of both errors."""
MOST_RANGES = 1_000
"""Largest cohort with ranges of ranks, which need every pair."""
_BLOCK = 64
_RANKED = "ranked draws"
Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Cohort:
    """Models that are ranked together, the best first, with copies of a model beside each other.

    `numbers`: (n,) ranked numbers or their logarithms, less is better; `away`: (n, k) draws less their value, 0 where a
    draw has no number; `known`: (n, k) 1 where it has one, else 0.
    """

    numbers: Floats
    away: Floats
    known: Floats

    @cached_property
    def quantiles(self) -> Floats:
        """(n,) normal quantile of each row's level, by the pairs of different models down to it, ties included."""
        again = self.numbers[1:] == self.numbers[:-1]
        for draws in (self.away, self.known):
            again[again] = (draws[1:][again] == draws[:-1][again]).all(axis=1)
        models = np.cumsum(np.append(True, ~again))[np.searchsorted(self.numbers, self.numbers, side="right") - 1]
        return np.asarray(-ndtri(LEVEL / 2 / np.maximum(1, models * (models - 1) / 2)))

    def errors(self, some: Integers, others: Integers) -> tuple[Floats, Floats]:
        """(some, others) standard errors of differences (`FEWEST_DRAWS`), and the number of common draws."""
        x, y, mine, theirs = self.away[some], self.away[others], self.known[some], self.known[others]
        both = mine @ theirs.T
        total = x @ theirs.T - mine @ y.T
        squares = (x * x) @ theirs.T + mine @ (y * y).T - 2 * x @ y.T
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (squares - total**2 / both) / (both - 1)
        scale = np.finfo(float).eps * squares.max(initial=0.0)
        errors = np.sqrt(np.where(variance > scale, variance, 0.0))
        if both.min(initial=np.inf) < FEWEST_DRAWS:
            most = _spread(x, mine)[:, None] + _spread(y, theirs)[None, :]
            errors = np.where(both < FEWEST_DRAWS, most, errors)
        return errors, np.maximum(both, FEWEST_DRAWS)

    def worse(self, some: Integers, others: Integers) -> Booleans:
        """(some, others) whether each of some is significantly worse than each of the others."""
        away = self.numbers[some][:, None] - self.numbers[others][None, :]
        errors, draws = self.errors(some, others)
        with np.errstate(invalid="ignore"):
            return np.asarray((away > student(self.quantiles[some][:, None], draws - 1) * errors) & (away > 0))

    def tiers(self) -> list[int]:
        """Tier of each model, from 1."""
        tiers = np.zeros(len(self.numbers), np.int64)
        left, tier = np.arange(len(tiers)), 0
        while len(left):
            tier += 1
            below = self.worse(left, left[:1])[:, 0]
            tiers[left[~below]] = tier
            left = left[below]
        return [int(tier) for tier in tiers]

    def ranges(self, models: int) -> list[tuple[int, int]]:
        """Best and worst rank of each model among `models` models."""
        better, worse = (np.zeros(len(self.numbers), np.int64) for _ in range(2))
        for first in range(0, len(better), _BLOCK):
            block, rest = np.arange(first, min(first + _BLOCK, len(better))), np.arange(first, len(better))
            pairs = self.worse(rest, block)
            better[rest] += pairs.sum(axis=1)
            worse[block] += pairs.sum(axis=0)
        return [(1 + int(a), models - int(b)) for a, b in zip(better, worse, strict=True)]


def student(normal: Floats, freedom: Floats | float) -> Floats:
    """Quantiles of Student's t from normal quantiles, to 0.1 % from 19 degrees of freedom on (Wallace 1959)."""
    exponent = (normal * (8 * freedom + 3) / (8 * freedom + 1)) ** 2 / freedom
    return np.asarray(np.sqrt(freedom * np.expm1(exponent)))


def _spread(away: Floats, defined: Floats) -> Floats:
    there = defined.sum(axis=1)
    middle = away.sum(axis=1) / there
    return np.asarray(np.sqrt((defined * (away - middle[:, None]) ** 2).sum(axis=1) / (there - 1)))


def tiered(rows: Sequence[Row], benchmark: str, standard: str) -> list[Row]:
    """Rows of one board with their tiers and ranges of ranks, in the same order."""
    with_tiers = list(rows)
    for ranked_with in dict.fromkeys(row.ranked_with for row in rows if row.rank is not None):
        alike = [place for place, row in enumerate(rows) if row.rank is not None and row.ranked_with == ranked_with]
        places = [place for place in alike if has_draws(rows[place])]
        models, kept = _cohort([rows[place] for place in places], benchmark, standard)
        places = [places[number] for number in kept]
        ranges = models.ranges(len(alike)) if len(places) <= MOST_RANGES else [None] * len(places)
        for place, tier, of in zip(places, models.tiers(), ranges, strict=True):
            with_tiers[place] = row_with(rows[place], tier=tier, rank_range=of)
    return with_tiers


def why_no_tier(row: Row) -> str:
    """The reason why a row has no tier, '' if it has one."""
    if row.tier is not None:
        return ""
    if row.provenance == "published":
        return "printed figures come without samples, so nobody knows how sure they are"
    if row.rank is None:
        return "no rank, no tier"
    if has_draws(row):
        return "too few of its resamples have a score"
    return "scored before results kept resamples; hand it in again for a tier"


def has_draws(row: Row) -> bool:
    """Whether a row's result has draws, or kept those of its ranked number."""
    return row.result is not None and (row.result.draws is not None or _RANKED in row.result.derived)


def _cohort(rows: Sequence[Row], benchmark: str, standard: str) -> tuple[Cohort, list[int]]:
    bench = find_benchmark(benchmark)
    sign = -1.0 if bench.higher_is_better else 1.0
    columns = np.full((len(rows), KEPT), np.nan)
    lengths, values, numbers = np.zeros(len(rows)), np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for place, (row, column) in enumerate(zip(rows, ranked_draws(rows, benchmark, standard), strict=True)):
        value = None if row.result is None else row.scores[row.result.scored.ranking].value
        if value is not None and row.ranked is not None and len(column):
            values[place], numbers[place] = value, row.ranked
            lengths[place] = min(len(column), KEPT)
            columns[place, : len(column)] = column[:KEPT]
    if bench.scoring.logarithmic:
        with np.errstate(invalid="ignore", divide="ignore"):
            columns, values, numbers = np.log(columns), np.log(values), np.log(numbers)
    with np.errstate(invalid="ignore"):
        away = sign * (columns - values[:, None])
    defined = np.isfinite(away)
    away[~defined] = 0.0
    with_number = defined.sum(axis=1)
    usable = np.isfinite(numbers) & (with_number >= FEWEST_DRAWS) & (lengths - with_number <= MOST_UNDEFINED * lengths)
    ranked = sign * numbers
    # ties in the order of their draws, so that copies stand together and the order of the rows changes no tier
    kept = sorted(np.flatnonzero(usable).tolist(), key=lambda place: (ranked[place], away[place].tobytes()))
    return Cohort(ranked[kept], away[kept], defined[kept].astype(float)), kept


def ranked_draws(rows: Sequence[Row], benchmark: str, standard: str) -> list[Floats]:
    """The draws of each row's ranked number, empty where it has none; computed once for each result."""
    bench = find_benchmark(benchmark)
    rules = find_standard(bench, standard)
    results = [row.result for row in rows if row.result is not None]
    new = [result for result in results if _RANKED not in result.derived]
    drawn = [Drawn(result.scored, result.values, result.draws) for result in new if result.draws is not None]
    for result, scores in zip(new, many_replicates(bench, drawn, rules), strict=True):
        keep_ranked_draws(result, scores.get(result.scored.ranking, np.empty(0)).astype(np.float32))
    return [result.derived.get(_RANKED, np.empty(0)).astype(float) for result in results]


def keep_ranked_draws(result: Result, draws: NDArray[np.float32]) -> None:
    """Keep the draws of a result's ranked number for its tiers."""
    result.derived[_RANKED] = draws
