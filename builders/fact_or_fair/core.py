"""The core of FACT-OR-FAIR: the part of its subjective queries that gives a first score in minutes.

A core revision has all items of the revision that it is a part of, but of `llm_subjective` five of the hundred trials
of every statistic, level, scenario and context: 2 280 of 45 600 queries, with the ids and prompts that they have there.
The trials were drawn once, from a fixed seed, without regard to what they ask. A hidden set has the subjective queries
of the core alone, with names, ages and groups of its own draw (`builders/hidden.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairspace.builders import hidden

CORE: Mapping[str, str] = {"v2-core": "v2"}
"""Core revision -> the dataset revision that it is a part of."""
NAME = "fact_or_fair"
CORE_TRIALS = 5
SEED = 2280
_CELLS, _TRIALS = 456, 100
"""Of the subjective queries: 19 statistics, 2 levels, 3 scenarios and 4 contexts, each asked a hundred times."""


def is_core(revision: str) -> bool:
    """Whether a revision has five trials of each subjective query: a core, or a hidden set."""
    return revision in CORE or hidden.is_hidden(NAME, revision)


def base_revision(revision: str) -> str:
    """The revision that a hidden set is a draw of; a core and all others are their own."""
    return hidden.base_revision(NAME, revision)


@lru_cache
def core_rows() -> NDArray[np.int64]:
    """Which of the 45 600 subjective queries are in the core, as places in their order.

    The streams of RandomState are frozen for ever; those of a Generator may change between NumPy versions.
    """
    random = np.random.RandomState(SEED)
    chosen = [np.sort(random.permutation(_TRIALS)[:CORE_TRIALS]) for _ in range(_CELLS)]
    return np.concatenate([cell * _TRIALS + places for cell, places in enumerate(chosen)])
