"""Step-wise bias (IRIS, D.3.5, Figure 22): does an autoregressive decoder's leaning grow while the image is made?

At each generation step, the cosine similarity of the intermediate latent and a male-female direction: positive leans to
the male side. The curve is the mean over the prompts of an occupation; its rise is |last step| - |first step|. A rise
above 0 is the paper's 'snowball effect'; 0 or less is ideal. The paper's pre-trained probe is not published: here the
direction is the difference of the mean latents of prompts that name a gender and no occupation.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairspace.metrics.vectors import RESAMPLES, Floats, cosines, drawn, in_order, percentiles, summary, why_undefined

NAME = "stepwise_bias"


def direction(male: Floats, female: Floats) -> Floats:
    """Mean male latent - mean female latent, shape (dimensions,), of two (latents, dimensions); nan without either."""
    if not len(male) or not len(female):
        return np.full(max(male.shape[-1], female.shape[-1], 1), np.nan)
    return np.asarray(in_order(male).mean(axis=0) - in_order(female).mean(axis=0))


def curve(latents: Floats, towards: Floats) -> Floats:
    """The bias at each step, (..., steps) in [-1, 1], of latents (..., steps, dimensions); nan without a direction."""
    flat = cosines(latents.reshape(-1, latents.shape[-1]), towards[None, :])
    return flat.reshape(latents.shape[:-1])


def rise(bias: Floats) -> float:
    """|last| - |first| of a curve (steps,): in [-1, 1], ideal 0 or less; nan with fewer than two steps."""
    return float(abs(bias[-1]) - abs(bias[0])) if len(bias) > 1 else float("nan")


def measure(
    occupations: Mapping[str, Mapping[int, Floats]],
    towards: Floats,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """The curve and the rise of each occupation, and the mean of both.

    Args:
        occupations: occupation -> step -> latents of its prompts at that step, (prompts, dimensions).
        towards: the male-female direction, (dimensions,).
        seed: Seed of the resampled occupations.
        resamples: Draws; 0 for no interval.

    Returns:
        see the module: the mean rise over occupations in [-1, 1], ideal 0 or less, and `curve`, the mean over the
        occupations at the steps that all of them share. Undefined with fewer than two steps, where a latent is missing
        or zero, or where there is no direction; the mean and the curve (which is empty then) where an occupation is.
    """
    rows = {name: _occupation(occupations[name], towards) for name in sorted(occupations)}
    reason = "no occupation has two steps with latents, or the male-female direction is zero or missing"
    curves = [dict(zip(row["steps"], row["curve"], strict=True)) for row in rows.values()]
    shared = sorted(set.intersection(*map(set, curves))) if curves else []
    mean = [float(np.mean([each[step] for each in curves])) for step in shared]
    intervals: list[list[float] | None] = [None] * len(shared)
    if len(curves) > 1 and resamples:
        table = np.array([[each[step] for step in shared] for each in curves])
        draws = table[drawn(len(table), seed, resamples)].mean(axis=1)
        bounds = [percentiles(column) for column in draws.T]
        intervals = [None if each is None else list(each) for each in bounds]
    whole: dict[str, Any] = {"steps": shared, "curve": mean, "curve_interval": intervals}
    return summary(NAME, rows, reason, seed, resamples, **whole)


def _occupation(steps: Mapping[int, Floats], towards: Floats) -> dict[str, Any]:
    stages = sorted(steps)
    reason = why_undefined(towards[None, :])
    reason = f"the male-female direction: {reason}" if reason else ""
    reason = reason or why_undefined(*(steps[step] for step in stages))
    reason = reason or ("" if len(stages) > 1 else "there are fewer than two steps")
    bias = [] if reason else [float(np.sort(curve(steps[step], towards)).mean()) for step in stages]
    jumps = np.diff(np.abs(bias))
    return {
        "value": rise(np.array(bias)) if len(bias) > 1 else None,
        "interval": None,
        "reason": reason,
        "steps": stages if bias else [],
        "curve": bias,
        "steepest": int(stages[int(jumps.argmax()) + 1]) if len(jumps) else None,
    }
