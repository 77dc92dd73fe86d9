from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.served import Served
from tests.submissions.running.run_factory import Commands, small_builds


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_builds(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory, served: Served) -> Iterator[Commands]:
    with Commands(tmp_path_factory.mktemp("logs"), served.environment()) as commands:
        yield commands
