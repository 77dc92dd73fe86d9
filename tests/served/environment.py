import gc
from collections.abc import Iterator

import pytest

from tests.served.running import Served


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served.start() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment().items():
            patch.setenv(name, value)
        yield running
    gc.collect()
