"""Agreement of samples: whether a further order, wording, judge or repeat of the same item says the same.

Two samples of one item that differ in a factor are compared with two that share it, and with two of any items. What
they say is a category (a group, an occupation), or a number; of categories the agreement is the share of equal pairs,
of numbers the mean product of standardised scores. Beyond chance that is Fleiss' kappa (1971; items may have any number
of samples) and the intraclass correlation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fairspace.submissions.validity.components import cells_of, closure
from fairspace.submissions.validity.study import Floats, Integers, Kind, Study

COMPARED: tuple[Kind, ...] = ("wording", "order", "judge", "sample")
"""The kinds of factors of which a further level could have said something else."""
REPEATS = "repeat"


@dataclass(frozen=True)
class Agreement:
    """How far samples of one item agree.

    Args:
        factor: what they differ in; `repeat` where they are alike in every factor.
        kind: of the factor.
        pairs: compared.
        across: of two samples that differ in the factor.
        alike: of two that share its level; None where no item has two of those.
        chance: of two samples of any items.
        kappa: `across` beyond chance, at most 1; None where chance alone makes all agree.
        kappa_alike: the same of `alike`.
    """

    factor: str
    kind: Kind
    pairs: int
    across: float
    alike: float | None
    chance: float
    kappa: float | None
    kappa_alike: float | None


def agreements(study: Study) -> list[Agreement]:
    """Of every wording, order, judge and sample of a study, and of repeats; none without pairs."""
    study = study.usable()
    if len(study.scores) < 2:
        return []
    said = _said(study)
    names = {factor.name for factor in study.factors}
    results = []
    for factor in study.factors:
        if factor.kind not in COMPARED:
            continue
        nested = {name for name in names if factor.name in closure((name,), study.factors)}
        item = cells_of(closure([*(names - nested)], study.factors), study)
        level = cells_of(closure([*(names - nested), factor.name], study.factors), study)
        results += _compared(factor.name, factor.kind, said, item, level)
    everything = cells_of(frozenset(names), study)
    return [*results, *_compared(REPEATS, "sample", said, everything, np.arange(len(everything)))]


def _compared(name: str, kind: Kind, said: csr_array, item: Integers, level: Integers) -> list[Agreement]:
    """Pairs within an item that are in two levels, against those in one."""
    inside, among = _pairs(said, item), _pairs(said, level)
    pairs, agreed = (inside[0] - among[0]) / 2, (inside[1] - among[1]) / 2
    if pairs <= 0:
        return []
    everyone = _pairs(said, np.zeros(len(item), np.int64))
    chance = everyone[1] / everyone[0]
    alike = among[1] / among[0] if among[0] else None
    across = agreed / pairs
    return [Agreement(name, kind, round(pairs), across, alike, chance, _beyond(across, chance), _beyond(alike, chance))]


def _beyond(agreement: float | None, chance: float) -> float | None:
    return None if agreement is None or chance >= 1 - 1e-12 else (agreement - chance) / (1 - chance)


def _pairs(said: csr_array, cells: Integers) -> tuple[float, float]:
    """Ordered pairs within the cells: how many, and the sum of their agreement."""
    n, count = len(cells), int(cells.max()) + 1
    of_cell = csr_array((np.ones(n), (cells, np.arange(n))), shape=(count, n)) @ said
    sizes = np.bincount(cells).astype(float)
    return float((sizes * (sizes - 1)).sum()), float(of_cell.power(2).sum() - said.power(2).sum())


def _said(study: Study) -> csr_array:
    """(n, k) what each sample says: one of k categories as 0 or 1; scores of more than two sizes are numbers."""
    n = len(study.scores)
    said = study.scores if study.answers is None else study.answers
    _, codes = np.unique(said, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    if study.answers is None and int(codes.max()) > 1:
        return csr_array(_standardised(study.scores))
    return csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, int(codes.max()) + 1))


def _standardised(scores: Floats) -> Floats:
    """(n, m) with mean 0 in each column and a mean square of 1 over the row."""
    centred = scores - scores.mean(axis=0)
    return np.asarray(centred / np.sqrt(np.square(centred).sum(axis=1).mean()))
