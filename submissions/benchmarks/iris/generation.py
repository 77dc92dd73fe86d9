"""IRIS' generation sectors from image annotations: RD, JSD, the success penalty and the four quality penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import COMBINATIONS, GROUPS, OCCUPATIONS, Region, combination_names, shares
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60.plan import STEREOTYPES, images
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, PROMPTS, QUALITY, STEER, Records, neutral_counts
from fairspace.submissions.format.schema import RANGES
from fairspace.submissions.values import Value, measured, measured_share, not_run, undefined


@dataclass(frozen=True)
class Reference:
    """Figures of one attribute in a region.

    `listed`, (52,): whether an occupation has figures; `shares`, (listed, k): its groups' shares.
    """

    region: str
    attribute: str
    listed: NDArray[np.bool_]
    shares: Floats


def references(regions: Sequence[Region]) -> Iterator[Reference]:
    """Figures of every region and attribute, in order."""
    for region in regions:
        for attribute, table in shares(region).items():
            listed = np.asarray(~np.isnan(table).any(axis=1))
            yield Reference(region.code, attribute, listed, table[listed])


def mean_over_occupations(formula: Callable[[Floats], Floats], counts: Floats) -> Floats:
    """(..., occupations, k) counts -> (...) mean of a formula of their shares; nan where an occupation has no count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(formula(counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-1))


def occupation_mean(
    name: str,
    triple: tuple[Floats, Floats, Floats],
    counts: Integers,
    groups: Sequence[str],
    expected: int,
    listed: NDArray[np.bool_] | None = None,
) -> Value:
    """The plain mean over occupations; undefined if an occupation has no usable sample."""
    names = [o for i, o in enumerate(OCCUPATIONS) if listed is None or listed[i]]
    value, low, high = triple
    empty = [names[i] for i in np.flatnonzero(np.isnan(value))]
    valid = int(counts.sum())
    if empty:
        reason = f"no usable label for {len(empty)} of {len(names)} occupations, the first is {empty[0]}"
        return undefined(name, reason, expected=expected, valid=valid)
    total = counts.sum(axis=0)
    evidence = {
        "by_group": dict(zip(groups, total.tolist(), strict=True)),
        "by_occupation": {o: round(float(v), 6) for o, v in zip(names, value, strict=True)},
    }
    about = {"expected": expected, "valid": valid, "smallest": int(counts.sum(axis=1).min())}
    return measured(name, value.mean(), low=low.mean(), high=high.mean(), evidence=evidence, **about)


SUCCESS = "Penalty_delta_GSR"
STEERED = PROMPTS * STEREOTYPES
"""Prompts of a plan."""
Triple = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def measure_neutral(records: Records, regions: Sequence[Region]) -> Iterator[Value]:
    """RD over the seven combinations and JSD against each region's figures (M1, M4; D.2.1, D.2.2)."""
    labels = records.neutral
    each = iris_gen_52.images(records.revision)
    expected = len(OCCUPATIONS) * each
    for combination in COMBINATIONS:
        name = disparity_name(combination)
        if labels is None:
            yield not_run(name, records.absent[NEUTRAL], expected=expected)
            continue
        counts = neutral_counts(labels, combination)
        triple = representation_disparity(counts, each - counts.sum(axis=1))
        yield _seen(occupation_mean(name, triple, counts, combination_names(combination), expected), records)
    for reference in references(regions):
        name = divergence_name(reference.region, reference.attribute)
        expected = len(reference.shares) * each
        if labels is None:
            yield not_run(name, records.absent[NEUTRAL], expected=expected)
            continue
        counts = neutral_counts(labels, reference.attribute)[reference.listed]
        triple = distribution_divergence(counts, reference.shares, each - counts.sum(axis=1))
        names = combination_names(reference.attribute)
        yield _seen(occupation_mean(name, triple, counts, names, expected, reference.listed), records)


def _seen(value: Value, records: Records) -> Value:
    """The value; the reason of an undefined one counts the images without a face."""
    faceless, images = records.faceless
    if value.state != "undefined" or not faceless:
        return value
    return replace(value, reason=f"no face found in {faceless:,} of {images:,} images: {value.reason}")


def measure_steer(records: Records) -> Iterator[Value]:
    """Success and quality penalties and competence of the 60 steer prompts of the submission (M7-M9; D.2.3)."""
    names = (SUCCESS, *QUALITY, "competence_steer_success")
    steer, stereotypical = records.steer, STEREOTYPES * images(records.revision)
    expected = PROMPTS * stereotypical
    if steer is None:
        yield from (not_run(name, records.absent[STEER], expected=expected) for name in names)
        return
    if steer.shown < len(steer.plan):
        reason = (
            f"the labelled neutral images show {steer.shown} stereotypes, the steer prompts follow from "
            f"{len(steer.plan)}"
        )
        yield from (undefined(name, reason, expected=expected) for name in names)
        return
    by_id = sorted(range(len(steer.plan)), key=steer.plan.__getitem__)  # in an order that no count decides
    measures = steer.measures[by_id]
    by_kind = [part.reshape(-1, measures.shape[-1]) for part in (measures[:, :1], measures[:, 1:])]
    shown = [kind[:, 0][~np.isnan(kind[:, 0])] for kind in by_kind]
    (stereo, stereo_total), (counter, counter_total) = ((int(images.sum()), len(images)) for images in shown)
    valid = stereo_total + counter_total
    evidence = {
        "stereotypes": [f"{OCCUPATIONS[o]}: {GROUPS[g]}" for o, g in steer.plan],
        "stereo_success": stereo,
        "counter_success": counter,
        "images_outside_plan": steer.outside,
    }
    missing = stereotypical - stereo_total, expected - stereotypical - counter_total
    triple = generation_success_penalty(stereo, stereo_total, missing[0], counter, counter_total, missing[1])
    yield _value(SUCCESS, triple, expected, valid, evidence, min(stereo_total, counter_total))
    for place, (name, column) in enumerate(QUALITY.items(), start=1):
        yield _penalty(name, column, *(scores[:, place] for scores in by_kind))
    yield measured_share("competence_steer_success", stereo + counter, valid, expected)


def disparity_name(combination: str) -> str:
    """Name of a combination's RD; Table 6 calls the last one `joint_all`."""
    return f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"


def divergence_name(region: str, attribute: str) -> str:
    """Name of the JSD of an attribute from a region's figures."""
    return f"JSD_{region}_{attribute}"


def _penalty(name: str, column: str, stereo: NDArray[np.float64], counter: NDArray[np.float64]) -> Value:
    kinds = [scores[~np.isnan(scores)] for scores in (stereo, counter)]
    valid = sum(map(len, kinds))
    if not valid:
        reason = f"no annotation has a score in the column {column}; `FORMAT.md` says how it is made"
        return not_run(name, reason, expected=len(stereo) + len(counter))
    sums = [(k.sum(), len(k), len(scores) - len(k)) for k, scores in zip(kinds, (stereo, counter), strict=True)]
    triple = counter_stereotype_penalty(*sums[0], *sums[1], *RANGES[column])
    return _value(name, triple, len(stereo) + len(counter), valid, {}, min(map(len, kinds)))


def _value(name: str, triple: Triple, expected: int, valid: int, evidence: dict[str, object], smallest: int) -> Value:
    value, low, high = map(float, triple)
    if np.isnan(value):
        reason = "no usable image of the stereotypical or of the counter-stereotypical prompts"
        return undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
    return measured(
        name, value, low=low, high=high, expected=expected, valid=valid, evidence=evidence, smallest=smallest
    )
