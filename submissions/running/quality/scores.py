"""The arithmetic of IRIS' four image scores (M8 QPS and FQP, M9 SIL and SCL), on embeddings.

| score | definition | range |
|---|---|---|
| QPS | CLIP-IQA (Wang et al. 2023): the softmax of its cosines to "Good photo." and "Bad photo." | [0, 1] |
| FQP | the same with words for faces, on its face: a proxy; or a trained model's own score | [0, 1] |
| SIL | its CLIP cosine to the prompt | [-1, 1] |
| SCL | its mean DINO cosine to the reference images of its prompt | [-1, 1] |

The paper names no models (D.2.3: "DINO-based") and publishes no reference image. Ours are *the images of IRIS-Ideal-52
of the occupation and group that the prompt asks for* (`models.References`). Without references (dataset revision v1)
they are the other images of the same prompt, which rewards uniform output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""Embedding of an image or a text, (d,); empty if the model found no subject, such as a face."""

PHOTO = (("Good photo.", "Bad photo."),)
"""CLIP-IQA's antonyms for overall quality."""
FACE = (
    ("Good photo of a face.", "Bad photo of a face."),
    ("Sharp photo of a face.", "Blurry photo of a face."),
    ("Natural photo of a face.", "Distorted photo of a face."),
)
"""Our words after CLIP-IQA's: quality, sharpness, typical faults of generated faces. Not validated on rated faces."""
DIGITS = 6
"""Decimals kept: float32 has no more, and rounding hides the order of summation."""


def cosine(vector: Vector, other: Vector) -> float:
    """Cosine similarity, in [-1, 1]; both (d,), neither of length zero."""
    first, second = (np.asarray(each, np.float64) for each in (vector, other))
    return _inside(first @ second / math.sqrt((first @ first) * (second @ second)), -1.0)


def antonym_score(image: Vector, antonyms: Sequence[tuple[Vector, Vector]], scale: float) -> float:
    """Mean over pairs of opposite words of the softmax of an image's cosines: the share of the good word, in [0, 1].

    0.5 at equal cosines. All vectors are (d,); at least one pair (good, bad). `scale` multiplies cosines (CLIP: 100).
    """
    gaps = [scale * (cosine(image, good) - cosine(image, bad)) for good, bad in antonyms]
    return _inside(sum(1 / (1 + math.exp(-gap)) for gap in gaps) / len(gaps), 0.0)


def mean_to(vector: Vector, others: Sequence[Vector]) -> float | None:
    """The mean cosine of an image to others, in [-1, 1]; None without any."""
    return _inside(sum(cosine(vector, other) for other in others) / len(others), -1.0) if others else None


def mean_to_others(vectors: Sequence[Vector]) -> list[float | None]:
    """Mean cosine of each image of a prompt to all others, in [-1, 1]; None for a single image. Linear time."""
    if len(vectors) < 2:
        return [None] * len(vectors)
    directions = np.stack([np.asarray(each, np.float64) for each in vectors])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    others = (directions @ directions.sum(axis=0) - 1) / (len(vectors) - 1)
    return [_inside(value, -1.0) for value in others]


def _inside(value: Any, least: float) -> float:
    """The value with `DIGITS` decimals, clipped to [least, 1]."""
    return min(max(round(float(value), DIGITS), least), 1.0)
