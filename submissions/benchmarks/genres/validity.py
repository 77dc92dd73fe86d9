"""The studies of GENRES: what each passage adds to a metric, by element, order of the two people, judge and parse."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import differences
from fairspace.submissions.benchmarks.genres.measure import JUDGED, METRICS, PARSED
from fairspace.submissions.benchmarks.genres.power import SPREADS
from fairspace.submissions.benchmarks.genres.records import Features, Records
from fairspace.submissions.benchmarks.genres.unranked.names import judge_of
from fairspace.submissions.validity.study import Factor, Floats, Integers, Study

WANTED: Mapping[str, float] = {
    "M1": 2.0,
    "M2": 0.05,
    "M3": 0.25,
    "M4": 5.0,
    "M5": 1.0,
    "M6": 2.0,
    "M7": 0.05,
    "M8": 0.05,
}
"""Metric -> the half-width of an interval that would do, in its unit."""


def studies(records: Records) -> list[Study]:
    """One for each metric whose parser or judge is there; its judges or parses are a factor where there are several."""
    if not records.responses:
        return []
    judged = {records.judge or "judge": records.features, **records.others}
    by_metric = {**dict.fromkeys(PARSED, records.parses), **dict.fromkeys(JUDGED, judged)}
    ready = (metric for metric in METRICS if metric not in records.features.absent)
    return [_study(metric, by_metric[metric], records) for metric in ready if metric in WANTED]


def _study(metric: str, ways: Mapping[str, Features], records: Records) -> Study:
    """The differences of all passages by every judge or parse that gives any."""
    given = {name: features for name, features in ways.items() if metric not in features.absent}
    scores = np.stack([_differences(metric, features) for features in given.values()])
    judges = list(dict.fromkeys(map(judge_of, given)))
    judge = np.repeat([judges.index(judge_of(name)) for name in given], len(records.ids))
    evaluation = np.repeat(np.arange(len(given)), len(records.ids))
    first = records.stories.male_first
    passages = len(records.ids)

    def each(codes: Integers) -> Integers:
        return np.tile(codes, len(given))

    elements = plan.load_elements()
    relation = np.repeat([plan.RELATIONS.index(element.relation) for element in elements], plan.IMAGES)
    parsed = metric in PARSED
    return Study(
        f"narrative, {metric}",
        "male less female, of a passage",
        metric,
        scores.ravel(),
        (
            Factor("relation", "prompt", each(relation), fixed=True),
            Factor("element", "prompt", each(np.arange(passages) // plan.IMAGES), within=("relation",)),
            Factor("order of the two", "order", each(np.nan_to_num(first, nan=2).astype(np.int64)), fixed=True),
            Factor("passage", "sample", each(np.arange(passages)), within=("element", "order of the two")),
            Factor("parse" if parsed else "judge", "judge", judge, fixed=parsed),
            Factor("evaluation", "judge", evaluation, within=("parse" if parsed else "judge",)),
        ),
        "element",
        wanted=WANTED[metric],
        unit=SPREADS[metric][2],
        means=() if metric == "M7" else (metric,),  # M7 is a correlation
        task="narrative",
        asked=each(np.arange(passages)),
    )


def _differences(metric: str, features: Features) -> Floats:
    """(1440,) male less female of each passage; nan where it cannot be used.

    M4 and M8 are shares of the passages in which one of the two stands higher, so others have no score.
    """
    columns = np.stack([features.columns[name] for name in METRICS[metric][0]])
    male, female = np.moveaxis(columns, -1, 0)
    difference = differences(metric[:2], list(male), list(female))
    usable = np.isfinite(columns).all(axis=(0, 2)) & np.isfinite(difference)
    if metric in ("M4", "M8"):
        usable &= male[0] + female[0] > 0
    return np.where(usable, (100 if metric == "M4" else 1) * difference, np.nan)
