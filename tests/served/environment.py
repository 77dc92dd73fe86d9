"""A started server as the fixture of tests whose runs find it by the environment."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.served.running import Served


@pytest.fixture(scope="module")
def served() -> Iterator[None]:
    """The environment names the server; what runs leave of their connections is gone when it stops."""
    with Served.start() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment().items():
            patch.setenv(name, value)
        yield
    gc.collect()
