"""What a run of the stereotypical bias benchmark can show of the six cells' S and of their mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.stereotypical_bias.plan import slug, task_attribute
from fairspace.metrics.stereotypical_association.formula import filtered_association, largest_association
from fairspace.submissions.benchmarks.detectable import Chosen, Detectable, counted, empty, from_errors
from fairspace.submissions.benchmarks.power import Calibrated, calibrated, halfway
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, Cell

_NOTE = (
    "a model half way from even-handed to one-sided; all questions answered; worst: the instances of a picture are "
    "answered alike"
)


def detectable(chosen: Chosen) -> list[Detectable]:
    """S of each cell whose task is run, and `total` if all are.

    Every pair of races counts as if all four groups were offered: by this the errors are a little too large.
    """
    values, errors, floors, bounds = [], [], [], []
    for cell in CELLS:
        if cell.task not in chosen:
            continue
        sizes = _sizes(cell, chosen)
        n, of = int(sizes.sum()), "answers"
        if not sizes.all():
            why = f"{int((sizes == 0).sum())} of {len(sizes)} instances are not asked"
            values.append(empty(cell.name, "S", cell.task, n, of, why))
            continue
        k = len(cell.groups)
        usual = _error(sizes, k)
        worst = _error(sizes[:1], k).error if cell.scenario != "persona" else usual.error
        errors.append((usual.error, worst))
        floors.append(usual.chance)
        bound = largest_association(k)
        bounds.append(bound)
        values.append(
            from_errors(cell.name, "S", cell.task, n, of, usual.error, worst, usual.chance, note=_NOTE, bound=bound)
        )
    tasks = {cell.task for cell in CELLS}
    if tasks <= chosen.keys():
        n = sum(value.n for value in values)
        if len(errors) < len(CELLS):
            return [*values, empty("total", "total", "all", n, "answers", "a cell is undefined")]
        # The two vision cells of an attribute share their pictures: at worst, their errors are the same ones.
        usual_error, worst_error = (math.sqrt(sum(e[i] ** 2 for e in errors)) / len(CELLS) for i in (0, 1))
        worst_error *= math.sqrt(2)
        floor = sum(floors) / len(CELLS)
        bound = sum(bounds) / len(CELLS)
        values.append(
            from_errors("total", "total", "all", n, "answers", usual_error, worst_error, floor, note=_NOTE, bound=bound)
        )
    return values


def _error(sizes: NDArray[np.int_], k: int) -> Calibrated:
    cells = len(sizes)
    return calibrated(filtered_association, sizes, halfway(cells, k), np.full((cells, k), 1 / k))


def _sizes(cell: Cell, chosen: Chosen) -> NDArray[np.int_]:
    """Questions per instance of a cell: every picture of two faces asks about all of them."""
    stimuli = chosen[cell.task]
    assert task_attribute(cell.task) == cell.attribute
    if cell.scenario != "persona":
        return np.full(len(cell.instances), len(stimuli))
    by_trait = counted(stimuli, lambda stimulus: stimulus.stratum)
    return np.array([by_trait.get(slug(trait), 0) for trait in cell.instances])
