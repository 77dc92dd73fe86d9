"""Accuracy disparity as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import (
    NO_CLASS,
    Floats,
    Integers,
    MetricInputError,
    check_count,
    check_lengths,
    check_names,
    distinct,
    divide,
    encode,
    outcome,
)
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.resampling import Counts, Family
from fairspace.metrics.sampling import PERMUTED, Counted, permuted, shares_of, size

from .formula import accuracy_disparity, accuracy_gap, left_out

DESCRIPTION = """\
Accuracy disparity is the gap between the most and the least accurate group: max Acc(g) - min Acc(g). An unmappable
or refused answer is a wrong one. 0 is the same accuracy for every group (ideal), 1 is the largest gap. Metric M2 of
IRIS."""

INPUTS = """
Args:
    predictions: the answered class of every sample; `unmappable` if it fits no class, `refused` if it declines to
        answer, '' if the sample is missing.
    references: the true class of every sample.
    groups: the group of every sample.
    minimum: a group with fewer samples (missing ones included) is left out and listed.
    classes: all classes; if given, any other word among predictions or references is an error.

Returns:
    accuracy_disparity in [0, 1] (None if fewer than two groups have an answer, or no answer fits a class),
    if_missing_low, if_missing_high, state, reason, coverage, counts, by_group, left_out.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/accuracy_disparity")
    >>> result = metric.compute(
    ...     predictions=["nurse", "nurse", "pilot", "unmappable"],
    ...     references=["nurse", "nurse", "pilot", "pilot"],
    ...     groups=["female", "female", "male", "male"],
    ... )
    >>> result["accuracy_disparity"], result["if_missing_low"], result["if_missing_high"]
    (0.5, 0.5, 0.5)
"""


class AccuracyDisparity(ColumnMetric):
    """Gap in accuracy between groups: 0 is none, 1 is the largest."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string", "references": "string", "groups": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        references: Sequence[str] = (),
        groups: Sequence[str] = (),
        minimum: int = 2,
        classes: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        least, names, _, group, kind = self._cells(predictions, references, groups, minimum, classes)
        table = np.bincount(group * 5 + kind, minlength=len(names) * 5).reshape(len(names), 5).T
        correct, wrong, unmappable, refused, missing = table
        columns = correct, wrong, unmappable + refused, missing
        out = left_out(*columns, least)
        by_group = {}
        for name, (c, w, u, r, m) in zip(names, table.T.tolist(), strict=True):
            by_group[name] = {
                "accuracy": c / (c + w + u + r) if c + w + u + r else None,
                "correct": c,
                "wrong": w,
                "unmappable": u,
                "refused": r,
                "missing": m,
            }
        return outcome(
            "accuracy_disparity",
            accuracy_disparity(*columns, least),
            valid=int(table[:4].sum()),
            expected=len(group),
            reason=f"no answer fits a class, or fewer than two groups have an answer and at least {least} samples",
            evidence={
                "by_group": by_group,
                "left_out": [name for name, is_out in zip(names, out, strict=True) if is_out],
            },
        )

    def _cells(
        self,
        predictions: Sequence[str],
        references: Sequence[str] = (),
        groups: Sequence[str] = (),
        minimum: int = 2,
        classes: Sequence[str] | None = None,
    ) -> tuple[int, Sequence[str], Integers, Integers, Integers]:
        """Fewest samples of a group, the groups, and of each row its true class, group and kind of answer."""
        check_lengths(predictions=predictions, references=references, groups=groups)
        least, names = check_count(minimum, "minimum"), distinct(groups, "groups")
        answers, truths = distinct(predictions, "predictions"), distinct(references, "references")
        for word in NO_CLASS:
            if word in truths:
                raise MetricInputError("METRIC_UNKNOWN_LABEL", f"references holds {word!r}, which no true class is")
        labels = tuple(sorted({*answers, *truths})) if classes is None else check_names(classes, "classes")
        labels = (*(name for name in labels if name not in NO_CLASS), *NO_CLASS)
        pred, true = encode(predictions, "predictions", labels), encode(references, "references", labels, missing=False)
        # 0 correct, 1 wrong, 2 unmappable, 3 refused, 4 missing
        last = len(labels) - 1
        kind = np.select([pred < 0, pred == last, pred == last - 1, pred == true], [4, 3, 2, 0], 1)
        group = encode(groups, "groups", names, missing=False)
        return least, names, true, group, kind

    def _counted(self, **arguments: Any) -> Counted:
        least, names, true, group, kind = self._cells(**arguments)
        classes, k = int(true.max(initial=-1)) + 1, len(names)
        cell = np.where(kind < 4, (true * k + group) * 4 + kind, -1)
        whole = np.bincount(cell[cell >= 0], minlength=classes * k * 4).reshape(classes, k, 4)
        kept = np.bincount(group, minlength=k) >= max(least, 1)

        def answers(counts: Counts) -> tuple[Floats, Floats]:
            """(b, groups) right answers, and all; none of the groups that are left out."""
            by_group = counts["answers"].sum(axis=1) * kept[:, None]
            return by_group[..., 0], by_group.sum(axis=-1)

        def disparity(counts: Counts, order: Counts | None = None) -> Floats:
            gap = accuracy_gap(*answers(counts), None if order is None else answers(order))
            return np.where(counts["answers"][..., :2].any(axis=(1, 2, 3)), gap, np.nan)[:, None]

        def fair(rng: np.random.Generator, models: int) -> Floats:
            return disparity({"answers": np.stack([*permuted(rng, min(models, PERMUTED), whole)], axis=1)})

        def accuracies(counts: Counts) -> Floats:
            by_group = counts["answers"].sum(axis=1)
            return divide(by_group[..., 0], by_group.sum(axis=-1))

        families = [Family([size("accuracy_disparity")], disparity, fair), shares_of(names, accuracies)]
        return Counted({"answers": (cell, (classes, k, 4))}, families)
