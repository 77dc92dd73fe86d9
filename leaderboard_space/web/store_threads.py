"""Threads of requests that write to the store or fetch a file of it: a store that does not answer holds no others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

THREADS = 8
Given = ParamSpec("Given")
Found = TypeVar("Found")
_LIMITER: RunVar[CapacityLimiter] = RunVar("threads for the store")
"""One for each event loop."""


async def with_store(function: Callable[Given, Found], *arguments: Given.args, **named: Given.kwargs) -> Found:
    """What a function gives that waits for the store, from one of a few threads of their own."""
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = CapacityLimiter(THREADS)
        _LIMITER.set(limiter)
    return await to_thread.run_sync(partial(function, *arguments, **named), limiter=limiter)
