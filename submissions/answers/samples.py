"""Samples behind a value, from each benchmark's `samples.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairspace.submissions.uncertainty.design import Floats, Integers


@dataclass(frozen=True)
class Samples:
    """The samples behind one value.

    Args:
        score: Description of a sample's score.
        scores: (n,) or (n, m); nan without a score.
        asked: (n,) index of each sample's item among the ids of `task`.
        sample: (n,) number of the sample within its item; None for one sample per item.
        levels: (n,) part of the protocol, such as an occupation; None for a value that is the mean of all scores.
        fair: Mean score of a fair or a right model, per column.
    """

    value: str
    score: str
    scores: Floats
    task: str
    asked: Integers
    sample: Integers | None = None
    levels: Integers | None = None
    fair: float = 0.0


def one_hot(codes: Integers, size: int) -> Floats:
    """(n, size) 1 at the code of each sample; nan in the rows of codes below 0."""
    columns = np.eye(size)[np.maximum(codes, 0)]
    columns[codes < 0] = np.nan
    return columns
