"""Precision, recall and F1 of a classifier from its confusion matrix (IRIS, Tables 13-15 from 16-18).

A matrix is counts, so that a score made with the classifier's labels can be corrected for its errors, and two test sets
can be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class ClassScores:
    """The scores of one class, or their plain mean over classes.

    Args:
        precision: share of the images with this label that have this class; None if none has the label.
        recall: share of the images of this class that get this label; None if there is none.
        f1: harmonic mean of both, 2 * hits / (labels + images); None if both counts are 0.
        support: images of this class.
    """

    precision: float | None
    recall: float | None
    f1: float | None
    support: int


@dataclass(frozen=True)
class Report:
    """A classification report.

    Args:
        classes: class -> its scores, in the order of the matrix.
        macro: plain means over the classes; None where one class has no score.
        accuracy: share of right labels; None without images.
    """

    classes: dict[str, ClassScores]
    macro: ClassScores
    accuracy: float | None


def classification_report(confusion: ArrayLike, classes: Sequence[str], abstained: ArrayLike | None = None) -> Report:
    """The report of a confusion matrix.

    Args:
        confusion: (k, k) counts, row = true class, column = predicted class.
        classes: the k class names.
        abstained: (k,) images per true class that got no label; each is wrong, so that abstaining never helps.

    Returns:
        Scores in [0, 1], ideal 1. A ratio without a denominator is None, never 0.

    Raises:
        ValueError: the matrix is not k by k, `abstained` is not k long, or a count is below 0.
    """
    counts = np.asarray(confusion)
    k = len(classes)
    if counts.shape != (k, k):
        raise ValueError(f"A confusion matrix of {', '.join(classes)} is {k} by {k}, not {counts.shape}.")
    silent = np.zeros(k, int) if abstained is None else np.asarray(abstained)
    if silent.shape != (k,):
        raise ValueError(f"Abstained images of {k} classes are {k} counts, not {silent.shape}.")
    if min(counts.min(initial=0), silent.min(initial=0)) < 0:
        raise ValueError(f"A confusion matrix holds counts of 0 or more, not {min(counts.min(), silent.min())}.")
    hits, support, predicted = np.diag(counts), counts.sum(1) + silent, counts.sum(0)
    scores = {
        name: ClassScores(
            _share(hits[i], predicted[i]),
            _share(hits[i], support[i]),
            _share(2 * hits[i], predicted[i] + support[i]),
            int(support[i]),
        )
        for i, name in enumerate(classes)
    }
    means = {key: _mean([getattr(row, key) for row in scores.values()]) for key in ("precision", "recall", "f1")}
    return Report(scores, ClassScores(**means, support=int(support.sum())), _share(hits.sum(), support.sum()))


def _share(part: int, whole: int) -> float | None:
    """The quotient, None where the whole is 0."""
    return float(part / whole) if whole else None


def _mean(scores: list[float | None]) -> float | None:
    """The mean, None if a score is None."""
    known = [score for score in scores if score is not None]
    return fmean(known) if known and len(known) == len(scores) else None
