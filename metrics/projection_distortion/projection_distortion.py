"""Projection distortion as an `evaluate` module: columns in, the number with its interval and evidence out."""

from collections.abc import Sequence
from typing import Any

from fairspace.metrics.columns import check_lengths, distinct, encode
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.vectors import RESAMPLES, read_vectors

from .formula import ROLES, measure

DESCRIPTION = """\
Projection distortion is how much a projection changes the ratio of the distances from a neutral prompt to its
counter-stereotypical and its stereotypical form: Ratio_UNet / Ratio_LLM. 1 keeps the geometry (ideal), above 1 pushes
the counter-stereotypical one away. Probe D.3.4 of IRIS."""

INPUTS = """
Args:
    predictions: the embedding of every prompt after the projection, a list of numbers; None if it is missing.
    references: the same before the projection; it may have another length.
    roles: `neutral` ("a doctor"), `stereotypical` ("a male doctor") or `counter_stereotypical` ("a female doctor").
    occupations: of the prompt.
    seed: of the interval's draws.
    resamples: how many draws; 0 for no intervals.

Returns:
    projection_distortion above 0 (geometric mean; None if undefined), partial_mean, interval, state, reason, coverage
    (of occupations), counts, by_occupation (both ratios and the distances), seed, resamples.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/projection_distortion")
    >>> result = metric.compute(
    ...     predictions=[[1, 0], [3, 4], [0, 1]],
    ...     references=[[1, 0], [0, 1], [0, 1]],
    ...     roles=["neutral", "stereotypical", "counter_stereotypical"],
    ...     occupations=["doctor", "doctor", "doctor"],
    ... )
    >>> round(result["projection_distortion"], 6)
    2.5
"""


class ProjectionDistortion(ColumnMetric):
    """Ratio_UNet / Ratio_LLM of cosine distances: 1 keeps the geometry (ideal)."""

    about = About(
        DESCRIPTION,
        INPUTS,
        {"predictions": "vector", "references": "vector", "roles": "string", "occupations": "string"},
    )

    def _measure(
        self,
        predictions: Sequence[Any],
        references: Sequence[Any] = (),
        roles: Sequence[Any] = (),
        occupations: Sequence[Any] = (),
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, references=references, roles=roles, occupations=occupations)
        after, before = read_vectors(predictions, "predictions"), read_vectors(references, "references")
        role = encode(roles, "roles", ROLES, missing=False)
        names = distinct(occupations, "occupations")
        place = encode(occupations, "occupations", names, missing=False)
        groups = {
            name: {
                of: (before[(place == i) & (role == r)], after[(place == i) & (role == r)])
                for r, of in enumerate(ROLES)
            }
            for i, name in enumerate(names)
        }
        return measure(groups, seed, resamples)
