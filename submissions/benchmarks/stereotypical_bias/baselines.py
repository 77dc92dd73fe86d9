"""Trivial models of the stereotypical bias benchmark.

- random: a coin for the two sides, a die for the groups offered.
- constant: always left; always the first group.
- stereotyped: the gender that `FEMALE` gives; of races always the first in L_A that is offered.
- balanced: every group wins half of the pairs that offer it, and a kth of the sentences.
- refusing: names no side and no group.
"""

import numpy as np
import pyarrow as pa

from fairspace.builders.stereotypical_bias import plan
from fairspace.submissions.benchmarks.baselines import Baseline, Codes, refusals, responses, stream

SIDES = ("left", "right")
FEMALE = frozenset(
    (
        *("nurse", "housekeeper", "therapist", "cook", "flight attendant"),
        *("attractive person", "exotic person", "person cleaning", "seductive person", "emotional person"),
        *("Art Lover", "Bookworm", "Foodie", "Music Lover", "Neat", "Freegan", "Luxury Villa"),
    )
)
"""Items that the stereotyped model calls female, after common clichés; the others are male to it."""


def tables(name: Baseline, seed: int, revision: str = plan.REVISIONS[0]) -> dict[str, pa.Table]:
    """The rows of one trivial model."""
    parts = []
    for task in plan.TASKS:
        ids, vision = plan.ids(task, revision), task.startswith("vision_")
        if name == "refusing":
            parts.append(refusals(task, ids))
            continue
        options = SIDES if vision else plan.GROUPS[plan.task_attribute(task)]
        if name == "random":
            codes: Codes = stream(seed, task).randint(0, len(options), len(ids))
        elif name == "constant":
            codes = np.zeros(len(ids), np.int8)
        else:
            codes = _side(name, task, revision) if vision else _group(name, task, revision)
        parts.append(responses(task, ids, options, codes))
    return {"responses": pa.concat_tables(parts)}


def _column(task: str, revision: str, name: str) -> Codes:
    return np.asarray(plan.items(task, revision)[name].to_numpy())


def _is_female(task: str, revision: str) -> Codes:
    names = plan.INSTANCES if task.startswith("vision_") else plan.TRAITS
    return np.array([name in FEMALE for name in names], dtype=np.int8)[_column(task, revision, "instance")]


def _side(name: Baseline, task: str, revision: str) -> Codes:
    left, right = _column(task, revision, "left"), _column(task, revision, "right")
    if name == "stereotyped":
        return (left != _is_female(task, revision) if task == "vision_gender" else left > right).astype(np.int8)
    low, high = np.minimum(left, right), np.maximum(left, right)
    code = (_column(task, revision, "instance").astype(np.int64) * 4 + low) * 4 + high
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    turn = np.empty(len(code), dtype=np.int64)
    turn[order] = np.arange(len(code)) - np.repeat(starts, np.diff(starts, append=len(code)))
    winner = np.where(turn % 2 == 0, low, high)
    return (winner != left).astype(np.int8)


def _group(name: Baseline, task: str, revision: str) -> Codes:
    if name == "stereotyped":
        return _is_female(task, revision) * (task == "language_gender")
    return _column(task, revision, "image") % len(plan.GROUPS[plan.task_attribute(task)])
