"""Samples of a benchmark or of a test: their values, and what a fair model shows."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from fairspace.metrics import resampling
from fairspace.metrics.columns import Floats, Integers


def sample(
    of: Callable[..., Floats],
    *quantities: resampling.Quantity | str,
    strata: Integers,
    fair: resampling.Fair | None = None,
    task: str = "a task",
    unit: str = "number",
    blocks: Mapping[str, resampling.Block] | None = None,
) -> resampling.Sample:
    """A sample whose values are a function of the (b, n) counts of its clusters, or of other blocks."""
    listed = [resampling.Quantity(each) if isinstance(each, str) else each for each in quantities]

    def values(counts: resampling.Counts, *order: resampling.Counts) -> Floats:
        return of(*(counts["times"] for counts in (counts, *order)))

    table = resampling.CountTable(
        task, unit, strata, {"times": resampling.each(len(strata))} if blocks is None else blocks
    )
    return table, [resampling.Family(listed, values if blocks is None else of, fair)]


def names(sample: resampling.Sample) -> list[str]:
    return resampling.names_of(sample[1])


def values(sample: resampling.Sample) -> Floats:
    return resampling.values_of(sample[1], sample[0].whole())[0]


def once(sample: resampling.Sample) -> dict[str, float]:
    return resampling.whole(*sample)[1]


def quantity(sample: resampling.Sample, name: str) -> resampling.Quantity:
    return next(quantity for quantity in resampling.quantities_of(sample[1]) if quantity.name == name)


def without_fair(sample: resampling.Sample) -> resampling.Sample:
    return sample[0], [replace(family, fair=None) for family in sample[1]]
