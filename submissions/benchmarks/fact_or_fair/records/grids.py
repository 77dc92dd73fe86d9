"""Grids of FACT-OR-FAIR: how often each group was named or shown, per statistic and level of a context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.objective import ORDERS
from fairspace.builders.fact_or_fair.plan import CONTEXTS, SAMPLES, SCENARIOS, TRIALS
from fairspace.builders.fact_or_fair.statistics import LEVELS, STATISTICS, with_attribute

OVER_ALL = "llm_subjective"
"""The four subjective contexts together, in names of values."""
LLM_CONTEXTS = ("llm_objective", *(f"llm_{context}" for context in CONTEXTS))
T2I_CONTEXTS = ("t2i_objective", "t2i_subjective", "t2i_subjective_paper")
ALL_CONTEXTS = LLM_CONTEXTS + T2I_CONTEXTS
"""Tables 4-8, from left to right: O, S-B, S-R, S-A, S-G for language models, O and S for image models.

S of image models comes with three prompts a topic, and with one as in the paper.
"""
ASKED: Mapping[str, int] = {
    "llm_objective": ORDERS,
    **{f"llm_{context}": SCENARIOS * TRIALS for context in CONTEXTS},
    "t2i_objective": SAMPLES["t2i_objective"],
    "t2i_subjective": SCENARIOS * SAMPLES["t2i_subjective"],
    "t2i_subjective_paper": SAMPLES["t2i_subjective_paper"],
}
"""Context -> how often it asks about one statistic at one level."""
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ADDED = 0.4
"""`Grid.added` of the core. S_E and S_KLD of 15 answers lie far below those of 300; with 0.4 answers added to each
group the largest error of S_fair in the calibration (`resample/core.py`) is the smallest, .02."""
_TINY = 1e-9  # shares of thirds do not add up to 1 exactly


@dataclass(frozen=True)
class Grid:
    """The answers about one attribute in one context.

    Args:
        counts: (s, 2, k) how often each group was named, per statistic with that attribute, level (0 highest, 1
            lowest) and group; shares of images for the T2I tasks.
        missing: (s, 2) how many of the asked are unknown: not handed in, or no face.
        absent: how many of the missing ones were not handed in.
        unusable: (s, 2) how many were handed in and name no group; refusals are among them.
        refused: (s, 2) how many of these decline.
        asked: questions about one statistic at one level.
        added: answers that S_E and S_KLD add to each group of a cell, 0 but for the core.
        even: (k) share of each group among what was offered where a group was named; empty if all are offered alike.
    """

    counts: Floats
    missing: Floats
    absent: int
    unusable: Floats
    refused: Floats
    asked: int
    added: float = 0.0
    even: tuple[float, ...] = ()


def contexts_of(revision: str) -> tuple[str, ...]:
    """The contexts of a dataset revision."""
    return tuple(context for context in ALL_CONTEXTS if revision != "v1" or context != "t2i_subjective_paper")


def task_of(context: str) -> str:
    """The task that a context belongs to."""
    return context if context in SAMPLES else "llm_subjective"


def tally(
    statistic: NDArray[Any], level: NDArray[Any], group: NDArray[Any] | int = 0, k: int = 1, share: Floats | None = None
) -> Floats:
    """(19, 2, k) how many rows there are per statistic, level and group, each weighing its share."""
    shape = (len(STATISTICS), len(LEVELS), k)
    cell = (statistic.astype(np.intp) * len(LEVELS) + level) * k + group
    return np.bincount(cell, weights=share, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def answer_grid(attribute: str, asked: int, counts: Floats, rows: Floats, refused: Floats, added: float = 0) -> Grid:
    """The grid of the statistics that have the attribute, of answers.

    Args:
        attribute: `gender` or `race`.
        asked: questions about one statistic at one level.
        counts: (19, 2, k) answers by the group that they name.
        rows: (19, 2, 1) answers that were handed in.
        refused: (19, 2, 1) those that decline.
        added: as `Grid.added`.
    """
    mine = with_attribute(attribute)
    handed_in = rows[mine].sum(-1)
    missing = asked - handed_in
    unusable = handed_in - counts[mine].sum(-1)
    return Grid(counts[mine], missing, round(missing.sum()), unusable, refused[mine].sum(-1), asked, added)


def image_grid(attribute: str, context: str, rows: Floats, counts: Floats) -> Grid:
    """The same of images; `rows` (19, 2, 1) counts what was handed in. An image without a face is missing."""
    mine = with_attribute(attribute)
    missing = ASKED[context] - counts[mine].sum(-1)
    absent = ASKED[context] - rows[mine].sum(-1)
    none = np.zeros_like(missing)
    return Grid(
        counts[mine], np.where(np.abs(missing) < _TINY, 0.0, missing), round(absent.sum()), none, none, ASKED[context]
    )
