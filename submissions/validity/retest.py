"""Test-retest over runs: what a value was in each run of the same models.

The variance of a value over the runs of a model, pooled over the models, is what a further run would move it by; the
variance between the models beyond it is what the value tells of them. Reliability is the intraclass correlation of one
run, variance between models / (the same + variance between runs).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.validity.components import components
from fairspace.submissions.validity.halves import FEWEST
from fairspace.submissions.validity.study import Factor, Study
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Retest:
    """One value in repeated runs.

    Args:
        value: its name.
        runs: its numbers by model, in the order of the submissions.
        difference: of two runs of one model, root mean square.
        reliability: of one run over the models; None where `reason` says why.
        reason: why there is none; '' if there is.
    """

    value: str
    runs: Mapping[str, tuple[float, ...]]
    difference: float
    reliability: float | None
    reason: str = ""


def retests(models: Sequence[str], values: Sequence[Mapping[str, Value]], names: frozenset[str]) -> list[Retest]:
    """The values that every run has; empty where no model has two runs.

    Args:
        models: of each submission.
        values: of each submission.
        names: the values that are wanted.
    """
    if len(set(models)) == len(models):
        return []
    wanted = [name for name in values[0] if name in names]
    return [
        _retest(name, models, [number for number in numbers if number is not None])
        for name in wanted
        if None not in (numbers := [of[name].value if name in of else None for of in values])
    ]


def _retest(name: str, models: Sequence[str], numbers: Sequence[float]) -> Retest:
    distinct = list(dict.fromkeys(models))
    codes = np.array([distinct.index(model) for model in models])
    scores = np.array(numbers, float)
    runs = {model: tuple(scores[codes == place].tolist()) for place, model in enumerate(distinct)}
    residuals = scores - np.array([np.mean(runs[model]) for model in models])
    within = float(np.square(residuals).sum() / (len(scores) - len(distinct)))
    difference = math.sqrt(2 * within)
    if len(distinct) < FEWEST:
        reason = f"{len(distinct)} model{'s' * (len(distinct) != 1)} with runs; a correlation needs {FEWEST}"
        return Retest(name, runs, difference, None, reason)
    between = components(Study(name, "", name, scores, (Factor("model", "model", codes),), "model"))
    if not between.parts:
        return Retest(name, runs, difference, None, "the models do not differ")
    model, run = (part.variance for part in between.parts)
    return Retest(name, runs, difference, model / (model + run))
