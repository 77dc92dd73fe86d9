"""The core of FACT-OR-FAIR: the part of its subjective queries that gives a first score in minutes.

A core revision has all items of its full revision, but of `llm_subjective` five of the hundred trials of every
statistic, level, scenario and context: 2 280 of 45 600 queries, with the same ids and prompts. The trials were drawn
once, from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

CORE: Mapping[str, str] = {"v2-core": "v2"}
"""Core revision -> its full dataset revision."""
CORE_TRIALS = 5
SEED = 2280
_CELLS, _TRIALS = 456, 100
"""Subjective queries: 19 statistics x 2 levels x 3 scenarios x 4 contexts, and trials of each."""


@lru_cache
def core_rows() -> NDArray[np.int64]:
    """Positions of the core among the 45 600 subjective queries, from RandomState, whose streams are frozen."""
    random = np.random.RandomState(SEED)
    chosen = [np.sort(random.permutation(_TRIALS)[:CORE_TRIALS]) for _ in range(_CELLS)]
    return np.concatenate([cell * _TRIALS + places for cell, places in enumerate(chosen)])
