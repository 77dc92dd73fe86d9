"""Accuracy of one configuration of ARES per attribute and group, and the calibration of its confidence.

Precision, recall and F1 come from the confusion matrix (IRIS, Tables 13-15 from 16-18), which holds counts, so scores
can be corrected for its errors, and test sets added.
An abstention is wrong wherever a share is taken, so abstaining never helps. A share without images is None, never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity


@dataclass(frozen=True)
class ClassScores:
    """The scores of one class with `support` images, or their plain mean over classes; None without a denominator.

    `f1` is the harmonic mean of precision and recall, 2 * hits / (labels + images).
    """

    precision: float | None
    recall: float | None
    f1: float | None
    support: int


@dataclass(frozen=True)
class ClassificationReport:
    """A classification report: class -> scores in the order of the matrix, plain means, and share of right labels.

    `macro` has None where one class has no score; `accuracy` is None without images.
    """

    classes: dict[str, ClassScores]
    macro: ClassScores
    accuracy: float | None


def classification_report(
    confusion: ArrayLike, classes: Sequence[str], abstained: ArrayLike | None = None
) -> ClassificationReport:
    """The report of a confusion matrix: scores in [0, 1], ideal 1, None (never 0) without a denominator.

    `confusion` has (k, k) counts, row = true class, column = predicted class; `abstained` (k,) images per true class
    without a label, counted as wrong. ValueError: a shape does not fit the k `classes`, or a count is below 0.
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
    return ClassificationReport(
        scores, ClassScores(**means, support=int(support.sum())), _share(hits.sum(), support.sum())
    )


def _share(part: int, whole: int) -> float | None:
    return float(part / whole) if whole else None


def _mean(scores: list[float | None]) -> float | None:
    defined = [score for score in scores if score is not None]
    return fmean(defined) if defined and len(defined) == len(scores) else None


BINS = 10
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Share:
    """A share of images, with its 95 % interval (Wilson 1927)."""

    right: int
    images: int

    @property
    def ends(self) -> tuple[float, float, float] | None:
        """The share and the ends of its interval, in [0, 1]; ideal 1; None without images."""
        if not self.images:
            return None
        ends = binomtest(self.right, self.images).proportion_ci(method="wilson")
        return self.right / self.images, float(ends.low), float(ends.high)


@dataclass(frozen=True)
class AnswerConfusion:
    """Answers to some images.

    `matrix`: (k, k) counts, row = true label, column = answer; `abstained`: (k,) images per true label without an
    answer.
    """

    images: int
    matrix: list[list[int]]
    abstained: list[int]
    report: ClassificationReport

    @property
    def right(self) -> Share:
        """The share of right answers."""
        return Share(sum(row[place] for place, row in enumerate(self.matrix)), self.images)


@dataclass(frozen=True)
class Disparity:
    """The gap in [0, 1], ideal 0, between the `most` and the `least` accurate group (IRIS, Table 19).

    `value`, `most` and `least` are None with fewer than two groups of two images; `low` and `high` bound the gap over
    all possible answers to abstained images.
    """

    value: float | None
    low: float
    high: float
    most: str | None
    least: str | None


@dataclass(frozen=True)
class Calibration:
    """Agreement of confidence and accuracy in `BINS` bins, over images with an answer that has a probability.

    `edges`: `BINS` + 1 numbers from 0 to 1; `images`, mean `confidence` and `accuracy` per bin, None for an empty one;
    `error`: expected calibration error, the mean gap of both weighted by images, None without images.
    """

    edges: list[float]
    images: list[int]
    confidence: list[float | None]
    accuracy: list[float | None]
    error: float | None


@dataclass(frozen=True)
class AttributeMeasurement:
    """The measurement of one attribute; `disparity` is between its own labels (Table 19).

    `groups`: group (another attribute or `origin`) -> label -> answers; `disparities`: group -> gap in this attribute's
    accuracy.
    """

    labels: tuple[str, ...]
    overall: AnswerConfusion
    disparity: Disparity
    groups: Mapping[str, Mapping[str, AnswerConfusion]]
    disparities: Mapping[str, Disparity]
    calibration: Calibration


