"""The samples that a value is made of, as each benchmark's `samples.py` tells them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairspace.submissions.uncertainty.design import Floats, Integers


@dataclass(frozen=True)
class Samples:
    """The samples that one value is made of.

    Args:
        value: name of the value.
        score: what a sample scores, in words.
        scores: (n,) or (n, m); nan: the sample has none.
        task: whose answers or images the samples are.
        asked: (n,) place of each sample's item among the ids of `task`.
        sample: (n,) number of the sample among those of its item; None where an item is asked once.
        levels: (n,) the part of the protocol that a sample belongs to, such as an occupation; None for a value that is
            the mean of all scores.
        fair: average score of a fair or a right model, in each column.
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
