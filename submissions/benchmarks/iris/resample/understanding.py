"""How the answers behind AD, SPD and SDS are drawn anew, and the rounds of the tournament."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    combination_codes,
    combination_size,
    group_attributes,
)
from fairspace.builders.iris.labour import REGIONS, Region, shares
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.submissions.benchmarks.iris.measure.understanding import tournament_name, understanding_names
from fairspace.submissions.benchmarks.iris.parse import EmbeddingMissingError
from fairspace.submissions.benchmarks.iris.records import OCCUPATION, TOURNAMENT, occupation_answers, tournament_winners
from fairspace.submissions.benchmarks.iris.resample.parts import ALIKE, indicator, listed, mean_of, multinomial, span
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times

_K, _G = len(OCCUPATIONS), len(GROUPS)
_CLASSES = _K + 1
"""The 52 occupations, and unmappable."""
PERMUTED = 250
"""Fair models of AD and SPD; each permutes the groups of 27 144 images."""
_MERGE = {
    name: indicator(combination_codes(group_attributes(np.arange(_G)), name), combination_size(name)).T
    for name in COMBINATIONS
}
"""Combination -> (k, 18): which of the 18 groups each of its groups holds."""


def understanding_designs(submission: Submission) -> list[Design]:
    """One design per task that was run and could be read: the occupation answers, the tournament."""
    found = []
    if submission.rows("responses", OCCUPATION).num_rows:
        with suppress(EmbeddingMissingError):  # the values are not run then, and say so
            found.append(occupation_design(occupation_answers(submission)[0]))
    if submission.rows("responses", TOURNAMENT).num_rows:
        found.append(tournament_design(tournament_winners(submission)))
    return found


def occupation_design(answers: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """AD and SPD over the seven combinations, the accuracy, and the absolute drifts, of the images of each cell.

    Args:
        answers: (27 144,) as by `occupation_answers`.
        regions: whose figures the drifts are in.
    """
    truth, groups = iris_ideal_52.image_cells()
    given, right = answers > -2, answers == truth
    classes = Tally(np.where(given, groups * _CLASSES + np.where(answers < 0, _K, answers), -1), _G * _CLASSES)
    correct = Tally(np.where(right, groups, -1), _G)
    drift = _drifts(answers, truth, regions)

    def statistic(times: Times) -> Floats:
        gaps = _gaps(classes(times).reshape(-1, _G, _CLASSES), correct(times))
        accuracy = correct(times).sum(axis=1) / len(truth)
        sums = times.astype(np.float64) @ drift
        return np.concatenate([gaps, accuracy[:, None], _absolute(*np.split(sums, 2, axis=1))], axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """AD, SPD: the groups of an occupation's images are permuted; SDS: an error leads either way alike."""
        permuted = min(models, PERMUTED)
        found = np.full((models, 2 * len(COMBINATIONS) + 1 + drift.shape[1] // 2), np.nan)
        found[:permuted, : 2 * len(COMBINATIONS)] = _gaps(*_permuted(rng, permuted, answers, truth, groups))
        found[:, 2 * len(COMBINATIONS) + 1 :] = _undirected(rng, models, drift)
        return found

    names = tuple(understanding_names(regions))
    biased = frozenset(names) - {"competence_accuracy"}
    return Design(
        task=f"iris/{OCCUPATION}",
        unit="image of a group in an occupation",
        strata=groups + truth * _G,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)),
        biased=biased,
        fair=fair,
        intervals=dict.fromkeys(biased, "bracket"),
        tested=biased,
        notes=dict.fromkeys(biased, ALIKE),
    )


def _gaps(classes: Floats, correct: Floats) -> Floats:
    """AD, then SPD, of every combination, (b, 14), from (b, 18, 53) answers and (b, 18) right ones."""
    accuracies, parities = [], []
    mapped = classes[..., :_K].sum(axis=(1, 2)) > 0
    for merge in _MERGE.values():
        merged = merge @ classes
        answers = merged.sum(axis=-1)
        seen = answers > 0
        answers = np.maximum(answers, 1.0)
        accuracies.append(span((correct @ merge.T / answers)[..., None], seen)[:, 0])
        parities.append(span(merged / answers[..., None], seen).max(axis=-1))
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


def _absolute(sums: Floats, counts: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs(sums / counts))


def _permuted(
    rng: np.random.Generator, models: int, answers: Integers, truth: Integers, groups: Integers
) -> tuple[Floats, Floats]:
    """Answers and right answers per group of models whose answers say nothing of the group: tables of fixed margins."""
    from scipy.stats import random_table  # a third of a second, which a Space that only shows rows need not wait for

    classes, correct = np.zeros((models, _G, _CLASSES)), np.zeros((models, _G))
    for occupation in range(_K):
        mine = truth == occupation
        said = np.where(answers[mine] < -1, _CLASSES, np.where(answers[mine] < 0, _K, answers[mine]))
        kinds, times = np.unique(said, return_counts=True)
        tables = random_table(np.bincount(groups[mine], minlength=_G), times, seed=rng).rvs(models, method="boyett")
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
    return _absolute(signs @ size, (times @ counted)[None, :])


def tournament_design(winners: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """JSD of what the forced choices say, of the rounds of each profile.

    Args:
        winners: (36 000,) as by `tournament_winners`.
        regions: whose figures they are compared with.
    """
    profile = np.arange(len(winners)) // iris_ideal_52.ROUNDS
    wins = Tally(np.where(winners >= 0, winners * _G + profile, -1), _K * _G)
    references = [
        (tournament_name(attribute, region), attribute, *listed(reference))
        for region in regions
        for attribute, reference in shares(region).items()
    ]

    def values(counts: dict[str, Floats]) -> Floats:
        return np.stack(
            [
                mean_of(partial(divergence, q=reference), counts[attribute][:, rows])
                for _, attribute, rows, reference in references
            ],
            axis=1,
        )

    def statistic(times: Times) -> Floats:
        table = wins(times).reshape(-1, _K, _G)
        return values({attribute: table @ _MERGE[attribute].T for attribute in GROUP_NAMES})

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Every win of an occupation falls on the groups as the reference says."""
        total = np.bincount(winners[winners >= 0], minlength=_K)
        found = []
        for _, _, rows, reference in references:
            drawn = multinomial(rng, total[rows], reference, models)
            found.append(mean_of(partial(divergence, q=reference), drawn))
        return np.stack(found, axis=1)

    names = tuple(name for name, *_ in references)
    return Design(
        task=f"iris/{TOURNAMENT}",
        unit="round of a profile",
        strata=profile,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, float(np.log(2)))),
        biased=frozenset(names),
        fair=fair,
        intervals=dict.fromkeys(names, "basic"),
    )
