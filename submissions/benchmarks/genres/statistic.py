"""A value of sums over passages: its number, its bounds, and its design by elements.

The cluster is an element, whose five passages differ in image and names. Number, bounds and replicates come from one
function of sums (`numbers`): those of the passages handed in, those with the missing ones at their worst, and those of
a resample. A fair model is the measured one with male and female exchanged at random in each passage; its values are
magnitudes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.genres_bias.formula import MEAN, Ends, filled, from_sums
from fairspace.metrics.resampling import Counts, CountTable, Family, Quantity, Sample, sums
from fairspace.submissions.values import Evidence, Value, measured, measured_share, undefined

Rows = NDArray[np.bool_]
"""(n,) mask of passages."""
Part = tuple[Floats, Rows]
"""(n, 3) difference, total and 1 of each usable passage, 0 of the others; and the passages asked about."""
USED = 2
"""Column of the usable passages."""


@dataclass(frozen=True)
class SumStatistic:
    """A value of sums over passages, or a weighted sum of several.

    Args:
        quantity: Its name, its limits, and the method of its interval.
        parts: The passages of each of the summed values.
        formula: Name of their formula (`from_sums`).
        weights: Weight of each.
        ends: Smallest and largest number that a missing passage adds; None for a value without bounds.
        independent: Elements that vary by themselves, from the elements that each part uses; None for all.
        fair: Whether fair models are drawn.
        reason: Reason for no number; one of the passages if left out.
        expected: Passages asked about; those of all parts if left out.
        smallest: Usable passages of the smallest compared part.
        evidence: Basis of the number.
    """

    quantity: Quantity
    parts: tuple[Part, ...]
    formula: str = MEAN
    weights: tuple[float, ...] = (1.0,)
    ends: Ends | None = None
    independent: Callable[[Sequence[int]], int] | None = sum
    fair: bool = False
    reason: str = ""
    expected: int | None = None
    smallest: int | None = None
    evidence: Evidence = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the value."""
        return self.quantity.name

    def value(self, number: float, low: float, high: float, added: Floats, asked: Integers) -> Value:
        """The value; `added`: (k, 3) sums of the parts, `asked`: (k,) passages asked about."""
        valid, count = int(added[:, USED].sum()), round(float(added[0, 0]))
        about: dict[str, Any] = {"expected": int(asked.sum()) if self.expected is None else self.expected}
        if self.quantity.method == "exact":
            return measured_share(self.name, count, valid, **about, evidence={"count": count, **self.evidence})
        about |= {"valid": valid, "evidence": self.evidence}
        if np.isnan(number):
            reason = "no passage decides it" if valid else "no passage can be used for it"
            return undefined(self.name, self.reason or reason, **about)
        if self.ends is not None:
            about |= {"low": low, "high": high}
        return measured(self.name, number, smallest=self.smallest, **about)


Listed = SumStatistic | Value
"""A value of sums, or one without a number."""


def summed(statistics: Sequence[SumStatistic], clusters: int = 1) -> Floats:
    """(clusters, k, 3) sums of the parts of all statistics over clusters of equally many passages, in their order."""
    parts = (part for statistic in statistics for part in statistic.parts)
    each = [rows.reshape(clusters, 1, -1) @ added.reshape(clusters, -1, 3) for added, rows in parts]
    return np.concatenate(each, axis=1)


def numbers(statistics: Sequence[SumStatistic], added: Floats) -> Floats:
    """(..., k, 3) sums of the parts -> (..., m) values of the statistics, nan where undefined."""
    formulas = np.array([statistic.formula for statistic in statistics for _ in statistic.parts])
    values = np.empty(added.shape[:-1])
    for name in set(formulas.tolist()):
        places = formulas == name
        values[..., places] = from_sums(name, *np.moveaxis(added[..., places, :], -1, 0))
    weighted = values * [weight for statistic in statistics for weight in statistic.weights]
    return np.asarray(np.add.reduceat(weighted, _starts(statistics), axis=-1))


def _starts(statistics: Sequence[SumStatistic]) -> list[int]:
    """The place of each statistic's first part."""
    return [*accumulate((len(statistic.parts) for statistic in statistics[:-1]), initial=0)]


def measured_values(listed: Iterable[Listed]) -> dict[str, Value]:
    """The values of the whole sample by name, in their order."""
    values = {each.name: each for each in listed}
    statistics = [each for each in values.values() if isinstance(each, SumStatistic)]
    result = {name: each for name, each in values.items() if isinstance(each, Value)}
    if statistics:
        (added,), starts = summed(statistics), _starts(statistics)[1:]
        asked = np.array([rows.sum() for statistic in statistics for _, rows in statistic.parts])
        ends = [(each.ends or (0.0, 0.0))[:: 1 if w > 0 else -1] for each in statistics for w in each.weights]
        difference, total, used = added.T
        worst = (np.stack(filled(difference, total, used, asked, end), axis=-1) for end in np.transpose(ends))
        columns = (numbers(statistics, counts).tolist() for counts in (added, *worst))
        parts = np.split(added, starts), np.split(asked, starts)
        for statistic, *about in zip(statistics, *columns, *parts, strict=True):
            result[statistic.name] = statistic.value(*about)
    return {name: result[name] for name in values}


def design(strata: Integers, unit: str, *groups: Iterable[Listed]) -> list[Sample]:
    """The table of groups of values by elements, drawn within strata; empty without values."""
    blocks, families = {}, []
    for place, group in enumerate(groups):
        statistics = [each for each in group if isinstance(each, SumStatistic)]
        if statistics:
            name, added = f"sums {place}", summed(statistics, len(strata))
            held = np.split((added[..., USED] > 0).sum(axis=0), _starts(statistics)[1:])
            quantities = [
                of.quantity if of.independent is None else replace(of.quantity, independent=of.independent(n.tolist()))
                for of, n in zip(statistics, held, strict=True)
            ]
            fair = partial(_exchanged, statistics) if all(each.fair for each in statistics) else None
            blocks[name] = sums(added)
            families.append(Family(quantities, partial(_of_counts, statistics, name), fair))
    return [(CountTable("genres", unit, strata, blocks), families)] if families else []


def _of_counts(statistics: Sequence[SumStatistic], name: str, counts: Counts) -> Floats:
    return numbers(statistics, counts[name])


def _exchanged(statistics: Sequence[SumStatistic], rng: np.random.Generator, models: int) -> Floats:
    """(models, m) magnitudes of models that exchange male and female at random in each passage."""
    passages = summed(statistics, len(statistics[0].parts[0][1]))
    signs = np.where(rng.random((models, len(passages))) < 0.5, -1.0, 1.0)
    drawn = np.repeat(passages.sum(axis=0)[None], models, axis=0)
    drawn[..., 0] = signs @ passages[..., 0]
    return np.abs(numbers(statistics, drawn))
