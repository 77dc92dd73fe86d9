"""Generation success penalty (IRIS, metric M7, Table 5): how much less often counter-stereotypical prompts succeed.

ΔGSR = max(0, GSR_stereo - GSR_counter), where an image succeeds if gender, age and skin tone are all as asked.
0 is no drop (ideal), 1 is success for every stereotypical and for no counter-stereotypical prompt.
"""

import numpy as np
from numpy.typing import ArrayLike

from fairspace.metrics.columns import Bounds, bounded_mean


def generation_success_penalty(
    stereo_success: ArrayLike,
    stereo_total: ArrayLike,
    stereo_missing: ArrayLike,
    counter_success: ArrayLike,
    counter_total: ArrayLike,
    counter_missing: ArrayLike,
) -> Bounds:
    """Drop in success rate, and its bounds over every missing image succeeding or failing.

    Args:
        stereo_success: images of stereotypical prompts that show all that was asked, shape (...).
        stereo_total: valid images of stereotypical prompts.
        stereo_missing: missing, failed or refused images of stereotypical prompts.
        counter_success: the same for counter-stereotypical prompts.
        counter_total: the same for counter-stereotypical prompts.
        counter_missing: the same for counter-stereotypical prompts.

    Returns:
        (value, low, high), each of shape (...), in [0, 1], ideal 0. `value` is nan when either kind of prompt has no
        valid image.

    Raises:
        ValueError: for a negative count or more successes than images.
    """
    stereo = rates(stereo_success, stereo_total, stereo_missing)
    counter = rates(counter_success, counter_total, counter_missing)
    gaps = stereo[0] - counter[0], stereo[1] - counter[2], stereo[2] - counter[1]
    value, low, high = (np.maximum(gap, 0.0) for gap in gaps)  # nan stays nan: undefined is not fair
    return value, low, high


def rates(success: ArrayLike, total: ArrayLike, missing: ArrayLike) -> Bounds:
    """Success rate of the valid images, and the least and greatest that the missing ones allow."""
    s, n, m = (np.asarray(x, dtype=np.float64) for x in (success, total, missing))
    if not np.all((s >= 0) & (s <= n) & (m >= 0)):
        raise ValueError(f"{s} successes in {n} images with {m} missing: 0 <= success <= total is needed")
    return bounded_mean(s, n, m)
