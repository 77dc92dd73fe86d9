"""What one configuration of ARES gets right: per attribute and group, and how well its confidence is calibrated.

Precision, recall and F1 come from the confusion matrix (IRIS, Tables 13-15 from 16-18). A matrix is counts, so that a
score made with the classifier's labels can be corrected for its errors, and two test sets can be added.

An image that is abstained from is wrong wherever a share is taken, so abstaining never helps. A share without images is
None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from fairspace.ares.deciding_ares import Decided
from fairspace.ares.evaluating.data import HeldOut, attribute_codes
from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity


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
class Confusion:
    """What became of some images.

    Args:
        images: how many.
        matrix: (k, k) counts, row = true label, column = the answer.
        abstained: (k,) images per true label without an answer.
        report: precision, recall, F1, support.
    """

    images: int
    matrix: list[list[int]]
    abstained: list[int]
    report: Report

    @property
    def right(self) -> Share:
        """The share of right answers."""
        return Share(sum(row[place] for place, row in enumerate(self.matrix)), self.images)


@dataclass(frozen=True)
class Disparity:
    """The gap between the most and the least accurate group (IRIS, Table 19).

    Args:
        value: in [0, 1], ideal 0; None with fewer than two groups of two images.
        low: least gap over what abstained images could have been.
        high: largest such gap.
        most: the most accurate group; None where `value` is.
        least: the least accurate one.
    """

    value: float | None
    low: float
    high: float
    most: str | None
    least: str | None


@dataclass(frozen=True)
class Calibration:
    """How confidence and accuracy agree, over images with an answer that has a probability.

    Args:
        edges: of the bins, `BINS` + 1 numbers from 0 to 1.
        images: per bin.
        confidence: mean per bin; None for an empty one.
        accuracy: share of right answers per bin; None for an empty one.
        error: expected calibration error, the mean gap of both, weighted by images; None without images.
    """

    edges: list[float]
    images: list[int]
    confidence: list[float | None]
    accuracy: list[float | None]
    error: float | None


@dataclass(frozen=True)
class Measured:
    """Everything about one attribute.

    Args:
        labels: of the attribute.
        overall: over all its images.
        disparity: between its own labels (Table 19).
        groups: group -> label -> images of that group; groups are the other attributes and `origin`.
        disparities: group -> gap in this attribute's accuracy between its labels.
        calibration: of the answers.
    """

    labels: tuple[str, ...]
    overall: Confusion
    disparity: Disparity
    groups: Mapping[str, Mapping[str, Confusion]]
    disparities: Mapping[str, Disparity]
    calibration: Calibration


def measure_attribute(task: Mapping[str, Any], attribute: str, images: HeldOut, decided: Decided) -> Measured:
    """Measure an attribute of a task on its test set.

    Args:
        task: registry entry.
        attribute: one of its attributes.
        images: the set, n images.
        decided: the model's n decisions in this task.
    """
    labels = tuple(dict.fromkeys(str(value) for value in task["attributes"][attribute]))
    said, mass = attribute_codes(task, attribute, decided.label), decided.chances(task, attribute)
    return measure_codes(attribute, labels, images.groups[attribute][1], said, mass, images.groups)


def measure_codes(
    attribute: str,
    labels: tuple[str, ...],
    true: Codes,
    said: Codes,
    mass: NDArray[np.float64],
    by: Mapping[str, tuple[tuple[str, ...], Codes]],
) -> Measured:
    """Measure a labeller's answers for one attribute.

    Args:
        attribute: its name.
        labels: its k labels.
        true: (n,) indices into them, -1 where it is not known.
        said: (n,) the answers, -1 where there is none.
        mass: (n, k) probabilities; images whose answer has none (nan) are left out of the calibration.
        by: group -> its values and (n,) indices into them, -1 where it is not known.
    """
    known = true >= 0
    groups, disparities = {}, {}
    for other, (names, codes) in by.items():
        if other == attribute or not (known & (codes >= 0)).any():
            continue
        groups[other] = {name: confusion(labels, true, said, known & (codes == i)) for i, name in enumerate(names)}
        disparities[other] = disparity(groups[other])
    overall = confusion(labels, true, said, known)
    by_group = {name: confusion(labels, true, said, known & (true == i)) for i, name in enumerate(labels)}
    answered = np.flatnonzero(known & (said >= 0))
    confidence = mass[answered, said[answered]]
    told = ~np.isnan(confidence)
    return Measured(
        labels,
        overall,
        disparity(by_group),
        groups,
        disparities,
        calibration(confidence[told], (said == true)[answered][told]),
    )


def confusion(labels: Sequence[str], true: Codes, said: Codes, chosen: NDArray[np.bool_]) -> Confusion:
    """The confusion matrix over the chosen images; `said` is -1 where there is no answer."""
    k = len(labels)
    matrix = np.zeros((k, k), int)
    answered = chosen & (said >= 0)
    np.add.at(matrix, (true[answered], said[answered]), 1)
    abstained = np.bincount(true[chosen & (said < 0)], minlength=k)
    report = classification_report(matrix, tuple(labels), abstained)
    return Confusion(int(chosen.sum()), matrix.tolist(), abstained.tolist(), report)


def disparity(groups: Mapping[str, Confusion]) -> Disparity:
    """The gap between groups."""
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

    Args:
        confidence: (n,) probability that the model gives to its answer.
        right: (n,) whether the answer is right.
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
