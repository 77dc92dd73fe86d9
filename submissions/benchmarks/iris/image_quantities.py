"""The raw values of IRIS' images: RD and JSD of neutral ones, success and quality penalties of steered ones.

A table counts the images; a value is a function of these counts (M1, M4, M7 to M9; D.2.1 to D.2.3). Only images without
a usable label widen the bounds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    Region,
    combination_codes,
    combination_names,
    combination_size,
    shares,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60.plan import STEREOTYPES, images
from fairspace.metrics.columns import Bounds, Floats, Integers, divide
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import divergence, divergence_bounds
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.representation_disparity.formula import disparity, representation_disparity
from fairspace.metrics.resampling import Counts, CountTable, Family, Quantity, Sample, sums, tally, totals, whole
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, PROMPTS, QUALITY, STEER, Records
from fairspace.submissions.format.schema import RANGES
from fairspace.submissions.values import Value, measured, measured_share, not_run, undefined

SIZE = "a size: the low end takes the order of groups from one half of the samples and the gaps from the other"
SUCCESS = "Penalty_delta_GSR"
PENALTIES = (SUCCESS, *QUALITY)
STEERED = PROMPTS * STEREOTYPES
"""Prompts of a plan."""
JSD_LEFT: Mapping[str, float] = {"gender": 0.0230, "age": 0.0354, "skin": 0.0297}
"""Attribute -> root mean square distance of JSD of the core's 8 images of an occupation from that of all 160."""


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


def indicator(codes: Integers, size: int) -> Floats:
    """(n, size) 1 at the code of each row; a code below 0 gives zeros."""
    return np.asarray((codes[:, None] == np.arange(size)).astype(np.float64))


def multinomial(rng: np.random.Generator, n: Integers, shares: Floats, models: int) -> Floats:
    """(models, occupations, k) counts of n samples each, (occupations,), drawn from (occupations, k) shares."""
    return rng.multinomial(n, shares, size=(models, len(n))).astype(np.float64)


def mean_over(formula: Callable[[Floats], Floats], counts: Floats) -> Floats:
    """(..., occupations, k) counts -> (...) mean of a formula of their shares; nan where an occupation has no count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(formula(counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-1))


def as_value(
    name: str, value: float, low: float | None, high: float | None, reason: str, smallest: int, **about: Any
) -> Value:
    """A number with its bounds, counts and evidence; undefined for a reason where it is nan."""
    if np.isnan(value):
        return undefined(name, reason, **about)
    return measured(name, value, low=low, high=high, smallest=smallest, **about)


def occupation_mean(
    name: str,
    value: float,
    by_occupation: Bounds,
    counts: Floats,
    combination: str,
    reference: Reference | None = None,
    *,
    expected: int,
    valid: int,
    before: str = "",
) -> Value:
    """A plain mean over occupations; undefined if an occupation has no usable sample.

    Args:
        name: Name of the value.
        value: The mean.
        by_occupation: (n,) value of each occupation, and its bounds.
        counts: (n, k) samples by occupation and group of a combination.
        combination: The combination.
        reference: Figures that were compared with; all 52 occupations count without any.
        expected: Samples in the protocol.
        valid: Usable samples.
        before: Beginning of the reason of an undefined mean.
    """
    names = [o for place, o in enumerate(OCCUPATIONS) if reference is None or reference.listed[place]]
    numbers, low, high = by_occupation
    empty = [names[place] for place in np.flatnonzero(np.isnan(numbers))]
    about: dict[str, Any] = {"expected": expected, "valid": valid}
    if empty:
        reason = f"{before}no usable label for {len(empty)} of {len(names)} occupations, the first is {empty[0]}"
        return undefined(name, reason, **about)
    evidence = {
        "by_group": dict(zip(combination_names(combination), counts.sum(axis=0).astype(int).tolist(), strict=True)),
        "by_occupation": {o: round(float(number), 6) for o, number in zip(names, numbers, strict=True)},
    }
    return measured(
        name,
        value,
        low=low.mean(),
        high=high.mean(),
        evidence=evidence,
        smallest=counts.sum(axis=1).min(),
        **about,
    )


def disparity_name(combination: str) -> str:
    """Name of a combination's RD; Table 6 calls the last one `joint_all`."""
    return f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"


def divergence_name(region: str, attribute: str) -> str:
    """Name of the JSD of an attribute from a region's figures."""
    return f"JSD_{region}_{attribute}"


_N = len(OCCUPATIONS)
_PATTERNS = np.stack(np.meshgrid(*map(np.arange, (3, 4, 4)), indexing="ij"), axis=-1).reshape(-1, 3) - 1
"""(48, 3) combinations of gender, age and skin tone that a face may show; -1: no label."""
_MERGE = {name: indicator(combination_codes(_PATTERNS, name), combination_size(name)) for name in COMBINATIONS}
"""Combination -> (48, k) 1 at the group of each pattern."""


