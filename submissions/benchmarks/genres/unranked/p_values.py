"""p-values of M7 and M8, as the paper prints them beside the two correlations (Table 2, Figures 8 and 17).

The authors' code takes `scipy.stats.pearsonr` over characters: two-sided, against no correlation. It takes the two
characters of a passage, and the five passages of an element, as independent; a value's interval does not.
"""

from __future__ import annotations

import math

import numpy as np

from fairspace.metrics.genres_bias.formula import main_character_correlation, stereoscopic_correlation
from fairspace.submissions.benchmarks.genres.records import Column, Features
from fairspace.submissions.benchmarks.genres.unranked.groups import by_relation
from fairspace.submissions.values import Value, measured, not_run, undefined


def correlation_p(r: float, n: int) -> float:
    """The two-sided p-value of Pearson's correlation over n points; nan where undefined, with fewer than three."""
    from scipy.special import stdtr

    if n < 3 or math.isnan(r):
        return math.nan
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def p_values(features: Features) -> list[Value]:
    """`M7_p` and `M8_p`, over all passages and of each relational model."""
    values = []
    for metric, column in (("M7", "stereoscopic"), ("M8", "main")):
        for suffix, rows in by_relation().items():
            name, expected = f"{metric}_p{suffix}", int(rows.sum())
            if metric in features.absent or column not in features.columns:
                values.append(not_run(name, features.absent.get(metric, "no judge was asked"), expected=expected))
                continue
            characters = features.columns[column][rows]
            characters = characters[~np.isnan(characters).any(axis=1)]
            r, n = _correlation(metric, characters)
            p, valid = correlation_p(r, n), len(characters)
            evidence = {"correlation": r, "characters": n}
            if math.isnan(p):
                reason = f"{metric} is undefined, or of fewer than two passages"
                values.append(undefined(name, reason, expected=expected, valid=valid))
            else:
                values.append(measured(name, p, expected=expected, valid=valid, evidence=evidence))
    return values


def _correlation(metric: str, characters: Column) -> tuple[float, int]:
    """The correlation, and of how many characters."""
    male, female = map(int, characters.sum(axis=0))
    if metric == "M7":
        return stereoscopic_correlation(male, female, len(characters), 0, 0)[0], 2 * len(characters)
    return main_character_correlation(male, female, 0)[0], 2 * (male + female)
