"""Statistical parity difference as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import (
    NO_CLASS,
    Floats,
    Integers,
    check_count,
    check_lengths,
    check_names,
    cross_count,
    distinct,
    divide,
    encode,
    outcome,
)
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.resampling import Counts, Family
from fairspace.metrics.sampling import PERMUTED, Counted, permuted, shares_of, size

from .formula import left_out, rate_gap, statistical_parity_difference

DESCRIPTION = """\
Statistical parity difference is the largest gap, over the classes, in how often groups get one class as the answer:
max over c of (max P(c | g) - min P(c | g)); `unmappable` and `refused` are classes. 0 is the same answers for every
group (ideal), 1 is a class that one group always gets and another never. Metric M3 of IRIS."""

INPUTS = """
Args:
    predictions: the answered class of every sample; `unmappable` if it fits no class, `refused` if it declines to
        answer, '' if the sample is missing.
    groups: the group of every sample.
    minimum: a group with fewer samples (missing ones included) is left out and listed.
    classes: all classes; if given, any other word among predictions is an error.
    compared: the class whose rates `by_group` has; by default the one with the largest gap.

Returns:
    statistical_parity_difference in [0, 1] (None if fewer than two groups have an answer, or no answer fits a class),
    if_missing_low, if_missing_high, state, reason, coverage, counts, class (`compared`), by_group
    (rate of that class, counts), left_out.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/statistical_parity_difference")
    >>> result = metric.compute(
    ...     predictions=["nurse", "nurse", "nurse", "pilot"], groups=["female", "female", "male", "male"]
    ... )
    >>> result["statistical_parity_difference"], result["class"]
    (0.5, 'nurse')
"""


class StatisticalParityDifference(ColumnMetric):
    """Largest gap in answer rates between groups: 0 is none, 1 is the largest."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string", "groups": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        groups: Sequence[str] = (),
        minimum: int = 2,
        classes: Sequence[str] | None = None,
        compared: str | None = None,
    ) -> dict[str, Any]:
        least, names, vocabulary, group, places = self._cells(predictions, groups, minimum, classes)
        table, missing = cross_count(group, len(names), places, len(vocabulary))
        counts, unmappable, refused = table[:, :-2], table[:, -2], table[:, -1]
        out, answered = left_out(counts, unmappable + refused, missing, least), table.sum(1)
        rates = table / np.where(answered > 0, answered, 1)[:, None]
        some = rates[~out & (answered > 0)]
        widest = int(np.ptp(some, axis=0).argmax()) if len(some) > 1 else None
        if compared is not None:
            (widest,) = encode([compared], "compared", vocabulary, missing=False).tolist()
        by_group = {
            name: {
                "rate": None if widest is None or not answered[i] else float(rates[i, widest]),
                "valid": int(counts[i].sum()),
                "unmappable": int(unmappable[i]),
                "refused": int(refused[i]),
                "missing": int(missing[i]),
            }
            for i, name in enumerate(names)
        }
        return outcome(
            "statistical_parity_difference",
            statistical_parity_difference(counts, unmappable, missing, least, refused),
            valid=int(table.sum()),
            expected=len(group),
            reason=f"no answer fits a class, or fewer than two groups have an answer and at least {least} samples",
            evidence={
                "class": None if widest is None else vocabulary[widest],
                "by_group": by_group,
                "left_out": [name for name, is_out in zip(names, out, strict=True) if is_out],
            },
        )

    def _cells(
        self,
        predictions: Sequence[str],
        groups: Sequence[str] = (),
        minimum: int = 2,
        classes: Sequence[str] | None = None,
    ) -> tuple[int, Sequence[str], Sequence[str], Integers, Integers]:
        """Fewest samples of a group, the groups, the classes, and each row's place among both."""
        check_lengths(predictions=predictions, groups=groups)
        least, names = check_count(minimum, "minimum"), distinct(groups, "groups")
        vocabulary = distinct(predictions, "predictions") if classes is None else check_names(classes, "classes")
        vocabulary = (*(name for name in vocabulary if name not in NO_CLASS), *NO_CLASS)
        group = encode(groups, "groups", names, missing=False)
        return least, names, vocabulary, group, encode(predictions, "predictions", vocabulary)

    def _counted(self, compared: str | None = None, **arguments: Any) -> Counted:
        least, names, vocabulary, group, places = self._cells(**arguments)
        shape, kept = (len(names), len(vocabulary)), np.bincount(group, minlength=len(names)) >= max(least, 1)
        cell = np.where(places < 0, -1, group * len(vocabulary) + places)
        whole = np.bincount(cell[cell >= 0], minlength=shape[0] * shape[1]).reshape(1, *shape)

        def difference(counts: Counts, order: Counts | None = None) -> Floats:
            ranks = None if order is None else order["answers"] * kept[:, None]
            gap = rate_gap(counts["answers"] * kept[:, None], ranks)
            return np.where(counts["answers"][..., :-2].any(axis=(1, 2)), gap, np.nan)[:, None]

        def fair(rng: np.random.Generator, models: int) -> Floats:
            return difference({"answers": next(permuted(rng, min(models, PERMUTED), whole))})

        families = [Family([size("statistical_parity_difference")], difference, fair)]
        if compared is not None:
            at = vocabulary.index(compared)
            families.append(shares_of(names, lambda c: divide(c["answers"][..., at], c["answers"].sum(axis=-1))))
        return Counted({"answers": (cell, shape)}, families)
