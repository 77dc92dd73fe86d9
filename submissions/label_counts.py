"""What people saw beside what the labeller saw, and a submission's confusion matrices, for values of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from submissions.format import VOCABULARY, Attribute, Submission
from submissions.matching import matched
from submissions.uncertainty.design import Floats, Integers
from submissions.uncertainty.misclassification import fault


def human_codes(submission: Submission, task: str, rows: pa.Table, columns: Sequence[Attribute]) -> Integers:
    """(n, c) what people saw in the faces of n annotation rows of a task, places in `VOCABULARY`; -1 for nothing."""
    labels = submission.rows("human_labels", task)
    place = matched(rows, labels, ("id", "sample", "face"))
    found = np.full((rows.num_rows, len(columns)), -1, np.int64)
    for number, column in enumerate(columns):
        codes = pc.index_in(labels[column], value_set=pa.array(VOCABULARY[column])).fill_null(-1)
        found[place >= 0, number] = np.asarray(codes, np.int64)[place[place >= 0]]
    return found


def paired_counts(
    cell: Integers, machine: Integers, human: Integers, shape: tuple[int, int], weights: Floats
) -> Floats:
    """(n, k + 1, k) samples per cell, group that people saw (the last one: nobody looked), and labeller's group.

    Args:
        cell: (m,) of each sample.
        machine: (m,) the labeller's group; samples with -1 are left out.
        human: (m,) the people's group, -1 for none.
        shape: n cells, k groups.
        weights: (m,) what a sample counts.
    """
    n, k = shape
    used = machine >= 0
    flat = (cell * (k + 1) + np.where(human >= 0, human, k)) * k + machine
    counts = np.bincount(flat[used], weights[used], n * (k + 1) * k)
    return np.asarray(counts, np.float64).reshape(n, k + 1, k)


def matrices(submission: Submission, columns: Sequence[Attribute]) -> tuple[Mapping[str, Floats], str]:
    """Column -> its confusion matrix of counts, and why they cannot correct anything, '' if they can."""
    error = submission.meta.label_error
    found: dict[str, Floats] = {}
    for column in columns:
        counts = error.counts(column) if error is not None else None
        if counts is None:
            return {}, f"{column}: label_error has no confusion matrix of it"
        found[column] = np.array(counts, float)
        if why := fault(found[column]):
            return {}, f"{column}: {why}"
    return found, ""
