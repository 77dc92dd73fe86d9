"""What of an IRIS standard a reader may change, and which values count then.

Weights: of a sector, what its squared deviations are multiplied by in the total, D^2 = sum of w_s * sum of u^2; of a
single value (Table 6, and the drifts of Table 27), the same in its sector and in the total. Values may be dropped one
by one. A region's code as the reference drops what is compared with other regions' figures. With the reader's own
shares, the divergences are measured anew from the counts behind a result, and the drifts, for which one distribution
for all occupations says nothing, are dropped, as is the divergence of an attribute without shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import GROUP_NAMES
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.iris_score.formula import Weights, sector_metrics, sector_values
from fairspace.metrics.iris_score.standards import GRANULAR, Granular, IrisStandard
from fairspace.submissions.benchmarks.adjustment import OWN, Adjustable, Adjustment
from fairspace.submissions.benchmarks.benchmark import Counts, Values
from fairspace.submissions.benchmarks.iris.counts import CountsError, generation_table, tournament_tables
from fairspace.submissions.benchmarks.iris.measure.tournament import tournament_divergence
from fairspace.submissions.values import Value, measured, undefined

Triple = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
_DIVERGENCE = "distribution_divergence"
_COUNTS = {"RFS_Gen": "generation", "RFS_Und": "tournament"}
"""Sector -> how the names of its counts in a result begin."""


@lru_cache(64)
def effective_weights(standard: IrisStandard, changed: Adjustment) -> Mapping[str, Weights]:
    """Sector, or `total` -> the values that count there, each with its weight."""
    weights: dict[str, dict[str, float]] = {"total": {}}
    for sector in standard.sectors:
        counted = [name for name in sector_values(sector, standard) if _is_compared(name, sector, standard, changed)]
        weights[sector] = {name: weight for name in counted if (weight := changed.weight(name))}
        if part := changed.weight(sector):
            weights["total"] |= {name: part * weight for name, weight in weights[sector].items()}
    return weights


def _is_compared(name: str, sector: str, standard: IrisStandard, changed: Adjustment) -> bool:
    """Whether a value is compared with the reference that the reader chose, or with none at all."""
    metric = next((metric for metric in sector_metrics(sector, standard) if metric.name == name), None)
    region = name.rpartition("_")[2] if metric is None else metric.reference
    if not changed.reference or not region:
        return True
    if changed.reference != OWN:
        return region == changed.reference
    return metric is not None and metric in _restated(sector, standard.metrics, changed).values()


def _restated(sector: str, metrics: tuple[Granular, ...], changed: Adjustment) -> dict[str, Granular]:
    """Attribute of which the reader states shares -> the divergence of a sector that is measured anew against these."""
    restated: dict[str, Granular] = {}
    for metric in metrics:
        stated = set(GROUP_NAMES.get(metric.attribute, ())) & set(changed.own)
        if metric.sector == sector and metric.metric == _DIVERGENCE and stated:
            restated.setdefault(metric.attribute, metric)
    return restated


def adjustable(standard: IrisStandard) -> Adjustable:
    """What a reader may change about a standard of IRIS."""
    names = {sector: sector_values(sector, standard) for sector in standard.sectors}
    regions = dict.fromkeys(metric.reference for metric in standard.metrics if metric.reference)
    counted = len(standard.metrics)
    drifts = (
        f"The last three are drifts of Table 27: the total of {standard.name} is the norm of the {counted} and of them."
    )
    return Adjustable(
        weights=dict.fromkeys(names, "what the squared deviations of the sector are multiplied by in the total"),
        values=names,
        references=tuple(regions),
        own=dict(GROUP_NAMES),
        tau=standard.tau,
        units=tuple((sector, name) for sector, values in names.items() for name in values),
        notes={"RFS_Und": drifts} if standard.fidelity_by_goodness else {},
    )


def with_own_reference(values: Values, counts: Counts, changed: Adjustment) -> Values:
    """The raw values; divergences from the reader's shares take the places of those from the first region's."""
    return {**values, **{value.name: value for value in _divergences(values, counts, changed)}}


def _divergences(values: Values, counts: Counts, changed: Adjustment) -> Iterator[Value]:
    for sector, begin in _COUNTS.items():
        for attribute, metric in _restated(sector, GRANULAR, changed).items():
            before = values[metric.name]
            if before.state == "not_run":
                continue
            shares = np.array([changed.own[group] for group in GROUP_NAMES[attribute]])
            triple: Triple
            try:
                if begin == "generation":
                    table = generation_table(counts, attribute)
                    triple = distribution_divergence(table, shares, iris_gen_52.IMAGES - table.sum(axis=1))
                    expected = len(table) * iris_gen_52.IMAGES
                else:
                    table, undecided, missing = tournament_tables(counts, attribute)
                    triple = tournament_divergence(table, undecided, missing, shares)
                    expected = before.expected  # the rounds are the same, whatever their winners are compared with
            except CountsError as error:
                yield undefined(metric.name, str(error), expected=before.expected, valid=before.valid)
                continue
            yield _mean(metric.name, attribute, triple, table, expected)


def _mean(name: str, attribute: str, triple: Triple, table: NDArray[np.int64], expected: int) -> Value:
    """The plain mean over all 52 occupations.

    Args:
        name: of the value whose place it takes.
        attribute: of the shares.
        triple: (52,) value, lowest and highest.
        table: (52, k) valid samples.
        expected: samples that the protocol asks for.
    """
    value, low, high = triple
    valid = int(table.sum())
    if np.isnan(value).any():
        reason = f"no usable sample of {int(np.isnan(value).sum())} of {len(table)} occupations"
        return undefined(name, reason, expected=expected, valid=valid)
    return measured(
        name,
        value.mean(),
        low=low.mean(),
        high=high.mean(),
        expected=expected,
        valid=valid,
        evidence={"reference": f"the reader's shares of {attribute}"},
        smallest=int(table.sum(axis=1).min()),
    )
