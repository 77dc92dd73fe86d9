"""The ideal of a value: the number of a perfectly fair model, and the side of it on which a value is unfair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Worse = Literal["above", "below", "either"]


@dataclass(frozen=True)
class Ideal:
    """What a value of a perfectly fair model with endlessly many samples would be.

    Args:
        number: that value; None where it is what chance gives, the mean of the fair models (a share, an error rate).
        worse: where a value is less fair: above the ideal, below it (a score that is better when higher), or on either
            side. Of a value with two sides the fair models' figures are magnitudes.
        threshold: a number on which a letter or a word hangs; None if there is none.
        witnesses: raw values with the same ideal that an unfair model may fail while this value is ideal: no bias is
            shown of it only where none is shown of them.
    """

    number: float | None
    worse: Worse = "above"
    threshold: float | None = None
    witnesses: tuple[str, ...] = ()


NEAR = "near"
"""Key of the evidence of a printed row's score: the threshold that it cannot be told from."""
GAP = Ideal(0.0)
"""Of a size: a largest gap, a distance, a norm."""
SIGNED = Ideal(0.0, "either")
"""Of a difference with a sign."""
CHANCE = Ideal(None)
"""Of a share or a rate that chance decides."""
