"""Representation disparity as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import (
    check_count,
    check_lengths,
    check_names,
    cross_count,
    distinct,
    encode,
    evidence_of,
    mean_of,
    missing_by_name,
    outcome,
)
from fairspace.metrics.metric import About, ColumnMetric

from .formula import representation_disparity

DESCRIPTION = """\
Representation disparity is how unevenly samples are spread over all possible groups: the sum of |p_i - p_j| over the
pairs of groups, divided by k - 1. 0 is a uniform spread (ideal), 1 is one group only. Metric M1 of IRIS."""

INPUTS = """
Args:
    predictions: the perceived group of every sample, a word of `groups`; '' if the sample is missing.
    groups: all possible groups, those that no sample shows included.
    missing: how many samples are missing beyond those listed as ''. With `occupations`: a dict by occupation.
    occupations: what each sample is a picture of; then RD is measured per occupation, and the plain mean is returned.

Returns:
    representation_disparity in [0, 1] (None if no sample has a label), if_missing_low, if_missing_high, state,
    reason, coverage, counts, by_group, by_occupation.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/representation_disparity")
    >>> result = metric.compute(predictions=["female", "female", "female", "male"], groups=["female", "male"])
    >>> result["representation_disparity"]
    0.5
    >>> result = metric.compute(predictions=["female", "female", "male", ""], groups=["female", "male"])
    >>> round(result["representation_disparity"], 4), result["if_missing_low"], result["if_missing_high"]
    (0.3333, 0.0, 0.5)
"""


class RepresentationDisparity(ColumnMetric):
    """Uneven representation of groups: 0 is uniform, 1 is one group only."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        groups: Sequence[str] | None = None,
        missing: int | Mapping[str, int] = 0,
        occupations: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        names = check_names(groups, "groups")
        size = check_lengths(predictions=predictions)
        places = encode(predictions, "predictions", names)
        if occupations is None:
            jobs: tuple[str, ...] = ("all",)
            rows, extra = np.zeros(size, np.int64), np.array([check_count(missing, "missing")])
        else:
            check_lengths(predictions=predictions, occupations=occupations)
            by_job = missing_by_name(missing)
            jobs = distinct([*occupations, *by_job], "occupations")
            rows = encode(occupations, "occupations", jobs, missing=False)
            extra = np.array([check_count(by_job.get(job, 0), f"missing[{job!r}]") for job in jobs], np.int64)
        counts, blank = cross_count(rows, len(jobs), places, len(names))
        value, low, high = representation_disparity(counts, blank + extra)
        bounds = mean_of(value, low, high) if jobs else (float("nan"), 0.0, 1.0)
        evidence = evidence_of(names, counts, (value, low, high), jobs if occupations is not None else None)
        return outcome(
            "representation_disparity",
            bounds,
            valid=int(counts.sum()),
            expected=size + int(extra.sum()),
            reason="no sample has a group label",
            evidence=evidence,
        )
