"""Shares corrected for the labeller's errors, by its confusion matrix and by people's labels.

The raw values stay the ranked ones: a submission brings its own matrix and its own people's labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.metrics.columns import Floats, Integers
from fairspace.submissions.benchmarks.benchmark import Values
from fairspace.submissions.format.schema import VOCABULARY, Attribute, LabelError, Submission
from fairspace.submissions.reading.canonical import matched
from fairspace.submissions.uncertainty import misclassification as powered
from fairspace.submissions.uncertainty.misclassification import (
    CHAINS,
    correct,
    debiased,
    fault,
    posterior_intervals,
    worse,
)
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant

_CORRECTED = (
    "The mean of the posterior, without the bias of shares at this number of samples. Assumed: the labeller errs here "
    "as it did where it was measured, in one attribute whatever it does in another, and images without a label are "
    "like those with one."
)
TRANSPORTED = (
    "What the values would be if the labeller recognised each group less often here than where it was tested, and its "
    "further errors fell as its errors in the test did. Neither this nor the correction covers a labeller that errs "
    "more for one group, or more in one occupation or question, than in another."
)
_POWERED = "Less the bias of shares at this number of samples. Assumed: people labelled images drawn at random."
WORSE = (5, 10)
"""Points by which a labeller's recalls may be lower here than in its test."""
TRANSPORT_CHAINS = CHAINS // 4
"""Chains of these variants, which have no intervals."""
Estimate = tuple[float, tuple[float, float] | None]
"""A value and its 95 % interval, if it has one."""


@dataclass(frozen=True)
class LabelChecks:
    """A submission's evidence about its labeller's errors: confusion matrices, and the count of people's labels."""

    error: LabelError | None
    people: int | None


def label_checks(submission: Submission) -> LabelChecks | None:
    """The label checks of a submission; None if it holds neither kind."""
    error, labels = submission.meta.label_error, submission.tables.get("human_labels")
    if error is None and labels is None:
        return None
    return LabelChecks(error, None if labels is None else labels.num_rows)


@dataclass(frozen=True)
class Shares:
    """Labelled samples of several distributions over the same groups, and values that are functions of their shares.

    Args:
        key: Seed of the draws.
        columns: Labels whose product the groups are, in the order of their vocabularies.
        counts: (n, k + 1, k) from `paired_counts`.
        names: (m) names of the values.
        statistic: (b, n, k) shares, nan for a distribution without samples -> (b, m) values, nan where undefined.
        limits: (m, 2) smallest and largest possible number of each value.
    """

    key: str
    columns: tuple[Attribute, ...]
    counts: Floats
    names: tuple[str, ...]
    statistic: Callable[[Floats], Floats]
    limits: tuple[tuple[float, float], ...]


def label_variants(
    checks: LabelChecks, values: Values, measured: Sequence[Shares], held: Mapping[Kind, str]
) -> Iterator[Variant]:
    """Variants by the confusion matrix, by worse matrices, and by people's labels, where these were handed in.

    A value that cannot be corrected is left out, and the variant's note says why. `held`: measured coverage in words.
    """
    if checks.error is not None:
        error = checks.error
        note = f"{_CORRECTED} {held['labels_corrected']}"
        estimates = [(shares, _by_matrix(error, shares)) for shares in measured]
        yield _variant("labels_corrected", error.source, note, values, estimates)
        for points in WORSE:
            estimates = [(shares, _transported(error, shares, points / 100)) for shares in measured]
            yield _variant("labels_transported", f"{points} points worse", TRANSPORTED, values, estimates)
    if checks.people is not None:
        estimates = [(shares, _powered(shares)) for shares in measured]
        note = f"{_POWERED} {held['human_labels']}"
        yield _variant("human_labels", f"{checks.people} faces labelled by people", note, values, estimates)


def _by_matrix(error: LabelError, shares: Shares) -> Sequence[Estimate | None] | str:
    confusion, why = matrices(error, shares.columns)
    if why:
        return why
    corrected = correct(shares.counts.sum(axis=1), confusion, shares.key)
    return posterior_intervals(corrected, shares.statistic, shares.limits)


