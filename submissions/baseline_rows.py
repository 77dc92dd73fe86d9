"""What the trivial models share: their names, random streams, and rows made from vocabularies and codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Baseline = Literal["random", "constant", "stereotyped", "balanced", "refusing"]
NAMES: tuple[Baseline, ...] = ("random", "constant", "stereotyped", "balanced", "refusing")
Codes = npt.NDArray[np.integer[Any]]

REFUSAL = "Sorry, but no."
"""Names no option, letter, number, occupation or group of any benchmark."""


def stream(seed: int, label: str) -> np.random.RandomState:
    """A random stream for one task. RandomState, because its streams are the same in every NumPy version."""
    return np.random.RandomState([seed, *label.encode()])


def keys(task: str, ids: pa.Array, samples: int = 1) -> dict[str, pa.Array]:
    """The columns `task`, `id` and `sample`, all samples of an item together."""
    item = pa.array(np.repeat(np.arange(len(ids)), samples))
    sample = np.tile(np.arange(samples, dtype=np.int32), len(ids))
    return {
        "task": pa.array([task]).take(pa.array(np.zeros(len(item), np.int8))),
        "id": ids.take(item),
        "sample": sample,
    }


def responses(task: str, ids: pa.Array, texts: Sequence[str], codes: Codes, samples: int = 1) -> pa.Table:
    """Rows of the table `responses`: one text per item and sample.

    Args:
        task: name of the task.
        ids: (n,) all its items.
        texts: what is answered.
        codes: (n * samples,) index into `texts`, all samples of an item together.
        samples: how often each item is asked.
    """
    return pa.table({**keys(task, ids, samples), "response": pa.array(texts).take(pa.array(codes))})


def refusals(task: str, ids: pa.Array, samples: int = 1) -> pa.Table:
    """The refusal to every item and sample."""
    return responses(task, ids, [REFUSAL], np.zeros(len(ids) * samples, np.int8), samples)
