"""The tables and quantities of IRIS: images, answers, rounds, and pairs as clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from fairspace.metrics.accuracy_disparity.formula import accuracy_gap
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.metrics.resampling import Counts, Family, Quantity, Sample, Table, sums, tally, totals
from fairspace.metrics.statistical_parity_difference.formula import rate_gap
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


def neutral_design(attributes: Integers, regions: Sequence[Region] = REGIONS) -> Sample:
    """RD over the seven combinations, and JSD from each region's figures, by resampling the images of each occupation.

    `attributes`, (8 320, 3): gender, age and skin tone of every planned image, -1: no label.
    """
    n = len(OCCUPATIONS)
    occupation = np.repeat(np.arange(n), len(attributes) // n)
    pattern = ((attributes[:, 0] + 1) * 4 + attributes[:, 1] + 1) * 4 + attributes[:, 2] + 1
    labelled = (attributes >= 0).any(axis=1)
    patterns = tally(np.where(labelled, occupation * len(_PATTERNS) + pattern, -1), n, len(_PATTERNS))
    table = Table(f"iris/{NEUTRAL}", "image of an occupation", occupation, {"patterns": patterns})
    merge = {name: indicator(combination_codes(_PATTERNS, name), combination_size(name)) for name in COMBINATIONS}
    once = totals(table.blocks)["patterns"]
    faces = {combination: (once @ matrix).sum(axis=1).astype(np.int64) for combination, matrix in merge.items()}
    figures = list(references(regions))

    def disparities(counts: Counts, order: Counts | None = None) -> Floats:
        """Mean over occupations of each combination's sum of gaps."""
        ranks = None if order is None else order["patterns"]
        of_shares = (partial(disparity, order=None if ranks is None else ranks @ matrix) for matrix in merge.values())
        merged = (counts["patterns"] @ matrix for matrix in merge.values())
        return np.stack([*map(mean_over_occupations, of_shares, merged)], axis=1)

    def fair_disparities(rng: np.random.Generator, models: int) -> Floats:
        """Equal shares of all groups."""
        columns = []
        for combination, images in faces.items():
            k = combination_size(combination)
            counts = multinomial(rng, images, np.full((n, k), 1 / k), models)
            columns.append(mean_over_occupations(disparity, counts))
        return np.stack(columns, axis=1)

    def divergences_of(by_figure: Iterable[Floats]) -> Floats:
        pairs = zip(by_figure, figures, strict=True)
        return np.stack([mean_over_occupations(partial(divergence, q=f.shares), counts) for counts, f in pairs], axis=1)

    def jsd(counts: Counts) -> Floats:
        merged = {attribute: counts["patterns"] @ merge[attribute] for attribute in GROUP_NAMES}
        return divergences_of(merged[f.attribute][:, f.listed] for f in figures)

    def fair_jsd(rng: np.random.Generator, models: int) -> Floats:
        """The reference shares."""
        return divergences_of(multinomial(rng, faces[f.attribute][f.listed], f.shares, models) for f in figures)

    rd = [Quantity(disparity_name(name), "size", (0.0, 1.0), note=SIZE) for name in COMBINATIONS]
    of_core = len(attributes) == n * iris_gen_52.CORE_IMAGES
    distances = [
        Quantity(
            divergence_name(f.region, f.attribute),
            "normal" if of_core else "basic",
            (0.0, float(np.log(2))),
            biased=not of_core,
            correction=JSD_LEFT[f.attribute] if of_core else None,
        )
        for f in figures
    ]
    return table, [Family(rd, disparities, fair_disparities), Family(distances, jsd, fair_jsd)]


def steer_design(measures: Floats) -> Sample:
    """The success penalty, the four quality penalties, and the success rate, by resampling the images of each prompt.

    `measures`, (6 000, 5), nan: missing: success (0 or 1) and the four scores; per stereotype, its own prompt comes
    first.
    """
    images = len(measures) // (iris_steer_60.STEREOTYPES * PROMPTS)
    prompt = np.arange(len(measures)) // images
    stereo = (prompt % PROMPTS == 0).astype(np.float64)
    measured = ~np.isnan(measures)
    parts = np.concatenate([np.where(measured, measures, 0.0), measured], axis=1)  # sums, then counts
    kinds = np.stack([parts * stereo[:, None], parts * (1 - stereo)[:, None]], axis=1)
    table = Table(f"iris/{STEER}", "image of a prompt", prompt, {"parts": sums(kinds)})

    def penalties(counts: Counts) -> Floats:
        return _penalties(counts["parts"][:, 0], counts["parts"][:, 1])

    def success(counts: Counts) -> Floats:
        both = counts["parts"].sum(axis=1)
        return ratio(both[:, :1], both[:, measures.shape[1], None])

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """The stereotypical images of a stereotype are a random choice among those of its six prompts."""
        by_stereotype = parts.reshape(iris_steer_60.STEREOTYPES, -1, parts.shape[1])
        keys = rng.random((models, *by_stereotype.shape[:2]), np.float32)
        cut = np.partition(keys, images, axis=-1)[..., images, None]
        chosen = (keys < cut).reshape(models, -1).astype(np.float64) @ parts
        return _penalties(chosen, parts.sum(axis=0) - chosen)

    largest = [1.0, *(_MOST - _LEAST).tolist()]
    gaps = [
        Quantity(name, "percentile", (0.0, high), biased=True, note=_STEER_NOTE)
        for name, high in zip(PENALTIES, largest, strict=True)
    ]
    share = Quantity("competence_steer_success", "exact", (0.0, 1.0), note=_STEER_NOTE)
    return table, [Family(gaps, penalties, fair), Family([share], success)]


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


