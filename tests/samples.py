"""Samples of a benchmark or of a test: their values, and what a fair model shows."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.resampling import (
    Block,
    Counts,
    CountTable,
    Fair,
    Family,
    Quantity,
    Sample,
    each,
    names_of,
    quantities_of,
    values_of,
    whole,
)


def sample(
    of: Callable[..., Floats],
    *quantities: Quantity | str,
    strata: Integers,
    fair: Fair | None = None,
    task: str = "a task",
    unit: str = "number",
    blocks: Mapping[str, Block] | None = None,
) -> Sample:
    """A sample whose values are a function of the (b, n) counts of its clusters, or of other blocks."""
    listed = [Quantity(each) if isinstance(each, str) else each for each in quantities]

    def values(counts: Counts, *order: Counts) -> Floats:
        return of(*(counts["times"] for counts in (counts, *order)))

    table = CountTable(task, unit, strata, {"times": each(len(strata))} if blocks is None else blocks)
    return table, [Family(listed, values if blocks is None else of, fair)]


def names(sample: Sample) -> list[str]:
    return names_of(sample[1])


def values(sample: Sample) -> Floats:
    return values_of(sample[1], sample[0].whole())[0]


def once(sample: Sample) -> dict[str, float]:
    return whole(*sample)[1]


def quantity(sample: Sample, name: str) -> Quantity:
    return next(quantity for quantity in quantities_of(sample[1]) if quantity.name == name)


def without_fair(sample: Sample) -> Sample:
    return sample[0], [replace(family, fair=None) for family in sample[1]]
