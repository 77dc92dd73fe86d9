"""Sketches of answers: whether two submissions have the same answers, or more alike ones than two models by nature.

A sketch holds, of each task with `Task.alike`, the codes of 128 answers (`answers/codes.py`) drawn by a secret key:
submissions to the same items draw the same ones, with a standard error of at most 4.4 % for the share of equal codes.
Compared is Cohen's kappa (Cohen 1960), (p - c) / (1 - c), with chance agreement c from both models' frequencies of
codes. `SAME` means the same answers. From a task's `alike` on a person must look: a copy with a quarter of its answers
redrawn has .75; models that agree as much by nature are rare, but possible.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.answers.codes import Codes, mixed
from fairspace.submissions.reading.canonical import tables_digest

Bytes = NDArray[np.uint8]
SKETCH = "sketch"
"""Name of a sketch without a key, in signatures of older results; the digest of the answers is `answers`."""
BUCKETS = 128
"""Answers of a task in a sketch."""
FEWEST = 64
"""Fewest common answers to a task that can be compared."""
SAME = 0.97
"""Smallest kappa of equal answers."""
_ANSWERS = ("responses", "annotations", "judgements")
_PURPOSE = b"fairspace: answer sketches"


def answers_digest(tables: Mapping[str, Any]) -> str:
    """The sha256 of the answers alone, independent of name, order, sharding, compression and file format."""
    return tables_digest(hashlib.sha256(), {name: table for name, table in tables.items() if name in _ANSWERS})


@dataclass(frozen=True)
class SketchKey:
    """The 64 bits that draw the answers of a sketch; only sketches of one `name` (8 hex digits) can be compared."""

    word: np.uint64
    name: str

    @classmethod
    def of(cls, secret: str) -> SketchKey:
        """The key of a Space's secret; without one everybody knows the key."""
        digest = hmac.digest(secret.encode(), _PURPOSE, "sha256")
        return cls(np.uint64(int.from_bytes(digest[:8], "big")), digest[8:12].hex())


def draw_sketch(codes: Codes, tasks: Sequence[str], key: SketchKey) -> dict[str, str]:
    """Task -> items and codes of its drawn answers, 344 letters; tasks without an answer are left out."""
    sketch = {}
    for place, task in enumerate(tasks):
        of_task = codes[codes["task"] == place]
        if len(of_task):
            order = mixed(of_task["item"] ^ key.word)
            bucket = (order >> np.uint64(57)).astype(np.int64)
            by_bucket = np.lexsort((order, bucket))
            first = by_bucket[np.unique(bucket[by_bucket], return_index=True)[1]]
            items, answers = np.zeros(BUCKETS, np.uint8), np.zeros(BUCKETS, np.uint8)
            items[bucket[first]] = 1 + mixed(order[first]) % np.uint64(255)
            answers[bucket[first]] = of_task["code"][first]
            sketch[task] = base64.b64encode(np.concatenate([items, answers]).tobytes()).decode()
    return sketch


def read_sketch(sketch: Mapping[str, str], tasks: Sequence[str]) -> tuple[Bytes, Bytes]:
    """(tasks, BUCKETS) items, 0 for none, and codes. ValueError for an invalid sketch."""
    both = np.zeros((len(tasks), 2 * BUCKETS), np.uint8)
    for place, task in enumerate(tasks):
        if task in sketch:
            both[place] = np.frombuffer(base64.b64decode(sketch[task], validate=True), np.uint8)
    return both[:, :BUCKETS], both[:, BUCKETS:]


def kappa(first: Bytes, second: Bytes) -> float:
    """Cohen's kappa of (n,) codes of the same items; 0 if there are few, or if nothing varies."""
    n = len(first)
    if n < FEWEST:
        return 0.0
    equal = float((first == second).mean())
    both = np.bincount(first, minlength=256).astype(float) * np.bincount(second, minlength=256)
    chance = float(both.sum()) / n**2
    return (equal - chance) / (1 - chance) if chance < 1 else 0.0


def kappas(first: tuple[Bytes, Bytes], second: tuple[Bytes, Bytes]) -> list[float]:
    """The kappa of each task on the items that both sketches have."""
    common = (first[0] == second[0]) & (first[0] > 0)
    return [kappa(a[there], b[there]) for a, b, there in zip(first[1], second[1], common, strict=True)]


def likeness(of_tasks: Sequence[float], alike: Sequence[float]) -> tuple[bool, float]:
    """Whether answers are the same, and the largest kappa beyond natural likeness, 0 for none.

    `of_tasks`: kappa of each task, 0 if unknown; `alike`: `Task.alike` of each.
    """
    told = [value for value in of_tasks if value]
    beyond = [value for value, bound in zip(of_tasks, alike, strict=True) if value >= bound]
    return bool(told) and min(told) >= SAME, max(beyond, default=0.0)
