"""Embedding complexity as an `evaluate` module: columns in, the number with its interval and evidence out."""

from collections.abc import Sequence
from typing import Any

from fairspace.metrics.columns import check_lengths, distinct, encode
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.vectors import RESAMPLES, read_vectors

from .formula import ROLES, embedding, measure

DESCRIPTION = """\
Embedding complexity compares what a language model sends to its image decoder for counter-stereotypical and for
stereotypical prompts: the participation ratio (sum l)^2 / sum l^2 of the covariance's eigenvalues, an effective number
of dimensions, and the magnitude (L2 norm). 0 is no difference. Probe E.1 of IRIS."""

INPUTS = """
Args:
    predictions: vectors of the generation intent embeddings, lists of numbers; None if one is missing.
    roles: `stereotypical` or `counter_stereotypical`, of the prompt.
    occupations: of the prompt.
    embeddings: which embedding the vector belongs to, such as one token of a prompt's intent; rows of the same
        occupation and role with the same name are one embedding.
    seed: of the interval's draws.
    resamples: how many draws; 0 for no intervals.

Returns:
    embedding_complexity (mean difference of the participation ratios, counter - stereo; None if undefined),
    magnitude_difference, supported (occupations where both are above 0), partial_mean, interval, state, reason,
    coverage (of occupations), counts, by_occupation, seed, resamples.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/embedding_complexity")
    >>> result = metric.compute(
    ...     predictions=[[2, 0], [-2, 0], [1, 0], [-1, 0], [0, 1], [0, -1]],
    ...     roles=["stereotypical"] * 2 + ["counter_stereotypical"] * 4,
    ...     occupations=["doctor"] * 6,
    ...     embeddings=["first"] * 6,
    ... )
    >>> round(result["embedding_complexity"], 6)
    1.0
"""


class EmbeddingComplexity(ColumnMetric):
    """Participation ratio of counter-stereotypical minus that of stereotypical embeddings: 0 is no difference."""

    about = About(
        DESCRIPTION,
        INPUTS,
        {"predictions": "vector", "roles": "string", "occupations": "string", "embeddings": "string"},
    )

    def _measure(
        self,
        predictions: Sequence[Any],
        roles: Sequence[Any] = (),
        occupations: Sequence[Any] = (),
        embeddings: Sequence[Any] = (),
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, roles=roles, occupations=occupations, embeddings=embeddings)
        vectors = read_vectors(predictions, "predictions")
        role = encode(roles, "roles", ROLES, missing=False)
        names, labels = distinct(occupations, "occupations"), distinct(embeddings, "embeddings")
        place = encode(occupations, "occupations", names, missing=False)
        label = encode(embeddings, "embeddings", labels, missing=False)
        groups: dict[str, dict[str, list[tuple[float, float]]]] = {name: {of: [] for of in ROLES} for name in names}
        for i, r, e in sorted({*zip(place.tolist(), role.tolist(), label.tolist(), strict=True)}):
            groups[names[i]][ROLES[r]].append(embedding(vectors[(place == i) & (role == r) & (label == e)]))
        return measure(groups, seed, resamples)
