"""Distribution divergence as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import (
    Floats,
    Integers,
    MetricInputError,
    check_count,
    check_lengths,
    check_names,
    cross_count,
    distinct,
    divide,
    encode,
    evidence_of,
    mean_of,
    mean_of_defined,
    missing_by_name,
    numbers,
    outcome,
)
from fairspace.metrics.metric import About, ColumnMetric
from fairspace.metrics.resampling import Counts, Family
from fairspace.metrics.sampling import SAMPLING, Counted, all_shares, shares_of

from .formula import distribution_divergence, divergence

DESCRIPTION = """\
Distribution divergence is how far the group shares of the samples are from reference shares: the Jensen-Shannon
divergence with the natural logarithm. 0 is equal to the reference (ideal), ln 2 shares no group. Metrics M4 and
M5 of IRIS."""

INPUTS = """
Args:
    predictions: the perceived group of every sample, a group of `reference`; '' if the sample is missing.
    reference: a dict from group to share or percentage (divided by its sum). With `occupations`: a dict from occupation
        to such a dict, all with the same groups; occupations without figures are left out and listed.
    missing: how many samples are missing beyond those listed as ''. With `occupations`: a dict by occupation.
    occupations: what each sample is a picture of; then the divergence is measured per occupation, and its plain mean
        is returned. An occupation of `reference` without any sample has no value and takes part in the bounds.

Returns:
    distribution_divergence in [0, ln 2] (None if no sample has a label), if_missing_low, if_missing_high, state,
    reason, coverage, counts, by_group, by_occupation, left_out.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/distribution_divergence")
    >>> metric.compute(predictions=["female", "male"], reference={"female": 50, "male": 50})["distribution_divergence"]
    0.0
    >>> result = metric.compute(predictions=["female", "female"], reference={"female": 0, "male": 100})
    >>> round(result["distribution_divergence"], 4)
    0.6931
"""


class DistributionDivergence(ColumnMetric):
    """Divergence of group shares from reference shares: 0 is equal, ln 2 is disjoint."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        reference: Mapping[str, Any] | None = None,
        missing: int | Mapping[str, int] = 0,
        occupations: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        names, jobs, shares, rows, places, extra, left_out = self._cells(predictions, reference, missing, occupations)
        counts, blank = cross_count(rows, len(jobs), places, len(names))
        value, low, high = distribution_divergence(counts, shares, blank + extra)
        evidence = evidence_of(names, counts, (value, low, high), jobs if occupations is not None else None)
        if occupations is not None:
            evidence["left_out"] = list(left_out)
        return outcome(
            "distribution_divergence",
            mean_of(value, low, high),
            valid=int(counts.sum()),
            expected=len(rows) + int(extra.sum()),
            reason="no sample of an occupation with reference figures has a group label",
            evidence=evidence,
        )

    def _cells(
        self,
        predictions: Sequence[str],
        reference: Mapping[str, Any] | None = None,
        missing: int | Mapping[str, int] = 0,
        occupations: Sequence[str] | None = None,
    ) -> tuple[Sequence[str], Sequence[str], Floats, Integers, Integers, Integers, Sequence[str]]:
        """Groups, occupations, reference shares, each row's place among both, missing samples, occupations left out."""
        size = check_lengths(predictions=predictions)
        if not isinstance(reference, Mapping) or not reference:
            raise MetricInputError("METRIC_REFERENCE", "reference must be a dict from group to share")
        figures = {"all": reference} if occupations is None else reference
        jobs = distinct(figures, "reference")
        if not all(isinstance(row, Mapping) and set(row) == set(figures[jobs[0]]) for row in figures.values()):
            raise MetricInputError("METRIC_REFERENCE", "every occupation must have a dict with the same groups")
        names = check_names(figures[jobs[0]], "the groups of reference")
        rows_of = [[figures[job][name] for name in names] for job in jobs]
        shares = np.array(
            [numbers(row, f"reference of {job!r}", 0, np.inf) for job, row in zip(jobs, rows_of, strict=True)]
        )
        if not ((shares.sum(1) > 0) & np.isfinite(shares).all(1)).all():
            raise MetricInputError(
                "METRIC_REFERENCE", "every reference must hold a finite number per group with a sum above 0"
            )
        places, rows = encode(predictions, "predictions", names), np.zeros(size, np.int64)
        left_out: tuple[str, ...] = ()
        by_job: Mapping[str, Any] = {"all": missing}
        if occupations is not None:
            check_lengths(predictions=predictions, occupations=occupations)
            by_job = missing_by_name(missing)
            left_out = tuple(job for job in distinct([*occupations, *by_job], "occupations") if job not in figures)
            rows = encode(occupations, "occupations", jobs + left_out, missing=False)
            places, rows = places[rows < len(jobs)], rows[rows < len(jobs)]
        extra = np.array([check_count(by_job.get(job, 0), f"missing of {job!r}") for job in jobs], np.int64)
        return names, jobs, shares, rows, places, extra, left_out

    def _counted(self, **arguments: Any) -> Counted | None:
        names, jobs, shares, rows, places, _, left_out = self._cells(**arguments)
        if left_out:
            return None
        reference, shape = shares / shares.sum(1, keepdims=True), (len(jobs), len(names))

        def mean(counts: Counts) -> Floats:
            of_shares = divide(counts["groups"], counts["groups"].sum(-1, keepdims=True))
            return mean_of_defined(divergence(of_shares, reference))[:, None]

        families = [
            Family([SAMPLING[self.name].quantity(self.name)], mean),
            shares_of(names, lambda counts: all_shares(counts["groups"])),
        ]
        return Counted({"groups": (np.where(places < 0, -1, rows * len(names) + places), shape)}, families)
