"""The uncertainty of scores, from the draws of the raw values that a result keeps, under whatever standard.

Scores are functions of values that may be biased at small n, so their intervals are basic ones: a draw's distance from
the score is turned round (2 score - draw), on the logarithm where scores are logarithmic. Turned round, the draws stand
for what the true score may be; how many of them reach a threshold is the chance that it does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from submissions.sensitivity import Adjustment
from submissions.uncertainty.bootstrap import MOST_UNDEFINED, percentile_interval
from submissions.uncertainty.design import Floats
from submissions.uncertainty.draws import Draws
from submissions.uncertainty.uncertainty import Uncertainty

if TYPE_CHECKING:
    from submissions.benchmark import Benchmark, Scored

UNIT = "the samples of its values"


def true_draws(bench: Benchmark, scored: Scored, draws: Draws, standard: Any, changed: Adjustment) -> dict[str, Floats]:
    """Score -> (k,) what the true score may be, nan where a draw has no number; scores without draws are left out."""
    found = {}
    for name, column in bench.score_draws(draws.columns(), bench.settled(standard, scored), changed).items():
        value = scored.scores[name].value if name in scored.scores else None
        if value is None or np.isnan(column).mean() > MOST_UNDEFINED:
            continue
        with np.errstate(divide="ignore", over="ignore"):
            found[name] = value * (value / column) if bench.logarithmic else 2 * value - column
    return found


def with_uncertainty(bench: Benchmark, scored: Scored, draws: Draws, standard: Any, changed: Adjustment) -> Scored:
    """The scores with their uncertainty, and the chances of what thresholds decide."""
    found = true_draws(bench, scored, draws, standard, changed)
    scores = dict(scored.scores)
    for name, column in found.items():
        scores[name] = replace(scores[name], uncertainty=_uncertainty(column))
    chances = {name: round(chance, 4) for name, chance in bench.chances(found, scored, standard, changed).items()}
    return replace(scored, scores=scores, chances=chances)


def _uncertainty(column: Floats) -> Uncertainty:
    own = column[~np.isnan(column)]
    low, high = percentile_interval(own)
    return Uncertainty(
        unit=UNIT,
        clusters=0,
        resamples=len(column),
        undefined=len(column) - len(own),
        error=float(own.std(ddof=1)) if len(own) > 1 else 0.0,
        low=low,
        high=high,
        method="basic",
        percentile_low=low,
        percentile_high=high,
    )
