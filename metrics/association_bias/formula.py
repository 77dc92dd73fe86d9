"""Implicit association (IRIS, D.3.2, Tables 30 and 34): which gender's words does an occupation's word lie nearer to?

M-IAT = S_male - S_female, where S is the mean cosine similarity of the occupation's embedding and those of all terms
of an attribute set. Positive leans to the male words, negative to the female ones, 0 to neither (ideal). The tables
print the absolute difference (erratum E-IRIS-10).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairspace.metrics.vectors import RESAMPLES, Floats, cosines, drawn, in_order, percentiles, summary, why_undefined

NAME = "association_bias"
ATTRIBUTES = ("male", "female")


def association_bias(male: float, female: float) -> float:
    """S_male - S_female of two mean cosine similarities: in [-2, 2], ideal 0."""
    return male - female


def measure(
    occupations: Mapping[str, Floats], terms: Mapping[str, Floats], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """The association of each occupation, its mean, and the mean of its absolute value.

    Args:
        occupations: occupation -> embeddings of its terms, shape (terms, dimensions).
        terms: `male` and `female` -> embeddings of the attribute's terms, shape (terms, dimensions).
        seed: Seed of the resampled terms and occupations.
        resamples: Draws; 0 for no intervals.

    Returns:
        see the module: the mean of S_male - S_female over occupations, in which leanings to different sides cancel, and
        `absolute_difference`, the mean of |S_male - S_female| in [0, 2], ideal 0. An occupation's interval resamples
        the attribute terms; it is None where a set has one term. Undefined where a vector is missing or zero, and both
        means where an occupation is.
    """
    sets = {name: in_order(terms.get(name, np.empty((0, 0)))) for name in ATTRIBUTES}
    rows = {name: _occupation(in_order(occupations[name]), sets, seed, resamples) for name in sorted(occupations)}
    sizes = [row["absolute_difference"] for row in rows.values()]
    reason = "no occupation and both sets of terms have vectors"
    absolute = float(np.mean(sizes)) if sizes and None not in sizes else None
    return summary(NAME, rows, reason, seed, resamples, absolute_difference=absolute)


def _occupation(vectors: Floats, sets: Mapping[str, Floats], seed: int, resamples: int) -> dict[str, Any]:
    absent = [name for name in ATTRIBUTES if not len(sets[name])]
    reason = f"there is no {absent[0]} term" if absent else why_undefined(vectors, *sets.values())
    male = female = value = interval = None
    if not reason:
        near = {name: np.sort(cosines(vectors, sets[name]).mean(axis=0)) for name in ATTRIBUTES}
        male, female = (float(near[name].mean()) for name in ATTRIBUTES)
        value = association_bias(male, female)
        if resamples and all(len(similarities) > 1 for similarities in near.values()):
            draws = [
                near[name][drawn(len(near[name]), seed + i, resamples)].mean(1) for i, name in enumerate(ATTRIBUTES)
            ]
            interval = percentiles(draws[0] - draws[1])
    return {
        "value": value,
        "interval": None if interval is None else list(interval),
        "reason": reason,
        "male": male,
        "female": female,
        "absolute_difference": None if value is None else abs(value),
    }
