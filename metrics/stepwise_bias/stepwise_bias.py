"""Step-wise bias as an `evaluate` module: columns in, the number with its interval and evidence out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import check_count, check_lengths, distinct, encode
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.vectors import RESAMPLES, check_occupations, read_vectors

from .formula import direction, measure

DESCRIPTION = """\
Step-wise bias is how much an image decoder's leaning to a gender grows while the image is made: the cosine similarity
of the latent of each step and a male-female direction, and the rise of its size from the first step to the last. Above
0 is the paper's snowball effect; 0 or less is ideal. Probe D.3.5 of IRIS."""

INPUTS = """
Args:
    predictions: the latent at every step of every prompt, a list of numbers; None if it is missing.
    steps: number of the generation step.
    roles: `occupation` for what is measured; `male` and `female` for the latents that the direction is made of.
    occupations: of the latent; '' for those of the direction.
    seed: of the interval's draws.
    resamples: how many draws; 0 for no intervals.

Returns:
    stepwise_bias in [-1, 1] (the mean rise; None if undefined), steps, curve and curve_interval (means over
    occupations), partial_mean, interval, state, reason, coverage (of occupations), counts, by_occupation, seed,
    resamples.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/stepwise_bias")
    >>> result = metric.compute(
    ...     predictions=[[1, 0], [-1, 0], [0, 1], [3, 4]],
    ...     steps=[0, 0, 0, 1],
    ...     roles=["male", "female", "occupation", "occupation"],
    ...     occupations=["", "", "doctor", "doctor"],
    ... )
    >>> round(result["stepwise_bias"], 6)
    0.6
"""


class StepwiseBias(ColumnMetric):
    """|last| - |first| of the similarity to a male-female direction over the steps: 0 or less is ideal."""

    about = About(
        DESCRIPTION, INPUTS, {"predictions": "vector", "steps": "int64", "roles": "string", "occupations": "string"}
    )

    def _measure(
        self,
        predictions: Sequence[Any],
        steps: Sequence[Any] = (),
        roles: Sequence[Any] = (),
        occupations: Sequence[Any] = (),
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, steps=steps, roles=roles, occupations=occupations)
        vectors = read_vectors(predictions, "predictions")
        step = np.array([check_count(each, f"steps[{row}]") for row, each in enumerate(steps)], dtype=np.int64)
        role = encode(roles, "roles", ("male", "female", "occupation"), missing=False)
        names = distinct(occupations, "occupations")
        place = encode(occupations, "occupations", names)
        check_occupations(occupations, place, role < 2, "a latent of the direction")
        groups = {
            name: {int(t): vectors[(place == i) & (step == t)] for t in np.unique(step[place == i])}
            for i, name in enumerate(names)
        }
        return measure(groups, direction(vectors[role == 0], vectors[role == 1]), seed, resamples)
