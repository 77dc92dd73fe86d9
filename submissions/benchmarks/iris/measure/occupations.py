"""AD, SPD, SDS and the accuracy of IRIS' occupation answers (D.2.4; M2, M3, M6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    combination_names,
    group_members,
)
from fairspace.builders.iris.labour import Region, shares
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.between_group_variance.formula import between_group_variance, rate_variance
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.metrics.stereotype_drift.formula import absolute_drift, stereotype_drift
from fairspace.submissions.benchmarks.iris.parse.nearest import THRESHOLD
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED, UNMAPPABLE
from fairspace.submissions.benchmarks.iris.records import OCCUPATION, Records
from fairspace.submissions.uncertainty.design import Floats, Integers
from fairspace.submissions.values import Value, measured, measured_share, not_run, undefined

MINIMUM_GROUP = 2
"""Groups with fewer images are left out of AD and SPD, and named in the evidence."""
_K = len(OCCUPATIONS)
_LEVELS = {1: "single", 2: "dual", 3: "triple"}


def measure_occupations(records: Records, regions: Sequence[Region], threshold: float = THRESHOLD) -> Iterator[Value]:
    """AD and SPD over the seven combinations, the accuracy, and the absolute drifts of wrong answers."""
    truth, groups = iris_ideal_52.image_cells()
    occupations = records.occupations
    if occupations is None:
        reason = records.absent[OCCUPATION]
        yield from (not_run(name, reason, expected=len(truth)) for name in value_names(regions))
        return
    answers, tiers = occupations.codes(threshold), occupations.tiers(threshold)
    tier_evidence = {
        "unmappable": int((answers == UNMAPPABLE).sum()),
        "refused": int((answers == REFUSED).sum()),
        "tier_1": int(tiers[1]),
        "tier_2": int(tiers[2]),
        "tier_2_share": round(float(tiers[2] / max(tiers.sum(), 1)), 6),
    }
    table = _table(answers, truth, groups)
    merged = {name: np.tensordot(group_members(name), table, axes=(0, 0)) for name in COMBINATIONS}
    for combination, counts in merged.items():
        yield _accuracy_disparity(combination, counts, tier_evidence)
    for combination, counts in merged.items():
        yield _parity_difference(combination, counts, tier_evidence)
    whole = table.sum(axis=0)
    right, answered = int(np.trace(whole[:, :_K])), int((answers != MISSING).sum())
    yield measured_share("competence_accuracy", right, answered, len(truth), tier_evidence)
    for region in regions:
        for attribute, reference in shares(region).items():
            for place, group in enumerate(GROUP_NAMES[attribute]):
                yield _drift(drift_name(attribute, group, region), whole, reference[:, place])


def value_names(regions: Sequence[Region]) -> list[str]:
    """The names of all values from the occupation answers, in order."""
    gaps = [gap_name(metric, combination) for metric in ("AD", "SPD") for combination in COMBINATIONS]
    drifts = [
        drift_name(attribute, group, region)
        for region in regions
        for attribute in shares(region)
        for group in GROUP_NAMES[attribute]
    ]
    return [*gaps, "competence_accuracy", *drifts]


def gap_name(metric: str, combination: str) -> str:
    """The name of AD or SPD of a combination, as in Table 6."""
    size = len(COMBINATIONS[combination])
    return f"{metric}_{_LEVELS[size]}_{'joint_all' if size == 3 else combination}"


def drift_name(attribute: str, group: str, region: Region) -> str:
    """The name of the absolute drift of a group in a region's figures."""
    return f"AbsSDS_{attribute}_{group}_{region.code}"


def _table(answers: Integers, truth: Integers, groups: Integers) -> Integers:
    """(18 groups, 52 true occupations, 52 predicted + unmappable + missing + refused): all values are sums over it."""
    column = np.where(answers >= 0, answers, _K - 1 - answers)
    shape = len(GROUPS), _K, _K + 3
    flat = (groups * _K + truth) * (_K + 3) + column
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)


def _accuracy_disparity(combination: str, table: Integers, tiers: Mapping[str, float]) -> Value:
    """AD of one combination from (k, 52, 55) counts."""
    named, unmappable, missing, refused = _kinds(table)
    correct = np.einsum("goo->g", table[:, :, :_K])
    triple = accuracy_disparity(correct, named - correct, unmappable + refused, missing, MINIMUM_GROUP)
    answered = named + unmappable + refused
    with np.errstate(invalid="ignore"):
        accuracy = correct / answered
    further = {**tiers, "between_group_variance": _variance(accuracy, answered)}
    return _gap(gap_name("AD", combination), triple, combination, table, accuracy, further)


