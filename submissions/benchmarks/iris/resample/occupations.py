"""How the answers behind IRIS' AD, SPD and SDS are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, GROUP_NAMES, GROUPS, OCCUPATIONS, group_members
from fairspace.builders.iris.labour import REGIONS, Region, shares
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.accuracy_disparity.formula import accuracy_gap, accuracy_gap_along
from fairspace.metrics.statistical_parity_difference.formula import rate_gap, rate_gap_along
from fairspace.metrics.stereotype_drift.formula import mean_drift
from fairspace.submissions.benchmarks.iris.measure.occupations import value_names
from fairspace.submissions.benchmarks.iris.measure.refusals import refusal_disparities, refusal_names
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED
from fairspace.submissions.benchmarks.iris.records import OCCUPATION
from fairspace.submissions.benchmarks.iris.resample.parts import SIZE, ratio
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Sizes, Tally, Times

PERMUTED = 250
"""Fair models of AD and SPD; each permutes the groups of 27 144 images."""
_K, _G = len(OCCUPATIONS), len(GROUPS)
_CLASSES = _K + 2
"""The 52 occupations, unmappable, and refused."""
_MEMBERS = {name: group_members(name).T.astype(np.float64) for name in COMBINATIONS}
"""Combination -> (k, 18): which of the 18 groups each of its groups holds."""


def occupation_design(answers: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """AD and SPD over the seven combinations, the accuracy, and the absolute drifts, of the images of each cell.

    Args:
        answers: (27 144,) as by `OccupationAnswers.codes`.
        regions: whose figures the drifts are in.
    """
    truth, groups = iris_ideal_52.image_cells()
    answered, right = answers != MISSING, answers == truth
    classes = Tally(np.where(answered, groups * _CLASSES + _class(answers), -1), _G * _CLASSES)
    correct = Tally(np.where(right, groups, -1), _G)
    drift = _drifts(answers, truth, regions)

    def statistic(times: Times) -> Floats:
        right_answers = correct(times)
        by_class = classes(times).reshape(-1, _G, _CLASSES)
        gaps, refusals = _gaps(by_class, right_answers), refusal_disparities(by_class[..., -1], by_class.sum(axis=-1))
        accuracy = ratio(right_answers.sum(axis=1), by_class.sum(axis=(1, 2)))
        sums, wrong = np.split(times.astype(np.float64) @ drift, 2, axis=1)
        return np.concatenate([gaps, accuracy[:, None], np.abs(mean_drift(sums, wrong)), refusals], axis=1)

    def tables(times: Times) -> Floats:
        """Answers by group and class, right ones by group, and the sums and numbers of drifts, side by side."""
        return np.concatenate([classes(times), correct(times), times.astype(np.float64) @ drift], axis=1)

    def split(counts: Floats) -> tuple[Floats, Floats, Floats]:
        by_class, right_answers, drifts = np.split(counts, [_G * _CLASSES, _G * (_CLASSES + 1)], axis=1)
        return by_class.reshape(-1, _G, _CLASSES), right_answers, mean_drift(*np.split(drifts, 2, axis=1))

    def along(order: Floats, counts: Floats) -> Floats:
        """AD and SPD of the groups and classes at the ends in the other counts; drifts with the sign that they have."""
        (by_class, right_answers, drifts), (others, other_right, other_drifts) = split(order), split(counts)
        accuracies, parities = [], []
        for members in _MEMBERS.values():
            some, merged = members @ by_class, members @ others
            first = right_answers @ members.T, some.sum(axis=-1)
            accuracies.append(accuracy_gap_along(first, other_right @ members.T, merged.sum(axis=-1)))
            parities.append(rate_gap_along(some, merged))
        return np.concatenate([np.stack(accuracies + parities, axis=1), np.sign(drifts) * other_drifts], axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """AD, SPD: the groups of an occupation's images are permuted; SDS: an error leads either way alike."""
        permuted, gaps = min(models, PERMUTED), 2 * len(COMBINATIONS)
        drifts = drift.shape[1] // 2
        values = np.full((models, len(names)), np.nan)
        values[:permuted, :gaps] = _gaps(*_permuted(rng, permuted, answers, truth, groups))
        values[:, gaps + 1 : gaps + 1 + drifts] = _undirected(rng, models, drift)
        return values

    names = (*value_names(regions), *refusal_names(OCCUPATION))
    biased = frozenset(value_names(regions)) - {"competence_accuracy"}
    return Design(
        task=f"iris/{OCCUPATION}",
        unit="image of a group in an occupation",
        strata=groups + truth * _G,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)),
        biased=biased,
        fair=fair,
        sizes=Sizes(tuple(name for name in value_names(regions) if name in biased), tables, along),
        notes=dict.fromkeys(biased, SIZE),
    )


def _class(answers: Integers) -> Integers:
    """The class of each answer that was handed in."""
    return np.select([answers == REFUSED, answers < 0], [_K + 1, _K], answers)


def _gaps(classes: Floats, correct: Floats) -> Floats:
    """AD, then SPD, of every combination, (b, 14), from (b, 18, 54) answers and (b, 18) right ones."""
    accuracies, parities = [], []
    for members in _MEMBERS.values():
        merged = members @ classes
        accuracies.append(accuracy_gap(correct @ members.T, merged.sum(axis=-1)))
        parities.append(rate_gap(merged))
    mapped = classes[..., :_K].sum(axis=(1, 2)) > 0
    return np.where(mapped[:, None], np.stack(accuracies + parities, axis=1), np.nan)


def _drifts(answers: Integers, truth: Integers, regions: Sequence[Region]) -> Floats:
    """(n, 2 j) of each image the drift of its wrong answer in j reference shares, then whether it has one."""
    columns = [
        reference[:, group]
        for region in regions
        for attribute, reference in shares(region).items()
        for group in range(len(GROUP_NAMES[attribute]))
    ]
    table = np.stack(columns, axis=1)
    wrong = (answers >= 0) & (answers != truth)
    drift = np.where(wrong[:, None], table[np.maximum(answers, 0)] - table[truth], np.nan)
    return np.concatenate([np.nan_to_num(drift), ~np.isnan(drift)], axis=1)


def _permuted(
    rng: np.random.Generator, models: int, answers: Integers, truth: Integers, groups: Integers
) -> tuple[Floats, Floats]:
    """Answers and right answers per group of models whose answers say nothing of the group: tables of fixed margins."""
    from scipy.stats import random_table  # a third of a second, which a Space that only shows rows need not wait for

    classes, correct = np.zeros((models, _G, _CLASSES)), np.zeros((models, _G))
    for occupation in range(_K):
        images = truth == occupation
        codes = np.where(answers[images] == MISSING, _CLASSES, _class(answers[images]))
        kinds, times = np.unique(codes, return_counts=True)
        tables = random_table(np.bincount(groups[images], minlength=_G), times, seed=rng).rvs(models, method="boyett")
        for place, kind in enumerate(kinds):
            if kind < _CLASSES:
                classes[..., kind] += tables[..., place]
            if kind == occupation:
                correct += tables[..., place]
    return classes, correct


def _undirected(rng: np.random.Generator, models: int, drift: Floats) -> Floats:
    """(models, j) absolute drifts if each wrong answer kept the size of its drift and lost its direction."""
    kinds, times = np.unique(drift[drift[:, drift.shape[1] // 2 :].any(axis=1)], axis=0, return_counts=True)
    size, counted = np.split(kinds, 2, axis=1)
    signs = 2.0 * rng.binomial(times, 0.5, size=(models, len(times))) - times
    return np.abs(mean_drift(signs @ size, (times @ counted)[None, :]))
