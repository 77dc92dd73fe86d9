"""Embedding complexity (IRIS, E.1, Tables 36 and 37): do counter-stereotypical prompts cost a model more?

Of an embedding, the vector or vectors that a language model sends to the generative module: its magnitude, the L2 norm
of the mean vector, and its participation ratio (sum l)^2 / sum l^2 of the covariance's eigenvalues l, an effective
number of dimensions. Both are averaged over the prompts of a role. The paper's hypothesis holds for an occupation if
both are higher for its counter-stereotypical prompts. It is a finding about effort, not about fairness: no value is
ideal, though 0 is no difference.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairspace.metrics.vectors import MISSING, RESAMPLES, Floats, drawn, in_order, percentiles, summary

NAME = "embedding_complexity"
ROLES = ("stereotypical", "counter_stereotypical")
Embedding = tuple[float, float]
"""Magnitude and participation ratio; nan where there is none."""


def magnitude(vectors: Floats) -> float:
    """L2 norm of the mean of vectors (n, dimensions): at least 0; nan without one or with a missing one."""
    return float(np.linalg.norm(vectors.mean(axis=0))) if len(vectors) else float("nan")


def participation_ratio(vectors: Floats) -> float:
    """(sum l)^2 / sum l^2 of the eigenvalues l of the covariance of vectors (n, dimensions).

    It equals trace(C)^2 / trace(C C), which the smaller of the two Gram matrices gives without eigenvalues; neither the
    scale nor the divisor of the covariance matters.

    Returns:
        in [1, min(n - 1, dimensions)]; nan with fewer than two vectors, with a missing one, or where all are equal.
    """
    if len(vectors) < 2 or np.isnan(vectors).any():
        return float("nan")
    apart = vectors - vectors.mean(axis=0)
    largest = np.abs(apart).max(initial=0)
    if largest <= 1e-12 * np.abs(vectors).max(initial=0):
        return float("nan")
    apart = apart / largest
    gram = apart @ apart.T if len(apart) < apart.shape[1] else apart.T @ apart
    return float(np.trace(gram) ** 2 / (gram**2).sum())


def measure(
    occupations: Mapping[str, Mapping[str, Sequence[Embedding]]], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Magnitude and participation ratio of each occupation's two roles, and the mean differences.

    Args:
        occupations: occupation -> role -> (magnitude, participation ratio) of each of its embeddings.
        seed: Seed of the resampled prompts and occupations.
        resamples: Draws; 0 for no intervals.

    Returns:
        see the module: the mean over occupations of the participation ratio of counter-stereotypical prompts minus that
        of stereotypical ones; `magnitude_difference`, the same of magnitudes; `supported`, the occupations where both
        are above 0. An occupation's participation ratio is undefined where an embedding has fewer than two vectors or
        no spread, its magnitude where one is missing; a mean where an occupation's is.
    """
    rows = {name: _occupation(occupations[name], seed, resamples) for name in sorted(occupations)}
    apart = [row["magnitude_difference"] for row in rows.values()]
    supported = [
        name
        for name, row in rows.items()
        if None not in (row["value"], row["magnitude_difference"])
        and min(row["value"], row["magnitude_difference"]) > 0
    ]
    mean = float(np.mean(apart)) if apart and None not in apart else None
    reason = "no occupation has embeddings of both roles with two or more different vectors each"
    return summary(NAME, rows, reason, seed, resamples, magnitude_difference=mean, supported=supported)


def embedding(vectors: Floats) -> Embedding:
    """Magnitude and participation ratio of the vectors (n, dimensions) of one embedding."""
    return magnitude(vectors), participation_ratio(in_order(vectors))


def _occupation(roles: Mapping[str, Sequence[Embedding]], seed: int, resamples: int) -> dict[str, Any]:
    tables = {role: np.array(sorted(roles.get(role, ())), dtype=np.float64).reshape(-1, 2) for role in ROLES}
    absent = [role for role in ROLES if not len(tables[role])]
    reason = f"there is no {absent[0]} embedding" if absent else ""
    means = {role: tables[role].mean(axis=0) if len(tables[role]) else np.full(2, np.nan) for role in ROLES}
    if not reason and np.isnan([means[role][0] for role in ROLES]).any():
        reason = MISSING
    if not reason and np.isnan([means[role][1] for role in ROLES]).any():
        reason = "an embedding has fewer than two vectors, or no spread"
    step = means[ROLES[1]] - means[ROLES[0]]
    interval = None
    if not reason and resamples and all(len(table) > 1 for table in tables.values()):
        stereo, counter = (
            tables[role][drawn(len(tables[role]), seed + place, resamples), 1].mean(axis=1)
            for place, role in enumerate(ROLES)
        )
        interval = percentiles(counter - stereo)
    result: dict[str, Any] = {
        "value": _number(step[1]),
        "interval": None if interval is None else list(interval),
        "reason": reason,
        "magnitude_difference": _number(step[0]),
    }
    for role in ROLES:
        result[role] = {
            "magnitude": _number(means[role][0]),
            "participation_ratio": _number(means[role][1]),
            "embeddings": len(tables[role]),
        }
    return result


def _number(x: float) -> float | None:
    return None if np.isnan(x) else float(x)
