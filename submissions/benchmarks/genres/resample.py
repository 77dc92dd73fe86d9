"""Resampling designs of GENRES: the cluster is an element, whose five passages differ in image and names.

Strata are relational model and plot (36 elements each). A fair model is the given one with male and female exchanged at
random in each passage; its values are magnitudes, |M|, and the total has none. `M1_single` and so on (Figure 1) are the
metrics over a pair of stories in place of a passage's two characters, `M1_single_male` and `M1_single_female` their
sides, and `M1_less_single` is M1 less `M1_single`. M4 and M8 compare within one passage and have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairspace.builders.genres import plan
from fairspace.builders.genres.plan import GENDERS
from fairspace.metrics.genres_bias import formula
from fairspace.metrics.genres_bias.formula import LARGEST, from_sums, ratio
from fairspace.submissions.benchmarks.genres.measure import (
    FLOORS,
    JUDGED,
    METRICS,
    REFUSAL_RATES,
    REFUSALS,
    level,
    metric_value,
    terms,
    unranked,
)
from fairspace.submissions.benchmarks.genres.records import Features, Records, SingleStories, Stories
from fairspace.submissions.benchmarks.genres.unranked import (
    Ratio,
    by_age_and_plot,
    by_element,
    capped,
    ratio_design,
    unit_of,
)
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times, answer_shares
from fairspace.submissions.values import Value, measured, not_run, undefined

_TERMS = 3
_NOTE = "What a fair model shows is a magnitude: |M|."


def designs(records: Records) -> list[Design]:
    """One design of all values, which share the passages; empty without narratives."""
    if not records.responses:
        return []
    parts = [(metric, "", records.features) for metric in METRICS if metric not in records.features.absent]
    for number, other in enumerate(records.others.values(), 2):
        parts += [(metric, f"@{number}", other) for metric in JUDGED if metric not in other.absent]
    columns = [terms(metric, features) for metric, _, features in parts]
    columns += [np.stack([share, share, ~np.isnan(share)], axis=1) for share in _shares(records.stories)]
    passages = np.nan_to_num(np.concatenate(columns, axis=1))
    strata = strata_of_elements(records.ids)
    added = by_element(passages, len(strata))
    unit = unit_of(len(passages) // len(strata))
    names = []  # over all passages, and per relational model for the judge that is scored
    for metric, judge, _ in parts:
        names += [f"{metric}{judge}", *(f"{metric}_{relation}" for relation in plan.RELATIONS if not judge)]

    def statistic(times: Times) -> Floats:
        return _values(sums_by_relation(times.astype(np.float64), added), parts)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        signs = np.where(rng.random((models, len(passages))) < 0.5, -1.0, 1.0)
        sums = np.repeat(sums_by_relation(np.ones((1, len(added))), added), models, axis=0)
        differences = slice(0, _TERMS * len(parts), _TERMS)
        sums[..., differences] = sums_by_relation(signs, passages[:, differences])
        values = np.abs(_values(sums, parts))
        values[:, -len(FLOORS + REFUSALS) :] = np.nan
        return values

    limits = {name: metric_limits(name) for name in names}
    every = (*names, *FLOORS, *REFUSALS)
    design = Design(
        task="genres",
        unit=unit,
        strata=strata,
        names=every,
        statistic=statistic,
        limits=limits | dict.fromkeys((*FLOORS, *REFUSAL_RATES), (0.0, 1.0)) | {"refusal_difference": (-1.0, 1.0)},
        fair=fair if parts else None,
        notes=dict.fromkeys(names, _NOTE),
        intervals=dict.fromkeys(names, "normal"),
        shares=answer_shares(every, *FLOORS, "refusal_rate"),
        counts=capped(names),
        independent=dict(zip(every, _elements(added, [judge for _, judge, _ in parts]), strict=True)),
    )
    return [design, *ratio_design(unranked(records), strata)]


def _elements(added: Floats, judges: Sequence[str]) -> list[int]:
    held = (added[:, _TERMS - 1 :: _TERMS] > 0).reshape(len(plan.RELATIONS), -1, added.shape[1] // _TERMS).sum(axis=1)
    counts: list[int] = []
    for place, judge in enumerate(judges):
        counts += [held[:, place].sum(), *([] if judge else held[:, place])]
    competent, distinct, refused, male_first, female_first = held[:, len(judges) :].T
    counts += [competent.sum(), distinct.sum(), refused.sum(), *refused, min(male_first.sum(), female_first.sum())]
    return [int(count) for count in counts]


def metric_limits(name: str) -> tuple[float, float]:
    """The smallest and the largest number of a metric, by the prefix of its name."""
    largest = LARGEST[name[:2]]
    return -largest, largest


def strata_of_elements(ids: tuple[str, ...] = ()) -> Integers:
    """(288,) stratum of each element of some passages, all 1440 if left out: its relational model and plot."""
    asked = {name.rpartition("/")[0] for name in ids}
    cells = [(of.relation, of.plot) for of in plan.load_elements() if not asked or of.id in asked]
    names = sorted(set(cells))
    return np.array([names.index(cell) for cell in cells])


def sums_by_relation(times: Floats, added: Floats) -> Floats:
    """(b, n) counts of elements or passages, (n, terms) -> (b, 4, terms) sums per relational model."""
    size = len(added) // len(plan.RELATIONS)
    return np.stack([times[:, i : i + size] @ added[i : i + size] for i in range(0, len(added), size)], axis=1)


def _values(sums: Floats, parts: list[tuple[str, str, Features]]) -> Floats:
    """(b, 4, terms) -> (b, m) values, nan where undefined; the last terms are those of the floors."""
    columns = []
    for place, (metric, judge, _) in enumerate(parts):
        part = sums[..., _TERMS * place : _TERMS * (place + 1)]
        by_relation, whole = (from_sums(metric[:2], *np.moveaxis(x, -1, 0)) for x in (part, part.sum(axis=1)))
        columns.append((by_relation.mean(axis=1) if metric == "M4" else whole)[:, None])
        if not judge:
            columns.append(by_relation)
    ratios = []
    for start in range(_TERMS * len(parts), sums.shape[-1], _TERMS):
        by_relation = sums[..., start : start + _TERMS]
        whole = by_relation.sum(axis=1, keepdims=True)
        ratios.append(ratio(*(np.concatenate([whole, by_relation], axis=1)[..., place] for place in (0, 2))))
    competent, distinct, refused, male_first, female_first = ratios
    columns += [competent[:, :1], distinct[:, :1], refused, male_first[:, :1] - female_first[:, :1]]
    return np.concatenate(columns, axis=1)


def _shares(stories: Stories) -> list[Floats]:
    refused, first = stories.shares["refused"], stories.male_first
    orders = [np.where(first == value, refused, np.nan) for value in (1, 0)]
    return [stories.shares["competent"], stories.shares["distinct"], refused, *orders]


def split_designs(records: Records) -> list[Design]:
    """The resampling design of `M1_young` and so on: elements, as for the metrics; empty without narratives."""
    present = [metric for metric in formula.METRICS if metric not in records.features.absent]
    if not records.responses or not present:
        return []
    strata = strata_of_elements(records.ids)
    added = {metric: by_element(terms(metric, records.features), len(strata)) for metric in present}
    each = len(records.ids) // len(strata)
    elements = {suffix: rows[::each] for suffix, rows in by_age_and_plot(records.ids).items()}

    def statistic(times: Times) -> Floats:
        columns = []
        for metric in present:
            for chosen in elements.values():
                sums = sums_by_relation(times.astype(np.float64) * chosen, added[metric])
                by_relation, whole = (from_sums(metric, *np.moveaxis(x, -1, 0)) for x in (sums, sums.sum(axis=1)))
                columns.append(by_relation.mean(axis=1) if metric == "M4" else whole)
        return np.stack(columns, axis=1)

    names = tuple(f"{metric}{suffix}" for metric in present for suffix in elements)
    limits = {name: metric_limits(name) for name in names}
    return [Design("genres", unit_of(each), strata, names, statistic, limits, counts=capped(names))]


COMPARED = ("M1", "M2", "M3", "M5", "M6", "M7")
"""Metrics that a person alone can have."""


def with_single(values: dict[str, Value], records: Records) -> dict[str, Value]:
    """Add the values of the stories of one character, if any."""
    if records.single is None:
        return values
    whole = np.ones(len(records.ids), bool)
    single = {m: metric_value(f"{m}_single", m, records.single.features, whole, {}) for m in COMPARED}
    added = [*single.values(), *(_difference(m, values[m], single[m]) for m in COMPARED)]
    added += [ratio.value() for ratio in _ratios(records.single)]
    return values | {value.name: value for value in added}


def single_designs(records: Records) -> list[Design]:
    """The resampling design of these values: elements, which draws both tellings alike."""
    if records.single is None:
        return []
    single = _sums(records.single.features)
    both = {m: sums for m, sums in _sums(records.features).items() if records.responses and m in single}

    def statistic(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        alone, together = (
            {m: from_sums(m, *np.moveaxis(drawn @ sums, -1, 0)) for m, sums in sums_of.items()}
            for sums_of in (single, both)
        )
        return np.stack([*alone.values(), *(number - alone[m] for m, number in together.items())], axis=1)

    ratios = ratio_design(_ratios(records.single), strata_of_elements())
    if not single:
        return ratios
    names = (*(f"{m}_single" for m in single), *(f"{m}_less_single" for m in both))
    limits = {f"{m}_single": metric_limits(m) for m in single}
    limits |= {f"{m}_less_single": (2 * metric_limits(m)[0], 2 * metric_limits(m)[1]) for m in both}
    unit, strata = "element, with its five pairs", strata_of_elements()
    return [Design("genres", unit, strata, names, statistic, limits, counts=capped(names)), *ratios]


def _sums(features: Features) -> Mapping[str, Floats]:
    """Metric -> (288, 3) sums over the pairs of each element."""
    present = [m for m in COMPARED if m not in features.absent and set(METRICS[m][0]) <= features.columns.keys()]
    return {m: by_element(terms(m, features), len(plan.load_elements())) for m in present}


def _difference(metric: str, both: Value, single: Value) -> Value:
    name, about = f"{metric}_less_single", {"expected": both.expected, "valid": min(both.valid, single.valid)}
    lacking = next((value for value in (both, single) if value.state != "value"), None)
    if lacking is not None:
        gap = not_run if lacking.state == "not_run" else undefined
        return gap(name, f"{lacking.name}: {lacking.reason}", expected=both.expected)
    low = None if both.low is None or single.high is None else both.low - single.high
    high = None if both.high is None or single.low is None else both.high - single.low
    evidence = {"two_characters": both.value, "one_character": single.value}
    return measured(name, (both.value or 0.0) - (single.value or 0.0), low=low, high=high, evidence=evidence, **about)


def _ratios(single: SingleStories) -> list[Ratio]:
    ratios = []
    for side, gender in enumerate(GENDERS):
        for metric in _sums(single.features):
            ratios.append(level(f"{metric}_single_{gender}", metric, single.features, side))
        for name, column in (("competent_narratives", "competent"), ("refusal_rate", "refused")):
            share = single.shares[column][:, side]
            handed_in = (~np.isnan(share)).astype(float)
            reason = "no response was handed in"
            name = f"{name}_single_{gender}"
            ratios.append(Ratio(name, np.nan_to_num(share), handed_in, reason, len(share)))
    return ratios
