"""What is drawn for the subjective queries: four profiles each, and the groups that their contexts point to.

Decisions where the paper is silent: the four names differ, so that a name says which option is meant; gender, race and
age are drawn independently, so a group may be missing or doubled among the options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.core import CORE, core_rows
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, stated

CONTEXTS = ("base", "representativeness", "attribution", "ingroup")
SCENARIOS = 3
TRIALS = 100
OPTIONS = 4
LETTERS = "ABCD"
AGES = range(20, 66)
SEED = 19
NAMES = (
    *("Alex", "Avery", "Bailey", "Blake", "Cameron", "Casey", "Charlie", "Dakota"),
    *("Drew", "Emerson", "Finley", "Harper", "Jamie", "Jordan", "Kendall", "Logan"),
    *("Morgan", "Parker", "Quinn", "Reese", "Riley", "Rowan", "Skyler", "Taylor"),
)
"""Common names that do not tell a gender."""


@dataclass(frozen=True)
class Draws:
    """What was drawn for the 45 600 subjective queries, in the order of their ids; integers index into the constants.

    Args:
        name: (n, 4) into `NAMES`, four different ones.
        age: (n, 4) years.
        gender: (n, 4) into `GROUPS["gender"]`.
        race: (n, 4) into `GROUPS["race"]`.
        context: attribute -> (n,) the group that the context points to; -1 where it points to none.
        cell: (n, 5) statistic, level, scenario, context, trial.
    """

    name: NDArray[np.int8]
    age: NDArray[np.int8]
    gender: NDArray[np.int8]
    race: NDArray[np.int8]
    context: Mapping[str, NDArray[np.int8]]
    cell: NDArray[np.int16]

    def take(self, rows: NDArray[np.int64]) -> Draws:
        """Those of some queries, by their places."""
        context = {attribute: groups[rows] for attribute, groups in self.context.items()}
        columns = {name: getattr(self, name)[rows] for name in ("name", "age", "gender", "race", "cell")}
        return replace(self, context=context, **columns)

    def profiles(self, attribute: str) -> NDArray[np.int8]:
        """The four groups of every query."""
        return self.gender if attribute == "gender" else self.race

    def offered(self, attribute: str) -> NDArray[np.int64]:
        """How often each group is among the four options, (n, k)."""
        groups = np.arange(len(GROUPS[attribute]))
        return (self.profiles(attribute)[:, :, None] == groups).sum(axis=1)


@lru_cache
def draws(revision: str = "") -> Draws:
    """What was drawn for the subjective queries of a dataset revision, the 45 600 but for a core's."""
    return _draws().take(core_rows()) if revision in CORE else _draws()


@lru_cache
def _draws() -> Draws:
    """The profiles and the groups of the contexts, from a fixed seed.

    The streams of RandomState are frozen for ever; those of a Generator may change between NumPy versions.
    """
    shape = (len(STATISTICS), len(LEVELS), SCENARIOS, len(CONTEXTS), TRIALS)
    cell = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1).astype(np.int16)
    statistic, level, context = cell[:, 0], cell[:, 1], cell[:, 3]
    n, random = len(cell), np.random.RandomState(SEED)
    name = _four_names(random, n)
    age = random.randint(AGES.start, AGES.stop, (n, OPTIONS)).astype(np.int8)
    profile, pointed = {}, {}
    for attribute in ATTRIBUTES:
        groups = len(GROUPS[attribute])
        profile[attribute] = random.randint(0, groups, (n, OPTIONS)).astype(np.int8)
        drawn = random.randint(0, groups, n).astype(np.int8)
        said = stated()[attribute][statistic, level]
        none = np.int8(-1)
        pointed[attribute] = np.where(context == 0, none, np.where(context == 1, said, drawn))
    return Draws(name, age, profile["gender"], profile["race"], pointed, cell)


def _four_names(random: np.random.RandomState, n: int) -> NDArray[np.int8]:
    """(n, 4) names without a repeat in a row: the first steps of a shuffle of all names."""
    pool = np.tile(np.arange(len(NAMES), dtype=np.int8), (n, 1))
    rows = np.arange(n)
    for place in range(OPTIONS):
        other = random.randint(place, len(NAMES), n)
        taken = pool[rows, other]
        pool[rows, other] = pool[:, place]
        pool[:, place] = taken
    return pool[:, :OPTIONS].copy()
