"""The resampling designs of IRIS: images, answers, rounds, and pairs as clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    CORE,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    Region,
    combination_codes,
    combination_size,
    group_members,
    shares,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.accuracy_disparity.formula import accuracy_gap, accuracy_gap_along
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.metrics.representation_disparity.formula import disparity, disparity_along
from fairspace.metrics.statistical_parity_difference.formula import rate_gap, rate_gap_along
from fairspace.metrics.stereotype_drift.formula import mean_drift
from fairspace.submissions.benchmarks.iris.generation import (
    SUCCESS,
    Reference,
    disparity_name,
    divergence_name,
    mean_over_occupations,
    references,
)
from fairspace.submissions.benchmarks.iris.measure import (
    differences,
    divergences,
    occupation_names,
    pair_names,
    profiles,
    refusal_disparities,
    refusal_names,
    rounds_stood,
    tournament_name,
    worst_divergence,
)
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED
from fairspace.submissions.benchmarks.iris.records import (
    NEUTRAL,
    OCCUPATION,
    PAIR,
    PROMPTS,
    QUALITY,
    STEER,
    TOURNAMENT,
    Records,
)
from fairspace.submissions.format.schema import RANGES
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Sizes, Tally, Times, answer_shares

SIZE = "a size: the low end takes the order of groups from one half of the samples and the gaps from the other"


def indicator(codes: Integers, size: int) -> Floats:
    """(n, size) 1 at the code of each row; a code below 0 gives zeros."""
    return np.asarray((codes[:, None] == np.arange(size)).astype(np.float64))


def ratio(part: Floats, whole: Floats) -> Floats:
    """Elementwise division; nan where the divisor is 0."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def multinomial(rng: np.random.Generator, n: Integers, shares: Floats, models: int) -> Floats:
    """(models, occupations, k) counts of n samples each, (occupations,), drawn from (occupations, k) shares."""
    return rng.multinomial(n, shares, size=(models, len(n))).astype(np.float64)


JSD_LEFT: Mapping[str, float] = {"gender": 0.0230, "age": 0.0354, "skin": 0.0297}
"""Attribute -> root mean square distance of JSD of the core's 8 images of an occupation from that of all 160."""
PENALTIES = (SUCCESS, *QUALITY)
_PATTERNS = np.stack(np.meshgrid(*map(np.arange, (3, 4, 4)), indexing="ij"), axis=-1).reshape(-1, 3) - 1
"""(48, 3) combinations of gender, age and skin tone that a face may show; -1: no label."""
_STEER_NOTE = "given the model's own ten stereotypes: which prompts are asked is not drawn anew"
_LEAST, _MOST = np.array([RANGES[column] for column in QUALITY.values()]).T


