"""Association bias as an `evaluate` module: columns in, the number with its interval and evidence out."""

from collections.abc import Sequence
from typing import Any

from fairspace.metrics.columns import check_lengths, distinct, encode
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.vectors import RESAMPLES, check_occupations, read_vectors

from .formula import ATTRIBUTES, measure

DESCRIPTION = """\
Association bias (M-IAT) is how much nearer a text encoder puts an occupation to male than to female words:
S_male - S_female of mean cosine similarities. Positive leans to the male words, negative to the female ones, 0 to
neither (ideal). Probe D.3.2 of IRIS."""

INPUTS = """
Args:
    predictions: the embedding of every term, a list of numbers; None if it is missing.
    roles: `occupation` for a term of an occupation, `male` or `female` for a term of an attribute set.
    occupations: of the term; '' for an attribute term.
    seed: of the interval's draws.
    resamples: how many draws; 0 for no intervals.

Returns:
    association_bias in [-2, 2] (None if undefined), absolute_difference (the mean of the absolute values, which Tables
    30 and 34 print), partial_mean, interval, state, reason, coverage (of occupations), counts, by_occupation, seed,
    resamples.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/association_bias")
    >>> result = metric.compute(
    ...     predictions=[[1, 0], [0, 1], [3, 4]],
    ...     roles=["male", "female", "occupation"],
    ...     occupations=["", "", "doctor"],
    ... )
    >>> round(result["association_bias"], 6)
    -0.2
"""


class AssociationBias(ColumnMetric):
    """S_male - S_female of mean cosine similarities to attribute terms: 0 is no leaning (ideal)."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "vector", "roles": "string", "occupations": "string"})

    def _measure(
        self,
        predictions: Sequence[Any],
        roles: Sequence[Any] = (),
        occupations: Sequence[Any] = (),
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, roles=roles, occupations=occupations)
        vectors = read_vectors(predictions, "predictions")
        role = encode(roles, "roles", (*ATTRIBUTES, "occupation"), missing=False)
        names = distinct(occupations, "occupations")
        place = encode(occupations, "occupations", names)
        attribute = role < len(ATTRIBUTES)
        check_occupations(occupations, place, attribute, "an attribute term")
        terms = {name: vectors[role == i] for i, name in enumerate(ATTRIBUTES)}
        return measure({name: vectors[place == i] for i, name in enumerate(names)}, terms, seed, resamples)
