"""The uncertainty of scores, from the values of a result and the draws that it keeps, under whatever standard.

A score is monotone in each of its values, and sizes among them (gaps, norms, divergences) look larger than they are.
How much of that is noise differs from value to value, so a score's interval goes from the score of the most favourable
point to that of the least favourable one:

- a value that is biased lies between itself and its estimate without bias; a size whose interval reaches 0 may be 0;
- a value that a score takes a distance from (`ScoringTable.centres`) may lie there, if its interval holds that number;
- a value whose draws do not vary may be anywhere in its interval, for these say nothing of it;
- any other value is as it was measured.

Which intervals reach such a number is asked of all values jointly: they are widened from 1.96 errors to as many as 98 %
of the kept draws stay within in every value at once (sup-t: Montiel Olea and Plagborg-Møller, Simultaneous confidence
bands, Journal of Applied Econometrics 34, 2019).

About both points lie the kept draws, less their means: the interval ends where 2.5 % of these scores lie beyond, or at
the point itself, and is cut at what the score can be. No logarithm is taken of a size that may be 0. A score that is a
value has the uncertainty of that value, so no number has two intervals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairspace.submissions.benchmarks.adjustment import Adjustment
from fairspace.submissions.uncertainty.bootstrap import MOST_UNDEFINED
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.draws import Draws
from fairspace.submissions.uncertainty.score_draws import Drawn, ScoreDraws, Values, many_score_draws
from fairspace.submissions.uncertainty.uncertainty import LEVEL, Uncertainty

if TYPE_CHECKING:
    from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored
    from fairspace.submissions.benchmarks.scoring_table import ScoringTable

UNIT = "the samples of its values"
WITHOUT = (-np.inf, np.inf)
_EXACT: Literal["weibull"] = "weibull"
"""The quantile of a sample that as large a share of the population lies beyond on average: 200 draws are few."""


def with_uncertainty(
    bench: Benchmark, scored: Scored, values: Values, draws: Draws, standard: Any, changed: Adjustment
) -> Scored:
    """The scores with their uncertainty, and the chances of what thresholds decide."""
    (of_scores,) = many_score_draws(bench, [Drawn(scored, values, draws)], standard, changed)
    table = bench.table_of(scored, standard, changed)
    scores = dict(scored.scores)
    for name, about in uncertainties_of(scored, values, of_scores, table).items():
        scores[name] = replace(scores[name], uncertainty=about)
    return replace(scored, scores=scores, chances=chances_of(bench, of_scores, scored, standard, changed))


def chances_of(
    bench: Benchmark, draws: ScoreDraws, scored: Scored, standard: Any, changed: Adjustment
) -> dict[str, float]:
    """`Scored.chances`, from what the true scores may be."""
    chances = bench.scoring.chances(draws.true_scores(), scored, standard, changed)
    return {name: round(chance, 4) for name, chance in chances.items()}


def uncertainties_of(scored: Scored, values: Values, draws: ScoreDraws, table: ScoringTable) -> dict[str, Uncertainty]:
    """The uncertainty of each score that has a number, and draws of which a fifth at most have none.

    An interval holds its score, and no number is beyond what the score can be. A score whose draws are beyond all
    numbers has no uncertainty.
    """
    limits = table.limits
    uncertainties = {}
    for name, replicates in draws.replicates.items():
        shown = scored.scores[name].value if name in scored.scores else None
        if shown is None or np.isnan(replicates).mean() > MOST_UNDEFINED:
            continue
        original = table.rules[name].original
        about = None if original is None else values[original].uncertainty
        if about is not None:
            uncertainties[name] = about
            continue
        ends = limits.get(name, WITHOUT)
        about = _uncertainty(shown, replicates, draws.low[name], draws.high[name], draws.points[name], ends)
        if about is not None:
            uncertainties[name] = about
    return uncertainties


def _uncertainty(
    shown: float, replicates: Floats, low: Floats, high: Floats, points: Floats, limits: tuple[float, float]
) -> Uncertainty | None:
    """The uncertainty of one score; None with a draw that is infinite within the score's limits, or with too few."""
    cut = np.clip(replicates[~np.isnan(replicates)], *limits)
    tail = (1 - LEVEL) / 2
    least, most = (np.clip(column[~np.isnan(column)], *limits) for column in (low, high))
    if not all(len(column) > 1 and np.isfinite(column).all() for column in (cut, least, most)):
        return None
    debiased, fair, fair_high = (None if np.isnan(x) else float(x) for x in np.clip(points, *limits))
    numbers = [min(float(np.quantile(least[1:], tail, method=_EXACT)), float(least[0]), shown)]
    numbers += [max(float(np.quantile(most[1:], 1 - tail, method=_EXACT)), float(most[0]), shown)]
    numbers += [float(end) for end in np.quantile(cut, [tail, 1 - tail])]
    return Uncertainty(
        unit=UNIT,
        clusters=0,
        resamples=len(replicates),
        undefined=len(replicates) - len(cut),
        error=float(cut.std(ddof=1)),
        low=numbers[0],
        high=numbers[1],
        method="score",
        percentile_low=numbers[2],
        percentile_high=numbers[3],
        debiased=debiased,
        fair=fair,
        fair_high=fair_high,
    )
