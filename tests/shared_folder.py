"""A folder that all workers of one session of tests share, for what is dear to make and then only read."""

import os
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder; what is made in it is made under a lock, because the workers come at once."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder
