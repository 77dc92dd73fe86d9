"""How often answers decline, by the gender, age and skin tone that are shown: an outcome of its own, never scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import GROUP_NAMES, GROUPS, group_members
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import QUESTIONS
from fairspace.metrics.accuracy_disparity.formula import accuracy_gap
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED
from fairspace.submissions.benchmarks.iris.records import OCCUPATION, PAIR, TOURNAMENT, Records
from fairspace.submissions.uncertainty.design import Floats, Integers
from fairspace.submissions.values import Value, measured, not_run, undefined

EXPECTED: Mapping[str, int] = {
    OCCUPATION: len(iris_ideal_52.image_cells()[0]),
    TOURNAMENT: len(GROUPS) * iris_ideal_52.ROUNDS,
    PAIR: iris_steer_60.PAIRS * 2 * len(QUESTIONS),
}


def measure_refusals(records: Records) -> Iterator[Value]:
    """The largest difference between groups in the share of answers that decline, of each task and attribute."""
    for task, expected in EXPECTED.items():
        counts = refusal_counts(records, task)
        for name, attribute in zip(refusal_names(task), GROUP_NAMES, strict=True):
            if counts is None:
                yield not_run(name, records.absent[task], expected=expected)
                continue
            refused, answered = ((column @ group_members(attribute)).astype(np.float64) for column in counts)
            evidence = {
                "by_group": {
                    group: round(float(part / whole), 6) if whole else None
                    for group, part, whole in zip(GROUP_NAMES[attribute], refused, answered, strict=True)
                },
                "refused": int(refused.sum()),
            }
            gap, valid = float(accuracy_gap(refused, answered)), int(answered.sum())
            if np.isnan(gap):
                reason = "fewer than two groups have an answer"
                yield undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
                continue
            smallest = int(answered[answered > 0].min())
            yield measured(name, gap, expected=expected, valid=valid, evidence=evidence, smallest=smallest)


def refusal_names(task: str) -> list[str]:
    """The names of a task's values, one per attribute."""
    return [f"refusal_disparity_{task}_{attribute}" for attribute in GROUP_NAMES]


def refusal_disparities(refused: Floats, answered: Floats) -> Floats:
    """(..., 18) refusals and answers of each group -> (..., 3) the gap between those of gender, age and skin tone."""
    members = [group_members(attribute) for attribute in GROUP_NAMES]
    return np.stack([accuracy_gap(refused @ of, answered @ of) for of in members], axis=-1)


def refusal_counts(records: Records, task: str) -> tuple[Integers, Integers] | None:
    """(18,) refusals and answers that were handed in, by group; None of a task that was not run."""
    if task == PAIR:
        pairs = records.pairs
        if pairs is None:
            return None
        handed_in = np.concatenate([~np.isnan(pairs.ratings), ~np.isnan(pairs.correct)], axis=-1)
        groups = pairs.groups.ravel()
        refused, answered = (column.sum(axis=-1).ravel() for column in (pairs.refused, handed_in))
        return _by_group(groups, refused), _by_group(groups, answered)
    if task == TOURNAMENT:
        codes, groups = records.winners, np.repeat(np.arange(len(GROUPS)), iris_ideal_52.ROUNDS)
    else:
        codes = None if records.occupations is None else records.occupations.codes()
        groups = iris_ideal_52.image_cells()[1]
    return None if codes is None else (_by_group(groups, codes == REFUSED), _by_group(groups, codes != MISSING))


def _by_group(groups: Integers, counts: NDArray[np.integer | np.bool_]) -> Integers:
    return np.bincount(groups, weights=counts, minlength=len(GROUPS)).astype(np.int64)
