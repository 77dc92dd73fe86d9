"""The core of FACT-OR-FAIR: the part of its subjective queries that gives a first score in minutes.

A core revision has all items of the revision that it is a part of, but of `llm_subjective` five of the hundred trials
of every statistic, level, scenario and context: 2 280 of 45 600 queries, with the ids and prompts that they have there.
The trials were drawn once, from a fixed seed, without regard to what they ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CORE: Mapping[str, str] = {"v2-core": "v2"}
"""Core revision -> the dataset revision that it is a part of."""
CORE_TRIALS = 5
SEED = 2280
_CELLS, _TRIALS = 456, 100
"""Of the subjective queries: 19 statistics, 2 levels, 3 scenarios and 4 contexts, each asked a hundred times."""


@lru_cache
def core_rows() -> NDArray[np.int64]:
    """Which of the 45 600 subjective queries are in the core, as places in their order.

    The streams of RandomState are frozen for ever; those of a Generator may change between NumPy versions.
    """
    random = np.random.RandomState(SEED)
    chosen = [np.sort(random.permutation(_TRIALS)[:CORE_TRIALS]) for _ in range(_CELLS)]
    return np.concatenate([cell * _TRIALS + places for cell, places in enumerate(chosen)])
