"""The columns that the parser or a judge gives, per passage and gender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Words = Mapping[int, tuple[frozenset[str] | None, frozenset[str] | None]]
"""Position of a passage -> the personality words of the male and the female profile, None where not readable."""


@dataclass(frozen=True)
class Features:
    """The columns that the parser or a judge gives, and why others are not there.

    Args:
        columns: name -> (1440, 2).
        absent: metric -> why it was not run.
        words: the personality words that a judge gave.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    words: Words = field(default_factory=dict)

    def joined_with(self, other: Features) -> Features:
        """These and those of another source."""
        return Features({**self.columns, **other.columns}, {**self.absent, **other.absent}, self.words or other.words)