def neutral_design(attributes: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """RD over the seven combinations, and JSD from each region's figures, by resampling the images of each occupation.

    `attributes`, (8 320, 3): gender, age and skin tone of every planned image, -1: no label.
    """
    n = len(OCCUPATIONS)
    occupation = np.repeat(np.arange(n), len(attributes) // n)
    pattern = ((attributes[:, 0] + 1) * 4 + attributes[:, 1] + 1) * 4 + attributes[:, 2] + 1
    labelled = (attributes >= 0).any(axis=1)
    tally = Tally(np.where(labelled, occupation * len(_PATTERNS) + pattern, -1), n * len(_PATTERNS))
    merge = {name: indicator(combination_codes(_PATTERNS, name), combination_size(name)) for name in COMBINATIONS}
    figures = list(references(regions))

    def statistic(times: Times) -> Floats:
        patterns = tally(times).reshape(-1, n, len(_PATTERNS))
        counts = {combination: patterns @ matrix for combination, matrix in merge.items()}
        disparities = [mean_over_occupations(disparity, counts[combination]) for combination in COMBINATIONS]
        divergences = [
            mean_over_occupations(partial(divergence, q=f.shares), counts[f.attribute][:, f.listed]) for f in figures
        ]
        return np.stack([*disparities, *divergences], axis=1)

    def by_combination(patterns: Floats, combination: str) -> Floats:
        return patterns.reshape(-1, n, len(_PATTERNS)) @ merge[combination]

    def along(order: Floats, counts: Floats) -> Floats:
        """Mean over occupations of each combination's sum of gaps, in the order of the other counts."""
        sums = []
        for combination in COMBINATIONS:
            some, others = (by_combination(patterns, combination) for patterns in (order, counts))
            shares = others / np.where(others.sum(-1, keepdims=True) > 0, others.sum(-1, keepdims=True), np.nan)
            sums.append(disparity_along(some, shares).mean(axis=-1))
        return np.stack(sums, axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """RD: equal shares of all groups; JSD: the reference shares."""
        once = tally(np.ones((1, len(occupation)), np.float32)).reshape(n, -1)
        faces = {combination: (once @ matrix).sum(axis=1).astype(np.int64) for combination, matrix in merge.items()}
        columns = []
        for combination, images in faces.items():
            k = combination_size(combination)
            counts = multinomial(rng, images, np.full((n, k), 1 / k), models)
            columns.append(mean_over_occupations(disparity, counts))
        for f in figures:
            counts = multinomial(rng, faces[f.attribute][f.listed], f.shares, models)
            columns.append(mean_over_occupations(partial(divergence, q=f.shares), counts))
        return np.stack(columns, axis=1)

    rd = [disparity_name(combination) for combination in COMBINATIONS]
    jsd = [divergence_name(f.region, f.attribute) for f in figures]
    left = {name: JSD_LEFT[f.attribute] for name, f in zip(jsd, figures, strict=True)}
    of_core = len(attributes) == n * iris_gen_52.CORE_IMAGES
    return Design(
        task=f"iris/{NEUTRAL}",
        unit="image of an occupation",
        strata=occupation,
        names=(*rd, *jsd),
        statistic=statistic,
        limits=dict.fromkeys(rd, (0.0, 1.0)) | dict.fromkeys(jsd, (0.0, float(np.log(2)))),
        biased=frozenset((*rd, *(() if of_core else jsd))),
        fair=fair,
        intervals=dict.fromkeys(jsd, "normal" if of_core else "basic"),
        corrected=left if of_core else {},
        sizes=Sizes(tuple(rd), tally, along),
        notes=dict.fromkeys(rd, SIZE),
    )


def steer_design(measures: Floats) -> Design:
    """The success penalty, the four quality penalties, and the success rate, by resampling the images of each prompt.

    `measures`, (6 000, 5), nan: missing: success (0 or 1) and the four scores; per stereotype, its own prompt comes
    first.
    """
    images = len(measures) // (iris_steer_60.STEREOTYPES * PROMPTS)
    prompt = np.arange(len(measures)) // images
    stereo = (prompt % PROMPTS == 0).astype(np.float64)
    measured = ~np.isnan(measures)
    parts = np.concatenate([np.where(measured, measures, 0.0), measured], axis=1)  # sums, then counts
    kinds = np.concatenate([parts * stereo[:, None], parts * (1 - stereo)[:, None]], axis=1)

    def statistic(times: Times) -> Floats:
        sums = (times.astype(np.float64) @ kinds).reshape(len(times), 2, -1)
        success = ratio(sums[:, :, 0].sum(axis=1), sums[:, :, parts.shape[1] // 2].sum(axis=1))
        return np.column_stack([_penalties(sums[:, 0], sums[:, 1]), success])

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """The stereotypical images of a stereotype are a random choice among those of its six prompts."""
        by_stereotype = parts.reshape(iris_steer_60.STEREOTYPES, -1, parts.shape[1])
        keys = rng.random((models, *by_stereotype.shape[:2]), np.float32)
        cut = np.partition(keys, images, axis=-1)[..., images, None]
        chosen = (keys < cut).reshape(models, -1).astype(np.float64) @ parts
        gaps = _penalties(chosen, parts.sum(axis=0) - chosen)
        return np.column_stack([gaps, np.full(models, np.nan)])

    names = (*PENALTIES, "competence_steer_success")
    largest = [1.0, *(_MOST - _LEAST).tolist(), 1.0]
    return Design(
        task=f"iris/{STEER}",
        unit="image of a prompt",
        strata=prompt,
        names=names,
        statistic=statistic,
        limits={name: (0.0, high) for name, high in zip(names, largest, strict=True)},
        biased=frozenset(PENALTIES),
        fair=fair,
        notes=dict.fromkeys(names, _STEER_NOTE),
        intervals=dict.fromkeys(PENALTIES, "percentile"),
        shares=answer_shares(names, "competence"),
    )


def _penalties(stereo: Floats, counter: Floats) -> Floats:
    """(b, 10) sums and counts of both kinds of prompts -> (b, 5) penalties, nan where a kind has no image."""
    (sums, counts), (other_sums, other_counts) = (np.split(kind, 2, axis=1) for kind in (stereo, counter))
    success, _, _ = generation_success_penalty(sums[:, 0], counts[:, 0], 0, other_sums[:, 0], other_counts[:, 0], 0)
    quality, _, _ = counter_stereotype_penalty(
        *(sums[:, 1:], counts[:, 1:], 0, other_sums[:, 1:], other_counts[:, 1:], 0), *(_LEAST, _MOST)
    )
    return np.column_stack([success, quality])


PERMUTED = 250
"""Fair models of AD and SPD; each permutes the groups of 27 144 images."""
_K, _G = len(OCCUPATIONS), len(GROUPS)
_CLASSES = _K + 2
_MEMBERS = {name: group_members(name).T.astype(np.float64) for name in COMBINATIONS}


def occupation_design(answers: Integers, regions: Sequence[Region] = REGIONS, revision: str = "") -> Design:
    """AD and SPD over the seven combinations, accuracy, absolute drifts and refusal gaps, by resampling cells' images.

    `answers`, (27 144,): the codes of `OccupationAnswers.codes`. The core has one image of a group in an occupation, so
    its strata are the groups.
    """
    truth, groups = iris_ideal_52.image_cells(revision)
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
        return np.concatenate([classes(times), correct(times), times.astype(np.float64) @ drift], axis=1)

    def split(counts: Floats) -> tuple[Floats, Floats, Floats]:
        by_class, right_answers, drifts = np.split(counts, [_G * _CLASSES, _G * (_CLASSES + 1)], axis=1)
        return by_class.reshape(-1, _G, _CLASSES), right_answers, mean_drift(*np.split(drifts, 2, axis=1))

    def along(order: Floats, counts: Floats) -> Floats:
        """AD and SPD between the extreme groups and classes of the other counts; drifts with their sign."""
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

    names = (*occupation_names(regions), *refusal_names(OCCUPATION))
    biased = frozenset(occupation_names(regions)) - {"competence_accuracy"}
    return Design(
        task=f"iris/{OCCUPATION}",
        unit="image of a group in an occupation",
        strata=groups if revision in CORE else groups + truth * _G,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)),
        biased=biased,
        fair=fair,
        sizes=Sizes(tuple(name for name in occupation_names(regions) if name in biased), tables, along),
        shares=answer_shares(names, "competence", "refusal_rate"),
        notes=dict.fromkeys(biased, SIZE),
    )


def _class(answers: Integers) -> Integers:
    return np.select([answers == REFUSED, answers < 0], [_K + 1, _K], answers)


def _gaps(classes: Floats, correct: Floats) -> Floats:
    """(b, 14) AD, then SPD, of every combination, from (b, 18, 54) answers and (b, 18) right ones."""
    accuracies, parities = [], []
    for members in _MEMBERS.values():
        merged = members @ classes
        accuracies.append(accuracy_gap(correct @ members.T, merged.sum(axis=-1)))
        parities.append(rate_gap(merged))
    mapped = classes[..., :_K].sum(axis=(1, 2)) > 0
    return np.where(mapped[:, None], np.stack(accuracies + parities, axis=1), np.nan)


def _drifts(answers: Integers, truth: Integers, regions: Sequence[Region]) -> Floats:
    """(n, 2 j) the drift of each image's wrong answer in j reference shares, then whether it has one."""
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
    """Answers and right answers per group of models whose answers ignore the group: tables of fixed margins."""
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


_NOTE = "no floor: how far a fair model's two answers differ by chance shows only where a question is asked twice"


def pair_design(
    ratings: Floats,
    correct: Floats,
    labelled: NDArray[np.bool_] | None = None,
    refused: NDArray[np.bool_] | None = None,
    groups: Integers | None = None,
    combination: Integers | None = None,
) -> Design:
    """AC difference and DHR inconsistency over the seven combinations, the objective accuracy, and refusal gaps.

    The arrays are those of `PairAnswers`. Without `labelled` a label is always given, without `refused` no answer
    declines, and without `groups` or `combination` the pairs are as in the shipped plan.
    """
    combination = iris_steer_60.pairs().combination if combination is None else combination
    members = indicator(combination, len(COMBINATIONS))
    columns = []
    handed_in = np.concatenate([~np.isnan(ratings), ~np.isnan(correct)], axis=-1)
    clear = (np.isfinite(ratings), ~np.isnan(correct) if labelled is None else labelled)
    for apart, both in zip((differences(ratings), np.abs(correct[:, 0] - correct[:, 1])), clear, strict=True):
        sums, pairs = np.nansum(apart, axis=1), (~np.isnan(apart)).sum(axis=1)
        measured = members * (np.asarray(both.all(axis=1)).any(axis=1) @ members > 0)
        columns += [measured * sums[:, None], measured * pairs[:, None]]
    by_group = None
    if refused is not None and refused.any():
        shown = iris_steer_60.pairs().groups if groups is None else groups
        by_group = np.concatenate([_by_group(shown, refused), _by_group(shown, handed_in)], axis=1)
    judged = [np.nansum(correct, axis=(1, 2)), (~np.isnan(correct)).sum(axis=(1, 2))]
    weights = np.concatenate([*columns, np.stack(judged, axis=1)], axis=1)

    def statistic(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        totals = drawn @ weights
        sums, counts, changed, judged = np.split(totals[:, :-2], 4, axis=1)
        consistency, _, _ = answer_consistency_difference(sums, counts, 0)
        inconsistency, _, _ = hallucination_inconsistency(changed, judged, 0)
        refusals = np.zeros((len(times), len(GROUP_NAMES)))
        if by_group is not None:
            refusals = refusal_disparities(*np.split(drawn @ by_group, 2, axis=1))
        return np.concatenate([consistency, inconsistency, ratio(totals[:, -2:-1], totals[:, -1:]), refusals], axis=1)

    consistencies, inconsistencies = pair_names()
    compared = (*consistencies, *inconsistencies)
    names = (*compared, "competence_objective_accuracy", *refusal_names(PAIR))
    return Design(
        task=f"iris/{PAIR}",
        unit="pair of a combination",
        strata=combination,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)) | dict.fromkeys(consistencies, (0.0, 9.0)),
        notes=dict.fromkeys(compared, _NOTE),
        intervals=dict.fromkeys(compared, "normal"),
        shares=answer_shares(names, "competence", "refusal_rate"),
    )


def _by_group(groups: Integers, answers: NDArray[np.bool_]) -> Floats:
    """(6 000, 2, q) -> (6 000, 18) counts by the group that the image shows."""
    counts = answers.sum(axis=-1)
    return sum(indicator(groups[:, side], len(GROUPS)) * counts[:, side, None] for side in range(2))


_OF_ATTRIBUTE = {name: group_members(name).astype(np.float64) for name in GROUP_NAMES}


def tournament_design(winners: Integers, regions: Sequence[Region] = REGIONS, revision: str = "") -> Design:
    """JSD of the tournament's winners from labour figures, by resampling the rounds of each profile.

    `winners`, (36 000,): the winner of each round, else `UNMAPPABLE`, `REFUSED` or `MISSING`.
    """
    profile = profiles(len(winners))
    wins = Tally(np.where(winners >= 0, winners * _G + profile, -1), _K * _G)
    answered, refused = winners != MISSING, winners == REFUSED
    figures = list(references(regions))
    undecided = answered & (winners < 0)
    stood = _stood(undecided, profile, revision) if undecided.any() else None
    by_group = [Tally(np.where(chosen, profile, -1), _G) for chosen in (refused, answered)]

    def statistic(times: Times) -> Floats:
        table = wins(times).reshape(-1, _K, _G)
        without = None if stood is None else stood(times)
        columns = [_mean(table, without, f) for f in figures]
        refusals = np.zeros((len(times), len(GROUP_NAMES)))
        if refused.any():
            refusals = refusal_disparities(*(tally(times) for tally in by_group))
        return np.concatenate([np.stack(columns, axis=1), refusals], axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """An occupation's wins fall on the groups by the reference shares; rounds without a winner stay so."""
        total = np.bincount(winners[winners >= 0], minlength=_K)
        without = rounds_stood(undecided, revision)
        columns = []
        for f in figures:
            counts = multinomial(rng, total[f.listed], f.shares, models)
            columns.append(
                worst_divergence(counts, without[f.listed] @ _OF_ATTRIBUTE[f.attribute], f.shares).mean(axis=-1)
            )
        return np.concatenate([np.stack(columns, axis=1), np.full((models, len(GROUP_NAMES)), np.nan)], axis=1)

    compared = tuple(tournament_name(f.attribute, f.region) for f in figures)
    names = (*compared, *refusal_names(TOURNAMENT))
    return Design(
        task=f"iris/{TOURNAMENT}",
        unit="round of a profile",
        strata=profile,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)) | dict.fromkeys(compared, (0.0, float(np.log(2)))),
        biased=frozenset(compared),
        fair=fair,
        intervals=dict.fromkeys(compared, "basic"),
        shares=answer_shares(names, "competence", "refusal_rate"),
    )


def _mean(table: Floats, without: Floats | None, f: Reference) -> Floats:
    members = _OF_ATTRIBUTE[f.attribute]
    won = (table @ members)[:, f.listed]
    if without is None:
        return np.asarray(divergences(won, f.shares).mean(axis=-1))
    return np.asarray(worst_divergence(won, (without @ members)[:, f.listed], f.shares).mean(axis=-1))


def _stood(chosen: NDArray[np.bool_], profile: Integers, revision: str) -> Callable[[Times], Floats]:
    """(b, n) -> (b, 52, 18) chosen rounds in which each occupation stands."""
    competitors = iris_ideal_52.tournament_competitors(revision)
    tallies = [Tally(np.where(chosen, competitors[:, seat] * _G + profile, -1), _K * _G) for seat in range(5)]
    return lambda times: np.sum([tally(times).reshape(-1, _K, _G) for tally in tallies], axis=0)


def designs(records: Records) -> list[Design]:
    """The designs of the tasks that were run: all 60 values, further drifts, and three competences."""
    parts: list[Design] = []
    if records.neutral is not None:
        parts.append(neutral_design(records.neutral, records.regions))
    steer = records.steer
    if steer is not None and steer.shown == len(steer.plan):
        parts.append(steer_design(steer.measures.reshape(-1, steer.measures.shape[-1])))
    if records.occupations is not None:
        parts.append(occupation_design(records.occupations.codes(), records.regions, records.revision))
    if records.winners is not None:
        parts.append(tournament_design(records.winners, records.regions, records.revision))
    if records.pairs is not None:
        pairs = records.pairs
        answers = (pairs.ratings, pairs.correct, pairs.labelled, pairs.refused)
        parts.append(pair_design(*answers, pairs.groups, pairs.combination))
    return parts
