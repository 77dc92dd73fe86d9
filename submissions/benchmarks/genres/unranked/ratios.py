"""Values of GENRES that no score has a part of: sums over passages divided by sums, with one design for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import ratio
from fairspace.submissions.benchmarks.genres.records import Column
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times
from fairspace.submissions.values import Evidence, Value, measured, undefined


@dataclass(frozen=True)
class Ratio:
    """A share, a mean or a difference of shares over passages.

    Args:
        name: of the value.
        part: (1440,) what each passage adds above.
        whole: (1440,) what it adds below; 0 where it does not count.
        reason: why there is no number where nothing counts.
        expected: passages that could count.
        limits: the smallest and the largest number that it can be.
        bounds: its ends over what is missing; None where they are open.
        evidence: what it was made from.
    """

    name: str
    part: Column
    whole: Column
    reason: str
    expected: int
    limits: tuple[float, float] = (0.0, 1.0)
    bounds: tuple[float, float] | None = None
    evidence: Evidence = field(default_factory=dict)

    def value(self) -> Value:
        """The measured value."""
        valid = int(np.count_nonzero(self.whole))
        if not valid:
            return undefined(self.name, self.reason, expected=self.expected, evidence=self.evidence)
        low, high = self.bounds or (None, None)
        number = float(self.part.sum() / self.whole.sum())
        about = {"expected": self.expected, "valid": valid}
        return measured(self.name, number, low=low, high=high, evidence=self.evidence, **about)


def ratio_design(ratios: Sequence[Ratio], strata: Integers) -> list[Design]:
    """How the passages of these values are drawn: elements with their five passages, within strata; none without."""
    if not ratios:
        return []
    parts, wholes = (
        np.stack(columns, axis=1).reshape(len(strata), plan.IMAGES, -1).sum(axis=1)
        for columns in ([ratio.part for ratio in ratios], [ratio.whole for ratio in ratios])
    )

    def statistic(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        return ratio(drawn @ parts, drawn @ wholes)

    names = tuple(each.name for each in ratios)
    limits = {each.name: each.limits for each in ratios}
    elements = dict(zip(names, np.count_nonzero(wholes, axis=0).tolist(), strict=True))
    unit = "element, with its five passages"
    return [Design("genres", unit, strata, names, statistic, limits, independent=elements)]
