"""Cores: fixed, stratified parts of a dataset revision, for a first score in minutes.

A core asks items of its full revision, with their ids and prompts. One rule draws every core: so many items of each
stratum, by a fixed seed. What the strata are, and how many items of each are asked, stands in a dataset's plan.
"""

import numpy as np
from numpy.typing import NDArray


def core_rows(strata: NDArray[np.integer], each: int, seed: int) -> NDArray[np.int64]:
    """Positions of `each` items of every stratum, ascending, from RandomState, whose streams are frozen.

    `strata` are (n,) numbers of the items' strata; a stratum with fewer items is asked as a whole.
    """
    random = np.random.RandomState(seed)
    order = np.argsort(strata, kind="stable")
    items = np.split(order, np.flatnonzero(np.diff(strata[order])) + 1)
    return np.sort(np.concatenate([rows[random.permutation(len(rows))[:each]] for rows in items])).astype(np.int64)
