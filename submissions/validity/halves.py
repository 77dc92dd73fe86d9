"""Test-retest: what a value would have been on either half of the samples.

Every design says how its clusters are drawn and what a value is of any of them, so the two halves of a submission are
two of its draws: in each stratum half of the clusters, at random, count twice and the others not at all. Of several
models the correlation of both halves over the models, for the whole length by Spearman and Brown (1910), is the
reliability of the value: 1 if a second sample as large would put the models at the same distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.uncertainty.design import Design
from fairspace.submissions.validity.study import Floats, Integers

SPLITS = 40
"""Of the samples, at random: a single split is one of many."""
FEWEST = 3
"""Models that a correlation needs."""
_SEED = 43


@dataclass(frozen=True)
class Halves:
    """One value on halves of the samples.

    Args:
        value: its name.
        unit: what is split.
        whole: the value on all samples; None for several models.
        difference: between the two halves, root mean square over the splits and models; None if a half has no number.
        reliability: of the value over the models, for all samples; None where `reason` says why.
        models: how many.
        reason: why there is no reliability; '' if there is.
    """

    value: str
    unit: str
    whole: float | None
    difference: float | None
    reliability: float | None
    models: int
    reason: str = ""


def on_halves(of_models: Sequence[Sequence[Design]], names: frozenset[str] = frozenset()) -> list[Halves]:
    """The values that all models have, on the same halves of their plan.

    Args:
        of_models: the designs of each model's submission.
        names: the values that are wanted; all if empty.
    """
    by_task = [{design.task: design for design in designs} for designs in of_models]
    results = []
    for task, first in by_task[0].items():
        designs = [mine[task] for mine in by_task if task in mine]
        if len(designs) < len(by_task) or any(len(d.strata) != len(first.strata) for d in designs):
            continue
        tables = [_halves_of(design) for design in designs]
        for place, name in enumerate(first.names):
            if (not names or name in names) and all(name in design.names for design in designs):
                columns = [table[:, :, design.names.index(name)] for table, design in zip(tables, designs, strict=True)]
                results.append(_of_value(name, first, np.stack(columns), place))
    return results


def _halves_of(design: Design) -> Floats:
    """(2, splits, values) of a design on both halves of every split."""
    halves = splits(design.strata)
    return np.stack([np.asarray(design.statistic(half.astype(np.float32))) for half in halves])


def splits(strata: Integers, number: int = SPLITS) -> Floats:
    """(2, splits, n) how often each cluster counts in either half; every stratum keeps its size in each."""
    rng, n = np.random.default_rng(_SEED), len(strata)
    stratum = np.unique(strata, return_inverse=True)[1]
    sizes = np.bincount(stratum)
    halves = np.zeros((2, number, n))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    for split in range(number):
        order = np.lexsort((rng.random(n), stratum))
        place = np.arange(n) - starts[stratum[order]]
        first = place * 2 + rng.integers(0, 2, len(sizes))[stratum[order]] < sizes[stratum[order]]
        for half, members in enumerate((order[first], order[~first])):
            counts = np.bincount(stratum[members], minlength=len(sizes))
            halves[half, split, members] = (sizes / np.maximum(counts, 1))[stratum[members]]
    return halves


def spearman_brown(correlation: float, times: float = 2.0) -> float:
    """The reliability of `times` as many samples as those that a correlation between repeats is of."""
    return times * correlation / (1 + (times - 1) * correlation)


def _of_value(name: str, design: Design, halves: Floats, place: int) -> Halves:
    """One value of (models, 2, splits) halves."""
    models = len(halves)
    known = ~np.isnan(halves).any(axis=(0, 1))
    whole = None
    if models == 1:
        once = np.asarray(design.statistic(np.ones((1, len(design.strata)), np.float32)))[0, place]
        whole = None if np.isnan(once) else float(once)
    if not known.any():
        return Halves(name, design.unit, whole, None, None, models, "a half has no number")
    first, second = halves[:, 0, known], halves[:, 1, known]
    difference = float(np.sqrt(np.square(first - second).mean()))
    reliability, reason = _reliability(first, second)
    return Halves(name, design.unit, whole, difference, reliability, models, reason)


def _reliability(first: Floats, second: Floats) -> tuple[float | None, str]:
    """Spearman and Brown's reliability of (models, splits) halves, or why there is none."""
    models = len(first)
    if models < FEWEST:
        return None, f"{models} model{'s' * (models != 1)}; a correlation needs {FEWEST}"
    centred = [half - half.mean(axis=0) for half in (first, second)]
    spread = [float(np.square(half).sum()) for half in centred]
    if min(spread) <= 1e-18:
        return None, "the models do not differ"
    correlation = float((centred[0] * centred[1]).sum()) / float(np.sqrt(spread[0] * spread[1]))
    return (0.0, "") if correlation <= 0 else (spearman_brown(correlation), "")