def _transported(error: LabelError, shares: Shares, points: float) -> Sequence[Estimate | None] | str:
    confusion, why = matrices(error, shares.columns)
    lowered = {column: worse(counts, points) for column, counts in confusion.items()}
    why = why or next((f"{column}: {text}" for column, counts in lowered.items() if (text := fault(counts))), "")
    if why:
        return why
    corrected = correct(shares.counts.sum(axis=1), lowered, shares.key, TRANSPORT_CHAINS)
    columns = [column[~np.isnan(column)] for column in shares.statistic(corrected.draws).T]
    return [(float(column.mean()), None) if len(column) else None for column in columns]


def _powered(shares: Shares) -> Sequence[Estimate | None] | str:
    pairs, others = shares.counts[:, :-1], shares.counts[:, -1]
    if why := powered.pairs_fault(pairs):
        return f"{' and '.join(shares.columns)}: {why}"
    corrected = powered.powered_draws(pairs, others, shares.key)
    plain, draws = shares.statistic(corrected.shares[None])[0], shares.statistic(corrected.draws)
    return [
        None if np.isnan(value) else debiased(float(value), draws[:, place], shares.limits[place])
        for place, value in enumerate(plain)
    ]


def _variant(
    kind: Kind,
    name: str,
    note: str,
    values: Values,
    estimates: Sequence[tuple[Shares, Sequence[Estimate | None] | str]],
) -> Variant:
    numbers: dict[str, float] = {}
    intervals: dict[str, tuple[float, float]] = {}
    notes = {note: None}
    for shares, estimated in estimates:
        measured = [place for place, name in enumerate(shares.names) if values[name].state == "value"]
        if isinstance(estimated, str):
            notes |= {f"Not corrected: {estimated}.": None} if measured else {}
            continue
        for place in measured:
            if (estimate := estimated[place]) is not None:
                numbers[shares.names[place]], interval = estimate
                if interval is not None:
                    intervals[shares.names[place]] = interval
    return Variant(kind, name, numbers, intervals, " ".join(notes))


def human_codes(submission: Submission, task: str, rows: pa.Table, columns: Sequence[Attribute]) -> Integers:
    """(n, c) people's labels of n annotation rows of a task, as places in `VOCABULARY`; -1 for no label."""
    labels = submission.rows("human_labels", task)
    place = matched(rows, labels, ("id", "sample", "face"))
    seen = np.full((rows.num_rows, len(columns)), -1, np.int64)
    for number, column in enumerate(columns):
        codes = pc.index_in(labels[column], value_set=pa.array(VOCABULARY[column])).fill_null(-1)
        seen[place >= 0, number] = np.asarray(codes, np.int64)[place[place >= 0]]
    return seen


def paired_counts(
    cell: Integers, machine: Integers, human: Integers, shape: tuple[int, int], weights: Floats
) -> Floats:
    """(n, k + 1, k) samples per cell, people's group (the last one: no label), and labeller's group.

    `shape`: n cells, k groups. The labeller's and the people's groups are -1 for none; samples without the former are
    left out.
    """
    n, k = shape
    used = machine >= 0
    flat = (cell * (k + 1) + np.where(human >= 0, human, k)) * k + machine
    counts = np.bincount(flat[used], weights[used], n * (k + 1) * k)
    return np.asarray(counts, np.float64).reshape(n, k + 1, k)


def matrices(error: LabelError, columns: Sequence[Attribute]) -> tuple[Mapping[str, Floats], str]:
    """Column -> confusion matrix of counts, and the reason why they cannot correct anything, '' if they can."""
    confusion: dict[str, Floats] = {}
    for column in columns:
        counts = error.counts(column)
        if counts is None:
            return {}, f"{column}: label_error has no confusion matrix of it"
        confusion[column] = np.array(counts, float)
        if why := fault(confusion[column]):
            return {}, f"{column}: {why}"
    return confusion, ""
