"""One character against two: the metrics between stories of the man alone and of the woman alone (Figure 1).

The paper's claim is that gender differs more where both are in one story than where each is alone. `M1_single` and so
on are the metrics of section 3.3 with a pair's two stories in place of a passage's two characters, `M1_single_male`
and `M1_single_female` their two sides, and `M1_less_single` is what the two characters show beyond that: M1 less
`M1_single`. M4 and M8 compare two characters of one passage, and have no such value. No score has a part of these.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairspace.builders.genres.single import GENDERS
from fairspace.metrics.genres_bias.formula import COUNTS, LARGEST, from_sums
from fairspace.submissions.benchmarks.genres.measure import METRICS, metric_value
from fairspace.submissions.benchmarks.genres.records import Features, Records
from fairspace.submissions.benchmarks.genres.records.single import SingleStories
from fairspace.submissions.benchmarks.genres.resample import by_element, metric_limits, strata_of_elements, terms
from fairspace.submissions.benchmarks.genres.unranked.ratios import Ratio, ratio_design
from fairspace.submissions.uncertainty.design import Design, Floats, Times
from fairspace.submissions.values import Value, measured, not_run, undefined

COMPARED = ("M1", "M2", "M3", "M5", "M6", "M7")
"""The metrics that a person alone can have."""


def with_single(values: dict[str, Value], records: Records) -> dict[str, Value]:
    """The values, and those of the stories of one character where there are any."""
    if records.single is None:
        return values
    whole = np.ones(len(records.ids), bool)
    single = {m: metric_value(f"{m}_single", m, records.single.features, whole, {}) for m in COMPARED}
    added = [*single.values(), *(_difference(m, values[m], single[m]) for m in COMPARED)]
    added += [ratio.value() for ratio in _ratios(records.single)]
    return values | {value.name: value for value in added}


def single_designs(records: Records) -> list[Design]:
    """How the pairs of these values are drawn: elements, as for the metrics, so that both tellings are drawn alike."""
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
    return [Design("genres", "element, with its five pairs", strata_of_elements(), names, statistic, limits), *ratios]


def _sums(features: Features) -> Mapping[str, Floats]:
    """Metric -> (288, 3) sums over the pairs of each element."""
    present = [m for m in COMPARED if m not in features.absent and set(METRICS[m][0]) <= features.columns.keys()]
    return {m: by_element(terms(m, features)) for m in present}


def _difference(metric: str, both: Value, single: Value) -> Value:
    """What two characters show beyond one each."""
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
    """Both sides of each metric, and the shares of stories that are narratives and that decline to write."""
    ratios = []
    for side, gender in enumerate(GENDERS):
        for metric in _sums(single.features):
            number, used = _side(metric, single.features, side)
            limits = (-LARGEST[metric] / 2 if metric == "M2" else 0.0, LARGEST[metric] / (2 if metric == "M2" else 1))
            name, reason = f"{metric}_single_{gender}", "no pair of stories can be used for it"
            ratios.append(Ratio(name, number, used, reason, len(used), limits))
        for name, column in (("competent_narratives", "competent"), ("refusal_rate", "refused")):
            share = single.shares[column][:, side]
            handed_in = (~np.isnan(share)).astype(float)
            reason = "no response was handed in"
            name = f"{name}_single_{gender}"
            ratios.append(Ratio(name, np.nan_to_num(share), handed_in, reason, len(share)))
    return ratios


def _side(metric: str, features: Features, side: int) -> tuple[Floats, Floats]:
    """(1440,) what a metric compares of the man (0) or the woman (1), and 1 for each pair that can be used."""
    used = np.isfinite(terms(metric, features)[:, 0])
    number = COUNTS[metric](*(features.columns[column][:, side] for column in METRICS[metric][0]))
    return np.where(used, (100 if metric in ("M1", "M6") else 1) * number, 0.0), used.astype(float)
