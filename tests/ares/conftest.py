"""The tiny model that ARES' tests share."""

from pathlib import Path

import pytest

from ares.tiny import tiny_model


@pytest.fixture(scope="session")
def tiny_ares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny ARES; not to be written to."""
    return tiny_model(tmp_path_factory.mktemp("ares"))