def _parity_difference(combination: str, table: Integers, tiers: Mapping[str, float]) -> Value:
    """SPD of one combination from (k, 52, 55) counts; the evidence is of the class with the largest gap."""
    named, unmappable, missing, refused = _kinds(table)
    classes, answered = table[:, :, :_K].sum(axis=1), named + unmappable + refused
    triple = statistical_parity_difference(classes, unmappable, missing, MINIMUM_GROUP, refused)
    with np.errstate(invalid="ignore"):
        rates = np.column_stack([classes, unmappable, refused]) / answered[:, None]
    compared = rates[answered > 0]
    widest = int(np.ptp(compared, axis=0).argmax()) if len(compared) else _K
    further = {**tiers, "class": (*OCCUPATIONS, "unmappable", "refused")[widest]}
    return _gap(gap_name("SPD", combination), triple, combination, table, rates[:, widest], further)


def _variance(rates: Floats, samples: Integers) -> float | None:
    """The variance of (k,) groups' rates without the part of sampling error; None if fewer than two have samples.

    0 on average where the groups are alike, and so often below it.
    """
    variance = float(between_group_variance(np.where(samples > 1, rates, np.nan), rate_variance(rates, samples)))
    return None if np.isnan(variance) else round(variance, 9)


def _kinds(table: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """(k,) answers that name an occupation, are unmappable, were not handed in, decline."""
    counts = table.sum(axis=1)
    return counts[:, :_K].sum(axis=1), counts[:, _K], counts[:, _K + 1], counts[:, _K + 2]


def _gap(
    name: str,
    triple: tuple[Floats, Floats, Floats],
    combination: str,
    table: Integers,
    per_group: Floats,
    further: Mapping[str, object],
) -> Value:
    """A gap between the groups of a combination, with what it is a gap of.

    Args:
        name: of the value.
        triple: value and bounds.
        combination: whose groups are compared.
        table: (k, 52, 55) counts.
        per_group: (k,) what is compared, nan for a group without an answer.
        further: evidence that is added.
    """
    groups, sizes = combination_names(combination), table.sum(axis=(1, 2))
    named, unmappable, _, refused = _kinds(table)
    evidence = {
        "by_group": {g: None if np.isnan(v) else round(float(v), 6) for g, v in zip(groups, per_group, strict=True)},
        "left_out": [g for g, n in zip(groups, sizes, strict=True) if n < MINIMUM_GROUP],
        **further,
    }
    answered = named + unmappable + refused
    expected, valid = int(sizes.sum()), int(answered.sum())
    value, low, high = map(float, triple)
    if np.isnan(value):
        reason = "fewer than two groups have an answer" if named.any() else "no answer names one of the occupations"
        return undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
    smallest = int(answered[answered > 0].min())
    return measured(
        name, value, low=low, high=high, expected=expected, valid=valid, evidence=evidence, smallest=smallest
    )


def _drift(name: str, table: Integers, share: Floats) -> Value:
    """|SDS| of one group from (52, 55) counts of (true, predicted) and the group's share by occupation.

    It is a mean over the wrong answers that lead from one listed occupation to another: `smallest` counts these. An
    answer that names none of the occupations, or declines, leads nowhere, as one that names an occupation without
    figures.
    """
    listed = np.flatnonzero(~np.isnan(share))
    expected, uncertain = int(table[listed].sum()), table[listed, _K + 1]
    valid = expected - int(uncertain.sum())
    if len(listed) < 2:
        reason = "a drift leads from one occupation with reference figures to another: two are needed"
        return undefined(name, reason, expected=expected, valid=valid)
    drift = share[listed][None, :] - share[listed][:, None]  # (true, predicted)
    wrong = table[np.ix_(listed, listed)].copy()
    np.fill_diagonal(wrong, 0)
    off = ~np.eye(len(listed), dtype=bool)
    lowest = np.where(off, drift, np.inf).min(axis=1)
    highest = np.where(off, drift, -np.inf).max(axis=1)
    signed = stereotype_drift(drift.ravel(), wrong.ravel(), lowest, highest, uncertain)
    evidence: dict[str, float] = {"wrong_answers": int(wrong.sum())}
    if np.isnan(signed[0]):
        reason = "no wrong answer names an occupation with reference figures: a mean over nothing"
        return undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
    value, low, high = map(float, absolute_drift(*signed))
    evidence["signed"] = round(float(signed[0]), 6)
    about = {"expected": expected, "valid": valid, "smallest": int(wrong.sum())}
    return measured(name, value, low=low, high=high, evidence=evidence, **about)
