"""Intent consistency (IRIS, D.3.3, Table 32): does a language model send the same vector however a prompt is worded?

The mean cosine similarity over all pairs of the embeddings of a concept's paraphrases, and its standard deviation. The
paper reads a mean above 0.95 as a 'lazy commander' that ignores how the prompt is worded. No value is ideal: 1 is one
vector for all wordings.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairspace.metrics.vectors import RESAMPLES, Floats, cosines, drawn, in_order, percentiles, summary, why_undefined

NAME = "intent_consistency"
LAZY = 0.95
"""Above it the paper speaks of a lazy commander (D.3.3: '> 0.95')."""


def intent_consistency(vectors: Floats) -> tuple[float, float]:
    """Mean and population standard deviation of the cosines of all pairs of rows.

    Args:
        vectors: embeddings of the paraphrases of one concept, shape (paraphrases, dimensions).

    Returns:
        (mean, standard deviation): in [-1, 1] and [0, 1]. Both are nan with fewer than two rows or one without a
        direction; the deviation is nan with two rows, whose one pair shows no spread. The paper does not say which
        standard deviation it prints; this one divides by the number of pairs.
    """
    if len(vectors) < 2:
        return float("nan"), float("nan")
    pairs = cosines(vectors, vectors)[np.triu_indices(len(vectors), 1)]
    return float(pairs.mean()), float(pairs.std()) if len(pairs) > 1 else float("nan")


def measure(concepts: Mapping[str, Floats], seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Any]:
    """The consistency of each concept and its mean.

    Args:
        concepts: concept -> embeddings of its paraphrases, shape (paraphrases, dimensions).
        seed: Seed of the resampled paraphrases and concepts.
        resamples: Draws; 0 for no intervals.

    Returns:
        see the module: the mean over concepts in [-1, 1]. A concept's interval resamples its paraphrases and leaves out
        pairs of a paraphrase and itself; it is None with fewer than three. Undefined with fewer than two paraphrases,
        or where a vector is missing or zero; the mean where a concept is.
    """
    rows = {name: _concept(in_order(concepts[name]), seed, resamples) for name in sorted(concepts)}
    result = summary(NAME, rows, "no concept has two paraphrases with vectors", seed, resamples)
    lazy = [name for name, row in rows.items() if row["value"] is not None and row["value"] > LAZY]
    return result | {"above_threshold": lazy, "threshold": LAZY}


def _concept(vectors: Floats, seed: int, resamples: int) -> dict[str, Any]:
    reason = why_undefined(vectors) or ("" if len(vectors) > 1 else "there are fewer than two paraphrases")
    mean, deviation = (float("nan"), float("nan")) if reason else intent_consistency(vectors)
    interval = None
    if not reason and len(vectors) > 2 and resamples:
        near = cosines(vectors, vectors)
        times = np.stack([(row[:, None] == np.arange(len(row))).sum(0) for row in drawn(len(vectors), seed, resamples)])
        np.fill_diagonal(near, 0)
        pairs = len(vectors) ** 2 - (times**2).sum(1)
        with np.errstate(invalid="ignore"):
            interval = percentiles(np.einsum("bi,ij,bj->b", times, near, times) / np.where(pairs, pairs, np.nan))
    return {
        "value": None if np.isnan(mean) else mean,
        "interval": None if interval is None else list(interval),
        "reason": reason,
        "standard_deviation": None if np.isnan(deviation) else deviation,
        "paraphrases": len(vectors),
    }
