"""The arithmetic of IRIS' four image scores (M8 QPS and FQP, M9 SIL and SCL), on embeddings that a model gave.

| score | of an image | range |
|---|---|---|
| QPS | CLIP-IQA (Wang et al. 2023): the softmax of its cosines to "Good photo." and "Bad photo." | [0, 1] |
| FQP | the same with words for faces, on its face: a proxy; or a trained model's own score | [0, 1] |
| SIL | its CLIP cosine to the prompt | [-1, 1] |
| SCL | its mean DINO cosine to the reference images of its prompt | [-1, 1] |

The paper names no models. D.2.3 says "DINO-based", and the authors' program reads a column `dino_ref_score`, a
similarity to a reference image, without the step that makes it; no reference image is published. Here the references
are *the images of IRIS-Ideal-52 of the occupation and group that the prompt asks for* (`references.py`): the same for
every model, and as many for a stereotypical prompt as for a counter-stereotypical one. A model's neutral images of the
occupation would be mostly its stereotype (that is how it was found, C.2) and charge every model for the difference that
was asked for. Dataset revision v1 took the other images that the model made of the very same prompt, which rewards
uniform output and says nothing of its content; without references that is still what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""(d,) what a model made of an image or a text; empty where it found nothing to look at."""

PHOTO = (("Good photo.", "Bad photo."),)
"""CLIP-IQA's antonyms for overall quality."""
FACE = (
    ("Good photo of a face.", "Bad photo of a face."),
    ("Sharp photo of a face.", "Blurry photo of a face."),
    ("Natural photo of a face.", "Distorted photo of a face."),
)
"""Ours, after CLIP-IQA's: quality, sharpness, and what generators do to faces. Not validated on rated faces."""
DIGITS = 6
"""Decimals that are kept: float32 says no more, and they hide in which order it was added up."""


def cosine(vector: Vector, other: Vector) -> float:
    """Cosine similarity, in [-1, 1]; both (d,), neither of length zero."""
    first, second = (np.asarray(each, np.float64) for each in (vector, other))
    return _inside(first @ second / math.sqrt((first @ first) * (second @ second)), -1.0)


def antonym_score(image: Vector, antonyms: Sequence[tuple[Vector, Vector]], scale: float) -> float:
    """How much nearer an image is to the good words than to the bad ones: mean over the pairs of the softmax's share.

    Args:
        image: (d,).
        antonyms: pairs of good and bad words, (d,) each; at least one.
        scale: what cosines are multiplied with, 100 for CLIP as it was published.

    Returns:
        A score in [0, 1]; 0.5 where an image is as near to both.
    """
    gaps = [scale * (cosine(image, good) - cosine(image, bad)) for good, bad in antonyms]
    return _inside(sum(1 / (1 + math.exp(-gap)) for gap in gaps) / len(gaps), 0.0)


def mean_to(vector: Vector, others: Sequence[Vector]) -> float | None:
    """The mean cosine of an image to others, in [-1, 1]; None without any."""
    return _inside(sum(cosine(vector, other) for other in others) / len(others), -1.0) if others else None


def mean_to_others(vectors: Sequence[Vector]) -> list[float | None]:
    """For each of the images of one prompt the mean cosine to all others, in [-1, 1]; None for a single one.

    The mean of cosines to n - 1 others is the cosine with their sum, so n images take n steps.
    """
    if len(vectors) < 2:
        return [None] * len(vectors)
    directions = np.stack([np.asarray(each, np.float64) for each in vectors])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    others = (directions @ directions.sum(axis=0) - 1) / (len(vectors) - 1)
    return [_inside(value, -1.0) for value in others]


def _inside(value: Any, least: float) -> float:
    """The value with `DIGITS` decimals, in [least, 1]: rounding may leave the range by a last digit."""
    return min(max(round(float(value), DIGITS), least), 1.0)
