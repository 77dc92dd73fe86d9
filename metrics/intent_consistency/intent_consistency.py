"""Intent consistency as an `evaluate` module: columns in, the number with its interval and evidence out."""

from collections.abc import Sequence
from typing import Any

from fairspace.metrics.columns import check_lengths, distinct, encode
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.vectors import RESAMPLES, read_vectors

from .formula import measure

DESCRIPTION = """\
Intent consistency is how alike the vectors are that a language model sends to its image decoder for paraphrases of one
concept: the mean pairwise cosine similarity and its standard deviation. 1 is one vector for all wordings; the paper
calls a model above 0.95 a lazy commander. Probe D.3.3 of IRIS."""

INPUTS = """
Args:
    predictions: the intent embedding of every paraphrase, a list of numbers; None if it is missing.
    concepts: what the paraphrase says, such as `male doctor`.
    seed: of the interval's draws.
    resamples: how many draws; 0 for no intervals.

Returns:
    intent_consistency in [-1, 1] (None if undefined), above_threshold (concepts above 0.95), partial_mean, interval,
    state, reason, coverage (of concepts), counts, by_occupation (per concept, with standard_deviation), seed,
    resamples.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/intent_consistency")
    >>> result = metric.compute(
    ...     predictions=[[1, 0], [3, 4], [0, 1]],
    ...     concepts=["male doctor", "male doctor", "male doctor"],
    ... )
    >>> round(result["intent_consistency"], 6)
    0.466667
"""


class IntentConsistency(ColumnMetric):
    """Mean pairwise cosine similarity over the paraphrases of a concept: 1 is one vector for all wordings."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "vector", "concepts": "string"})

    def _measure(
        self,
        predictions: Sequence[Any],
        concepts: Sequence[Any] = (),
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, concepts=concepts)
        vectors = read_vectors(predictions, "predictions")
        names = distinct(concepts, "concepts")
        place = encode(concepts, "concepts", names, missing=False)
        return measure({name: vectors[place == i] for i, name in enumerate(names)}, seed, resamples)
