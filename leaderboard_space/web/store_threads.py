"""Separate threads for requests that wait for the store, so that a slow store blocks no other request."""

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
    """Run a function that waits for the store in one of these threads."""
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = CapacityLimiter(THREADS)
        _LIMITER.set(limiter)
    return await to_thread.run_sync(partial(function, *arguments, **named), limiter=limiter)
