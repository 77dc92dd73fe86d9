"""Waiting for what another thread or process brings about."""

import socket
import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def until(holds: Callable[[], Value], what: object = "it did not come to hold", seconds: float = 240.0) -> Value:
    """The first value that holds. AssertionError when none came in time."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return value


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
