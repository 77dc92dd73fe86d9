"""What the values of IRIS share: the figures that groups are compared with, and means over occupations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris.labour import Region, shares
from fairspace.submissions.uncertainty.design import Floats, Integers
from fairspace.submissions.values import Value, measured, undefined


@dataclass(frozen=True)
class Reference:
    """The figures of one attribute that a region publishes.

    Args:
        region: the region's code.
        attribute: `gender`, `age` or `skin`.
        listed: (52,) whether an occupation has figures.
        shares: (listed, k) the groups' shares in these occupations.
    """

    region: str
    attribute: str
    listed: NDArray[np.bool_]
    shares: Floats


def references(regions: Sequence[Region]) -> Iterator[Reference]:
    """The figures of every region and attribute, in order."""
    for region in regions:
        for attribute, table in shares(region).items():
            listed = np.asarray(~np.isnan(table).any(axis=1))
            yield Reference(region.code, attribute, listed, table[listed])


def mean_over_occupations(formula: Callable[[Floats], Floats], counts: Floats) -> Floats:
    """(..., occupations, k) counts -> (...) mean of a formula of their shares; nan where an occupation has no count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(formula(counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-1))


def occupation_mean(
    name: str,
    triple: tuple[Floats, Floats, Floats],
    counts: Integers,
    groups: Sequence[str],
    expected: int,
    listed: NDArray[np.bool_] | None = None,
) -> Value:
    """The plain mean over occupations; undefined if an occupation has no usable sample."""
    names = [o for i, o in enumerate(OCCUPATIONS) if listed is None or listed[i]]
    value, low, high = triple
    empty = [names[i] for i in np.flatnonzero(np.isnan(value))]
    valid = int(counts.sum())
    if empty:
        reason = f"no usable label for {len(empty)} of {len(names)} occupations, the first is {empty[0]}"
        return undefined(name, reason, expected=expected, valid=valid)
    total = counts.sum(axis=0)
    evidence = {
        "by_group": dict(zip(groups, total.tolist(), strict=True)),
        "by_occupation": {o: round(float(v), 6) for o, v in zip(names, value, strict=True)},
    }
    about = {"expected": expected, "valid": valid, "smallest": int(counts.sum(axis=1).min())}
    return measured(name, value.mean(), low=low.mean(), high=high.mean(), evidence=evidence, **about)
