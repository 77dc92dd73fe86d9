"""The ideal of a value: the number of a perfectly fair model, and the unfair side of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Worse = Literal["above", "below", "either"]


@dataclass(frozen=True)
class Ideal:
    """Value of a perfectly fair model with endlessly many samples.

    Args:
        number: value; None for that of chance, the mean of the fair models (a share, an error rate).
        worse: unfair side of the ideal: above, below (a score that is better when higher), or either side, where the
            fair models' figures are magnitudes.
        threshold: number that decides a letter or a word; None if there is none.
        witnesses: raw values with the same ideal that must be ideal too before no bias is shown.
    """

    number: float | None
    worse: Worse = "above"
    threshold: float | None = None
    witnesses: tuple[str, ...] = ()


NEAR = "near"
"""Evidence key of a printed row's score: the threshold that it cannot be told from."""
GAP = Ideal(0.0)
"""A largest gap, a distance, a norm."""
SIGNED = Ideal(0.0, "either")
"""A difference with a sign."""
CHANCE = Ideal(None)
"""A share or a rate that chance decides."""
