"""Passes of networks on a CPU: side by side, each on one thread.

Threads that share one image's kernels wait for each other hundreds of times in every pass, and take the CPU while they
wait. One thread also gives the same numbers for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")
_MOST = 16
"""Most passes at a time: more would wait for the interpreter."""


def split(rows: torch.Tensor, tile: int) -> tuple[torch.Tensor, ...]:
    """Rows in one part for each thread, of whole passes of `tile` rows; in one part if they are not on a CPU."""
    if rows.device.type != "cpu" or not len(rows):
        return (rows,)
    passes, threads = -(-len(rows) // tile), min(_MOST, torch.get_num_threads())
    return torch.split(rows, -(-passes // threads) * tile)


def side_by_side(run: Callable[[torch.Tensor], T], parts: Sequence[torch.Tensor]) -> list[T]:
    """The results of `run` for each part; on a CPU all run at once, each on one thread."""
    threads = torch.get_num_threads()
    if threads == 1 or parts[0].device.type != "cpu":
        return [run(part) for part in parts]
    try:
        with ThreadPoolExecutor(len(parts), "ares-pass", torch.set_num_threads, (1,)) as pool:
            return list(pool.map(run, parts))
    finally:
        torch.set_num_threads(threads)
