"""Representational similarity bias as an `evaluate` module: columns in, the number and its evidence out."""

from collections.abc import Sequence
from typing import Any

from fairspace.metrics.columns import check_lengths, distinct, encode
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.vectors import RESAMPLES, check_occupations, read_vectors

from .formula import GENDERS, ROLES, measure

DESCRIPTION = """\
Representational similarity bias (RSA) is how differently near a vision encoder puts stereotypical and
counter-stereotypical images to the anchor of their own gender: |S_stereo - S_counter| of cosine similarities. 0 is
equal fidelity (ideal), 2 the most. Probe D.3.1 of IRIS."""

INPUTS = """
Args:
    predictions: the embedding of every image, a list of numbers; None if it is missing.
    roles: `stereotypical`, `counter_stereotypical` or `anchor`.
    genders: `male` or `female`, of the person in the image.
    occupations: of the image; '' for an anchor.
    seed: of the interval's draws.
    resamples: how many draws; 0 for no intervals.

Returns:
    representation_similarity_bias in [0, 2] (None if undefined), partial_mean, interval, state, reason, coverage (of
    occupations), counts, by_occupation (both similarities), seed, resamples.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/representation_similarity_bias")
    >>> result = metric.compute(
    ...     predictions=[[1, 0], [0, 1], [3, 4], [4, 3]],
    ...     roles=["anchor", "anchor", "stereotypical", "counter_stereotypical"],
    ...     genders=["male", "female", "male", "female"],
    ...     occupations=["", "", "doctor", "doctor"],
    ... )
    >>> round(result["by_occupation"]["doctor"]["stereotypical"], 6)
    0.6
"""


class RepresentationSimilarityBias(ColumnMetric):
    """|S_stereo - S_counter| of the similarities to the anchors of a gender: 0 is equal (ideal)."""

    about = About(
        DESCRIPTION, INPUTS, {"predictions": "vector", "roles": "string", "genders": "string", "occupations": "string"}
    )

    def _measure(
        self,
        predictions: Sequence[Any],
        roles: Sequence[Any] = (),
        genders: Sequence[Any] = (),
        occupations: Sequence[Any] = (),
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, roles=roles, genders=genders, occupations=occupations)
        vectors = read_vectors(predictions, "predictions")
        role = encode(roles, "roles", (*ROLES, "anchor"), missing=False)
        gender = encode(genders, "genders", GENDERS, missing=False)
        names = distinct(occupations, "occupations")
        place = encode(occupations, "occupations", names)
        is_anchor = role == len(ROLES)
        check_occupations(occupations, place, is_anchor, "an anchor")
        anchors = {name: vectors[is_anchor & (gender == g)] for g, name in enumerate(GENDERS)}
        images = {
            name: {
                (of, sex): vectors[(place == i) & (role == r) & (gender == g)]
                for r, of in enumerate(ROLES)
                for g, sex in enumerate(GENDERS)
            }
            for i, name in enumerate(names)
        }
        return measure(images, anchors, seed, resamples)
