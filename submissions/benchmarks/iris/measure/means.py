"""Means over occupations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.values import Value, measured, undefined


def occupation_mean(
    name: str,
    triple: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    counts: NDArray[np.int_],
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
    return measured(
        name,
        value.mean(),
        low=low.mean(),
        high=high.mean(),
        expected=expected,
        valid=valid,
        evidence=evidence,
        smallest=int(counts.sum(axis=1).min()),
    )
