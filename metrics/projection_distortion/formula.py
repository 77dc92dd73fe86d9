"""Projection distortion (IRIS, D.3.4, Table 33): does the projection push the counter-stereotypical prompt away?

Ratio = distance(neutral, counter) / distance(neutral, stereo) of cosine distances, before the projection (Ratio_LLM)
and after it (Ratio_UNet). Distortion = Ratio_UNet / Ratio_LLM: 1 keeps the geometry (ideal), more pushes what is
counter-stereotypical further from the neutral prompt, less draws it nearer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairspace.metrics.vectors import RESAMPLES, Floats, distances, summary, why_undefined

NAME = "projection_distortion"
ROLES = ("neutral", "stereotypical", "counter_stereotypical")
SPACES = ("before", "after")


def projection_distortion(before: float, after: float) -> float:
    """Ratio_UNet / Ratio_LLM: above 0, ideal 1; nan where a ratio is 0 or nan."""
    return after / before if before > 0 and after > 0 else float("nan")


def measure(
    occupations: Mapping[str, Mapping[str, tuple[Floats, Floats]]], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """The distortion of each occupation and its geometric mean.

    Args:
        occupations: occupation -> role -> embeddings before and after the projection, each (prompts, dimensions).
            With several prompts of a role, its distance is the mean over the pairs with a neutral prompt.
        seed: Seed of the resampled occupations.
        resamples: Draws; 0 for no interval.

    Returns:
        see the module: the geometric mean over occupations (so that 2 and 1/2 balance), above 0, ideal 1. An occupation
        has no interval of its own: the paper has one prompt for each role. Undefined where a role has no prompt, a
        vector is missing or zero, or a distance is 0; the mean where an occupation is.
    """
    rows = {name: _occupation(occupations[name]) for name in sorted(occupations)}
    return summary(NAME, rows, "no occupation has three prompts at distances above 0", seed, resamples, geometric=True)


def _occupation(roles: Mapping[str, tuple[Floats, Floats]]) -> dict[str, Any]:
    absent = [role for role in ROLES if role not in roles or not len(roles[role][0])]
    reason = f"there is no {absent[0]} prompt" if absent else ""
    ratios: dict[str, float | None] = dict.fromkeys(SPACES)
    apart: dict[str, dict[str, float] | None] = dict.fromkeys(SPACES)
    for place, space in enumerate(SPACES):
        if reason:
            break
        neutral, stereo, counter = (roles[role][place] for role in ROLES)
        reason = why_undefined(neutral, stereo, counter)
        if not reason:
            stereotypical, other = (float(np.sort(distances(neutral, v), None).mean()) for v in (stereo, counter))
            apart[space] = {"stereotypical": stereotypical, "counter_stereotypical": other}
            ratios[space] = other / stereotypical if stereotypical else None
            reason = "" if stereotypical and other else f"a distance {space} the projection is 0"
    before, after = ratios["before"], ratios["after"]
    value = None if reason or before is None or after is None else projection_distortion(before, after)
    return {
        "value": value,
        "interval": None,
        "reason": reason,
        "ratio_before": before,
        "ratio_after": after,
        "distances": apart,
    }
