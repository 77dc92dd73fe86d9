"""Representation disparity as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import (
    Floats,
    Integers,
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
from fairspace.metrics.resampling import Counts, Family
from fairspace.metrics.sampling import Counted, all_shares, shares_of, size

from .formula import mean_disparity, representation_disparity

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
        names, jobs, rows, places, extra = self._cells(predictions, groups, missing, occupations)
        counts, blank = cross_count(rows, len(jobs), places, len(names))
        value, low, high = representation_disparity(counts, blank + extra)
        bounds = mean_of(value, low, high) if jobs else (float("nan"), 0.0, 1.0)
        evidence = evidence_of(names, counts, (value, low, high), jobs if occupations is not None else None)
        return outcome(
            "representation_disparity",
            bounds,
            valid=int(counts.sum()),
            expected=len(rows) + int(extra.sum()),
            reason="no sample has a group label",
            evidence=evidence,
        )

    def _cells(
        self,
        predictions: Sequence[str],
        groups: Sequence[str] | None = None,
        missing: int | Mapping[str, int] = 0,
        occupations: Sequence[str] | None = None,
    ) -> tuple[Sequence[str], Sequence[str], Integers, Integers, Integers]:
        """Groups, occupations, the place of each row among both, and the missing samples of each occupation."""
        names, size = check_names(groups, "groups"), check_lengths(predictions=predictions)
        places = encode(predictions, "predictions", names)
        if occupations is None:
            return names, ("all",), np.zeros(size, np.int64), places, np.array([check_count(missing, "missing")])
        check_lengths(predictions=predictions, occupations=occupations)
        by_job = missing_by_name(missing)
        jobs = distinct([*occupations, *by_job], "occupations")
        rows = encode(occupations, "occupations", jobs, missing=False)
        extra = [check_count(by_job.get(job, 0), f"missing[{job!r}]") for job in jobs]
        return names, jobs, rows, places, np.array(extra, np.int64)

    def _counted(self, **arguments: Any) -> Counted:
        names, jobs, rows, places, _ = self._cells(**arguments)
        shape, images = (len(jobs), len(names)), np.bincount(rows[places >= 0], minlength=len(jobs))

        def disparity(counts: Counts, order: Counts | None = None) -> Floats:
            return mean_disparity(counts["groups"], None if order is None else order["groups"])[:, None]

        def fair(rng: np.random.Generator, models: int) -> Floats:
            equal = rng.multinomial(images, np.full(shape, 1 / len(names)), (models, len(jobs)))
            return mean_disparity(equal.astype(np.float64))[:, None]

        families = [
            Family([size("representation_disparity")], disparity, fair),
            shares_of(names, lambda counts: all_shares(counts["groups"])),
        ]
        return Counted({"groups": (np.where(places < 0, -1, rows * len(names) + places), shape)}, families)
