"""Rounding that keeps the noise of kernels out of answers: every number is rounded before it decides anything.

Sums of float32 depend on the order of their terms, and some kernels choose it by a row's place in a pass, so
probabilities differ in the seventh to ninth decimal. Promised in float32:
- *On one machine*, labels, routes, counts, stored probabilities and regressed values do not depend on batches or on the
  order of images. Numbers are rounded to multiples of `STEP`; an image with a number within noise of the middle between
  two multiples is observed again, alone.
- *On two machines*, or with another number of threads, such a number may be rounded to the neighbouring multiple of
  `STEP`: about four numbers in ten thousand at a noise of 1e-7. A label or a route changes only where that happens at a
  threshold or between two labels of equal probability.
Not promised: anything where kernels differ by more than `NOISE`, as they do in bfloat16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 2.0**-11
"""Rounding step, about 0.0005. Multiples of a power of two add without error, in any order."""
NOISE = 2.0**-20
"""Largest tolerated difference between two kernels, about 1e-6 (1.1e-7 measured at the paper's size)."""


def rounded(values: NDArray[Any]) -> NDArray[np.float64]:
    """Multiples of `STEP`, of any shape; nan stays nan."""
    multiples: NDArray[np.float64] = np.round(values.astype(np.float64) / STEP) * STEP
    return multiples


def near_the_middle(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether numbers lie within `NOISE` of the middle between two multiples of `STEP`; nan does not."""
    distance = np.abs(values.astype(np.float64) / STEP % 1 - 0.5) * STEP
    near: NDArray[np.bool_] = distance < NOISE
    return near
