"""Samples behind the values of GENRES: the summand of each passage."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairspace.metrics.columns import Floats
from fairspace.submissions.answers.reading import Samples
from fairspace.submissions.benchmarks.genres.measure import JUDGED, METRICS, PARSED, terms
from fairspace.submissions.benchmarks.genres.records import Features, Records
from fairspace.submissions.benchmarks.genres.resample import strata_of_elements


def samples(records: Records) -> list[Samples]:
    """Samples of each of M1 to M8 whose parser or judge is there, over all its judges or parses."""
    if not records.responses:
        return []
    judged = {records.judge or "judge": records.features, **records.others}
    by_metric = {**dict.fromkeys(PARSED, records.parses), **dict.fromkeys(JUDGED, judged)}
    ready = (metric for metric in METRICS if metric not in records.features.absent)
    return [_samples(metric, by_metric[metric], len(records.ids)) for metric in ready if metric != "M1_directed"]


def _samples(metric: str, ways: Mapping[str, Features], passages: int) -> Samples:
    given = [features for features in ways.values() if metric not in features.absent]
    elements = len(strata_of_elements(given[0].ids if given else ()))
    passage = np.tile(np.arange(passages), len(given))
    return Samples(
        metric,
        "male less female, of a passage",
        np.concatenate([_differences(metric, features) for features in given]),
        "narrative",
        passage,
        levels=passage // (passages // elements) if metric == "M7" else None,  # M7 is a correlation, no mean
    )


def _differences(metric: str, features: Features) -> Floats:
    """(1440,) male less female of each passage; nan if unusable, and for equal standing in M4 and M8."""
    difference, both, _ = terms(metric, features).T
    usable = both > 0 if metric in ("M4", "M8") else True
    return np.where(usable, (100 if metric == "M4" else 1) * difference, np.nan)