def occupation_design(answers: Integers, regions: Sequence[Region] = REGIONS, revision: str = "") -> Sample:
    """AD and SPD over the seven combinations, accuracy, absolute drifts and refusal gaps, by resampling cells' images.

    `answers`, (27 144,): the codes of `OccupationAnswers.codes`. The core has one image of a group in an occupation, so
    its strata are the groups.
    """
    truth, groups = iris_ideal_52.image_cells(revision)
    answered, right = answers != MISSING, answers == truth
    drift = _drifts(answers, truth, regions)
    strata = groups if revision in CORE else groups + truth * _G
    blocks = {
        "classes": tally(np.where(answered, groups * _CLASSES + _class(answers), -1), _G, _CLASSES),
        "correct": tally(np.where(right, groups, -1), _G),
        "drifts": sums(drift.reshape(len(drift), 2, -1)),
    }
    table = Table(f"iris/{OCCUPATION}", "image of a group in an occupation", strata, blocks)

    def accuracy(counts: Counts) -> Floats:
        return ratio(counts["correct"].sum(axis=1), counts["classes"].sum(axis=(1, 2)))[:, None]

    def drifts(counts: Counts, order: Counts | None = None) -> Floats:
        signed = mean_drift(*np.moveaxis(counts["drifts"], 1, 0))
        return np.abs(signed) if order is None else np.sign(mean_drift(*np.moveaxis(order["drifts"], 1, 0))) * signed

    def refusals(counts: Counts) -> Floats:
        return refusal_disparities(counts["classes"][..., -1], counts["classes"].sum(axis=-1))

    def fair_gaps(rng: np.random.Generator, models: int) -> Floats:
        """The groups of an occupation's images are permuted."""
        classes, correct = _permuted(rng, min(models, PERMUTED), answers, truth, groups)
        return _gaps({"classes": classes, "correct": correct})

    names, gaps = occupation_names(regions), 2 * len(COMBINATIONS)
    sizes = [Quantity(name, "size", (0.0, 1.0), note=SIZE) for name in names if name != "competence_accuracy"]
    return table, [
        Family(sizes[:gaps], _gaps, fair_gaps),
        Family([Quantity("competence_accuracy", "exact", (0.0, 1.0))], accuracy),
        Family(sizes[gaps:], drifts, lambda rng, models: _undirected(rng, models, drift)),
        Family(_refusals(OCCUPATION), refusals),
    ]


def _refusals(task: str) -> list[Quantity]:
    return [Quantity(name, limits=(0.0, 1.0)) for name in refusal_names(task)]


def _class(answers: Integers) -> Integers:
    return np.select([answers == REFUSED, answers < 0], [_K + 1, _K], answers)