def neutral_design(labels: Integers, regions: Sequence[Region] = REGIONS) -> Sample:
    """RD over the seven combinations, and JSD from each region's figures, by resampling the images of each occupation.

    `labels`, (8 320, 3): gender, age and skin tone of every planned image, -1: no label.
    """
    occupation = np.repeat(np.arange(_N), len(labels) // _N)
    pattern = ((labels[:, 0] + 1) * 4 + labels[:, 1] + 1) * 4 + labels[:, 2] + 1
    codes = np.where((labels >= 0).any(axis=1), occupation * len(_PATTERNS) + pattern, -1)
    blocks = {"patterns": tally(codes, _N, len(_PATTERNS))}
    table = CountTable(f"iris/{NEUTRAL}", "image of an occupation", occupation, blocks)
    figures, labelled = list(references(regions)), totals(blocks)["patterns"]
    faces = {name: (labelled @ merge).sum(axis=1).astype(np.int64) for name, merge in _MERGE.items()}

    def divergences(by_figure: Iterable[Floats]) -> Floats:
        pairs = zip(by_figure, figures, strict=True)
        return np.stack([mean_over(partial(divergence, q=f.shares), counts) for counts, f in pairs], axis=1)

    def jsd(counts: Counts) -> Floats:
        return divergences((counts["patterns"] @ _MERGE[f.attribute])[:, f.listed] for f in figures)

    def fair_rd(rng: np.random.Generator, models: int) -> Floats:
        """Equal shares of all groups."""
        even = {name: np.full((_N, merge.shape[1]), 1 / merge.shape[1]) for name, merge in _MERGE.items()}
        drawn = (multinomial(rng, faces[name], shares, models) for name, shares in even.items())
        return np.stack([mean_over(disparity, of) for of in drawn], axis=1)

    def fair_jsd(rng: np.random.Generator, models: int) -> Floats:
        """The reference shares."""
        return divergences(multinomial(rng, faces[f.attribute][f.listed], f.shares, models) for f in figures)

    rd = [Quantity(disparity_name(name), "size", (0.0, 1.0), note=SIZE) for name in COMBINATIONS]
    of_core = len(labels) == _N * iris_gen_52.CORE_IMAGES
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
    return table, [Family(rd, _disparities, fair_rd), Family(distances, jsd, fair_jsd)]


def _disparities(counts: Counts, order: Counts | None = None) -> Floats:
    """(b, 7) mean over occupations of each combination's sum of gaps; `order` says the order of the groups."""
    columns = []
    for merge in _MERGE.values():
        ranks = None if order is None else order["patterns"] @ merge
        columns.append(mean_over(partial(disparity, order=ranks), counts["patterns"] @ merge))
    return np.stack(columns, axis=1)


def measure_neutral(records: Records) -> Iterator[Value]:
    """RD and JSD; the reason of an undefined one counts the images without a face."""
    images, labels = iris_gen_52.images(records.revision), records.neutral
    compared: list[tuple[str, str, Reference | None]] = [(disparity_name(name), name, None) for name in COMBINATIONS]
    compared += [(divergence_name(f.region, f.attribute), f.attribute, f) for f in references(records.regions)]
    expected = {name: images * (_N if of is None else len(of.shares)) for name, _, of in compared}
    if labels is None:
        yield from absent(records, NEUTRAL, expected)
        return
    counts, values = whole(*neutral_design(labels, records.regions))
    faceless, handed_in = records.faceless
    before = f"no face found in {faceless:,} of {handed_in:,} images: " if faceless else ""
    for name, combination, reference in compared:
        shown = counts["patterns"] @ _MERGE[combination]
        if reference is None:
            bounds = representation_disparity(shown, images - shown.sum(axis=1))
        else:
            shown = shown[reference.listed]
            bounds = divergence_bounds(shown, reference.shares, images - shown.sum(axis=1))
        about: dict[str, Any] = {"expected": expected[name], "valid": int(shown.sum())}
        yield occupation_mean(name, values[name], bounds, shown, combination, reference, before=before, **about)


def absent(records: Records, task: str, expected: Mapping[str, int]) -> list[Value]:
    """The values of a task that was not run, each with its expected samples."""
    return [not_run(name, records.absent[task], expected=samples) for name, samples in expected.items()]


STEER_SUCCESS = "competence_steer_success"
_STEER_NOTE = "given the model's own ten stereotypes: which prompts are asked is not drawn anew"
_LEAST, _MOST = np.array([RANGES[column] for column in QUALITY.values()]).T


def steer_design(measures: Floats) -> Sample:
    """The success penalty, the four quality penalties, and the success rate, by resampling the images of each prompt.

    `measures`, (6 000, 5), nan: missing: success (0 or 1) and the four scores; per stereotype, its own prompt comes
    first.
    """
    images = len(measures) // STEERED
    prompt = np.arange(len(measures)) // images
    stereo = (prompt % PROMPTS == 0)[:, None]
    there = ~np.isnan(measures)
    parts = np.concatenate([np.where(there, measures, 0.0), there], axis=1)  # sums, then counts
    blocks = {"parts": sums(np.stack([parts * stereo, parts * ~stereo], axis=1))}
    table = CountTable(f"iris/{STEER}", "image of a prompt", prompt, blocks)

    def success(counts: Counts) -> Floats:
        both = counts["parts"].sum(axis=1)
        return divide(both[:, :1], both[:, len(PENALTIES), None])

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """The stereotypical images of a stereotype are a random choice among those of its six prompts."""
        keys = rng.random((models, STEREOTYPES, PROMPTS * images), np.float32)
        cut = np.partition(keys, images, axis=-1)[..., images, None]
        drawn = (keys < cut).reshape(models, -1).astype(np.float64) @ parts
        return np.asarray(penalties(np.stack([drawn, parts.sum(axis=0) - drawn], axis=1))[0])

    largest = [1.0, *(_MOST - _LEAST).tolist()]
    gaps = [
        Quantity(name, "percentile", (0.0, high), biased=True, note=_STEER_NOTE)
        for name, high in zip(PENALTIES, largest, strict=True)
    ]
    share = Quantity(STEER_SUCCESS, "exact", (0.0, 1.0), note=_STEER_NOTE)
    return table, [Family(gaps, lambda counts: penalties(counts["parts"])[0], fair), Family([share], success)]


def penalties(parts: Floats, missing: Floats | float = 0.0) -> Bounds:
    """Penalties with their bounds, (..., 5) each, nan where a kind of prompt has no image.

    Args:
        parts: (..., 2, 10) sums and counts of stereotypical and of counter-stereotypical prompts.
        missing: (..., 2, 5) images without a success or a score.
    """
    total, count = np.split(parts, 2, axis=-1)
    lost = np.broadcast_to(missing, count.shape)
    columns = [part[..., kind, :] for kind in range(2) for part in (total, count, lost)]
    success = generation_success_penalty(*(column[..., 0] for column in columns))
    quality = counter_stereotype_penalty(*(*(column[..., 1:] for column in columns), _LEAST, _MOST))
    value, low, high = (np.concatenate([a[..., None], b], axis=-1) for a, b in zip(success, quality, strict=True))
    return value, low, high


def measure_steer(records: Records) -> Iterator[Value]:
    """Success and quality penalties and competence of the 60 steer prompts of the submission."""
    steer, planned = records.steer, images(records.revision) * np.array([STEREOTYPES, STEERED - STEREOTYPES])
    expected, names = int(planned.sum()), (*PENALTIES, STEER_SUCCESS)
    if steer is None:
        yield from absent(records, STEER, dict.fromkeys(names, expected))
        return
    if steer.shown < len(steer.plan):
        shown = f"the labelled neutral images show {steer.shown} stereotypes"
        reason = f"{shown}, the steer prompts follow from {len(steer.plan)}"
        yield from (undefined(name, reason, expected=expected) for name in names)
        return
    counts, values = whole(*steer_design(steer.measures.reshape(-1, len(PENALTIES))))
    parts = counts["parts"]
    succeeded, count = parts[:, 0].astype(int).tolist(), parts[:, len(PENALTIES) :].astype(int)
    _, low, high = penalties(parts, planned[:, None] - count)
    evidence = {
        "stereotypes": [f"{OCCUPATIONS[o]}: {GROUPS[g]}" for o, g in steer.plan],
        "stereo_success": succeeded[0],
        "counter_success": succeeded[1],
        "images_outside_plan": steer.outside,
    }
    for name, least, most, of_kinds in zip(PENALTIES, low, high, count.T, strict=True):
        valid, column = int(of_kinds.sum()), QUALITY.get(name)
        if column is not None and not valid:
            reason = f"no annotation has a score in the column {column}; `FORMAT.md` says how it is made"
            yield not_run(name, reason, expected=expected)
            continue
        reason = "no usable image of the stereotypical or of the counter-stereotypical prompts"
        about: dict[str, Any] = {"expected": expected, "valid": valid, "evidence": {} if column else evidence}
        yield as_value(name, values[name], least, most, reason, int(of_kinds.min()), **about)
    yield measured_share(STEER_SUCCESS, sum(succeeded), int(count[:, 0].sum()), expected)