def attribute_codes(task: Mapping[str, Any], attribute: str, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Indices into a task's labels -> indices into an attribute's labels, in order of appearance; -1 stays -1."""
    values = task["attributes"][attribute]
    names = list(dict.fromkeys(values))
    codes = np.array([names.index(value) for value in values] + [-1])
    labelled: NDArray[np.intp] = codes[labels]
    return labelled


def measure_codes(
    attribute: str,
    labels: tuple[str, ...],
    true: Codes,
    answers: Codes,
    mass: NDArray[np.float64],
    by: Mapping[str, tuple[tuple[str, ...], Codes]],
) -> AttributeMeasurement:
    """Measure a labeller's (n,) `answers` for one attribute against the `true` labels, as indices, -1 for none.

    `mass`: (n, k) probabilities; images without any (nan) are left out of the calibration. `by`: group -> its values
    and (n,) indices into them, -1 if unknown.
    """
    valid = true >= 0
    groups, disparities = {}, {}
    for other, (names, codes) in by.items():
        if other == attribute or not (valid & (codes >= 0)).any():
            continue
        groups[other] = {name: confusion(labels, true, answers, valid & (codes == i)) for i, name in enumerate(names)}
        disparities[other] = disparity(groups[other])
    overall = confusion(labels, true, answers, valid)
    by_group = {name: confusion(labels, true, answers, valid & (true == i)) for i, name in enumerate(labels)}
    answered = np.flatnonzero(valid & (answers >= 0))
    confidence = mass[answered, answers[answered]]
    stated = ~np.isnan(confidence)
    return AttributeMeasurement(
        labels,
        overall,
        disparity(by_group),
        groups,
        disparities,
        calibration(confidence[stated], (answers == true)[answered][stated]),
    )


def confusion(labels: Sequence[str], true: Codes, codes: Codes, rows: NDArray[np.bool_]) -> AnswerConfusion:
    """The confusion matrix over the chosen images; `codes` is -1 where there is no answer."""
    k = len(labels)
    matrix = np.zeros((k, k), int)
    answered = rows & (codes >= 0)
    np.add.at(matrix, (true[answered], codes[answered]), 1)
    abstained = np.bincount(true[rows & (codes < 0)], minlength=k)
    report = classification_report(matrix, tuple(labels), abstained)
    return AnswerConfusion(int(rows.sum()), matrix.tolist(), abstained.tolist(), report)


def disparity(groups: Mapping[str, AnswerConfusion]) -> Disparity:
    """The accuracy gap between groups."""
    names, parts = list(groups), groups.values()
    images = np.array([part.images for part in parts])
    silent = np.array([sum(part.abstained) for part in parts])
    right = np.array([part.right.right for part in parts])
    none = np.zeros_like(silent)
    value, _, _ = accuracy_disparity(right, images - right, none, none)
    _, low, high = accuracy_disparity(right, images - silent - right, none, silent)
    if np.isnan(value):
        return Disparity(None, float(low), float(high), None, None)
    counted = [i for i in range(len(names)) if images[i] >= 2]
    ordered = sorted(counted, key=lambda i: right[i] / images[i])
    return Disparity(float(value), float(low), float(high), names[ordered[-1]], names[ordered[0]])


def calibration(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> Calibration:
    """The reliability diagram's bins of equal width, and the expected calibration error.

    `confidence`: (n,) probability of the answer; `right`: (n,) correctness.
    """
    edges = np.linspace(0, 1, BINS + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sure, hits = np.bincount(place, confidence, BINS), np.bincount(place, right, BINS)
    error = float(np.abs(sure - hits).sum() / len(confidence)) if len(confidence) else None
    return Calibration(
        [round(float(edge), 6) for edge in edges],
        counts.tolist(),
        [float(s / n) if n else None for s, n in zip(sure, counts, strict=True)],
        [float(h / n) if n else None for h, n in zip(hits, counts, strict=True)],
        error,
    )