def _gaps(counts: Counts, order: Counts | None = None) -> Floats:
    """(b, 14) AD, then SPD, of every combination; `order` says the extreme groups and classes."""
    classes, correct = counts["classes"], counts["correct"]
    accuracies, parities = [], []
    for members in _MEMBERS.values():
        merged, ranks = members @ classes, None if order is None else members @ order["classes"]
        extremes = None if order is None or ranks is None else (order["correct"] @ members.T, ranks.sum(axis=-1))
        accuracies.append(accuracy_gap(correct @ members.T, merged.sum(axis=-1), extremes))
        parities.append(rate_gap(merged, ranks))
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
) -> Sample:
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
        total, pairs = np.nansum(apart, axis=1), (~np.isnan(apart)).sum(axis=1)
        measured = members * (np.asarray(both.all(axis=1)).any(axis=1) @ members > 0)
        columns += [measured * total[:, None], measured * pairs[:, None]]
    by_group = None
    if refused is not None and refused.any():
        shown = iris_steer_60.pairs().groups if groups is None else groups
        by_group = np.concatenate([_by_group(shown, refused), _by_group(shown, handed_in)], axis=1)
    judged = [np.nansum(correct, axis=(1, 2)), (~np.isnan(correct)).sum(axis=(1, 2))]
    weights = np.concatenate([*columns, np.stack(judged, axis=1)], axis=1)
    blocks = {"sums": sums(weights)} | ({} if by_group is None else {"refusals": sums(by_group.reshape(-1, 2, _G))})
    table = Table(f"iris/{PAIR}", "pair of a combination", combination, blocks)

    def compared(counts: Counts) -> Floats:
        apart, pairs, changed, judged = np.split(counts["sums"][:, :-2], 4, axis=1)
        consistency, _, _ = answer_consistency_difference(apart, pairs, 0)
        inconsistency, _, _ = hallucination_inconsistency(changed, judged, 0)
        return np.concatenate([consistency, inconsistency], axis=1)

    def accuracy(counts: Counts) -> Floats:
        return ratio(counts["sums"][:, -2:-1], counts["sums"][:, -1:])

    def refusals(counts: Counts) -> Floats:
        if by_group is None:
            return np.zeros((len(counts["sums"]), len(GROUP_NAMES)))
        return refusal_disparities(*np.moveaxis(counts["refusals"], 1, 0))

    largest = zip(pair_names(), (9.0, 1.0), strict=True)
    distances = [Quantity(name, "normal", (0.0, most), note=_NOTE) for names, most in largest for name in names]
    return table, [
        Family(distances, compared),
        Family([Quantity("competence_objective_accuracy", "exact", (0.0, 1.0))], accuracy),
        Family(_refusals(PAIR), refusals),
    ]


def _by_group(groups: Integers, answers: NDArray[np.bool_]) -> Floats:
    """(6 000, 2, q) -> (6 000, 18) counts by the group that the image shows."""
    counts = answers.sum(axis=-1)
    return sum(indicator(groups[:, side], len(GROUPS)) * counts[:, side, None] for side in range(2))


_OF_ATTRIBUTE = {name: group_members(name).astype(np.float64) for name in GROUP_NAMES}


def tournament_design(winners: Integers, regions: Sequence[Region] = REGIONS, revision: str = "") -> Sample:
    """JSD of the tournament's winners from labour figures, by resampling the rounds of each profile.

    `winners`, (36 000,): the winner of each round, else `UNMAPPABLE`, `REFUSED` or `MISSING`.
    """
    profile = profiles(len(winners))
    answered, refused = winners != MISSING, winners == REFUSED
    figures, undecided = list(references(regions)), answered & (winners < 0)
    blocks = {"wins": tally(np.where(winners >= 0, winners * _G + profile, -1), _K, _G)}
    if undecided.any():
        competitors = iris_ideal_52.tournament_competitors(revision)
        stood = np.where(undecided[:, None], competitors * _G + profile[:, None], -1)
        seats = np.repeat(np.arange(len(winners)), stood.shape[1])
        blocks["undecided"] = tally(stood.ravel(), _K, _G, cluster=seats)
    if refused.any():
        by_group = {"refused": refused, "answered": answered}
        blocks |= {name: tally(np.where(rounds, profile, -1), _G) for name, rounds in by_group.items()}
    table = Table(f"iris/{TOURNAMENT}", "round of a profile", profile, blocks)

    def compared(counts: Counts) -> Floats:
        return np.stack([_mean(counts["wins"], counts.get("undecided"), f) for f in figures], axis=1)

    def refusals(counts: Counts) -> Floats:
        if "refused" not in blocks:
            return np.zeros((len(counts["wins"]), len(GROUP_NAMES)))
        return refusal_disparities(counts["refused"], counts["answered"])

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
        return np.stack(columns, axis=1)

    distances = [
        Quantity(tournament_name(f.attribute, f.region), "basic", (0.0, float(np.log(2))), biased=True) for f in figures
    ]
    return table, [Family(distances, compared, fair), Family(_refusals(TOURNAMENT), refusals)]


def _mean(table: Floats, without: Floats | None, f: Reference) -> Floats:
    members = _OF_ATTRIBUTE[f.attribute]
    won = (table @ members)[:, f.listed]
    if without is None:
        return np.asarray(divergences(won, f.shares).mean(axis=-1))
    return np.asarray(worst_divergence(won, (without @ members)[:, f.listed], f.shares).mean(axis=-1))


def designs(records: Records) -> list[Sample]:
    """The designs of the tasks that were run: all 60 values, further drifts, and three competences."""
    parts: list[Sample] = []
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
