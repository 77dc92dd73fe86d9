"""The draws of M1 to M8 by age of the characters and by plot: parts of the plan that the paper's tables leave out."""

from __future__ import annotations

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import METRICS, from_sums
from fairspace.submissions.benchmarks.genres.records import Records
from fairspace.submissions.benchmarks.genres.resample import (
    by_element,
    metric_limits,
    strata_of_elements,
    sums_by_relation,
    terms,
)
from fairspace.submissions.benchmarks.genres.unranked.groups import by_age_and_plot
from fairspace.submissions.uncertainty.design import Design, Floats, Times


def split_designs(records: Records) -> list[Design]:
    """How the passages of `M1_young` and so on are drawn: elements, as for the metrics; none without narratives."""
    present = [metric for metric in METRICS if metric not in records.features.absent]
    if not records.responses or not present:
        return []
    added = {metric: by_element(terms(metric, records.features)) for metric in present}
    elements = {suffix: rows[:: plan.IMAGES] for suffix, rows in by_age_and_plot().items()}

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
    return [Design("genres", "element, with its five passages", strata_of_elements(), names, statistic, limits)]
