from pathlib import Path

import pytest

from tests import tiny_ares as tiny


@pytest.fixture(scope="session", autouse=True)
def one_thread_of_torch() -> None:
    """Several test processes on few cores slow each other down otherwise."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_ares() -> Path:
    return tiny.random_ares()


@pytest.fixture(scope="session")
def trained_ares() -> Path:
    return tiny.trained_ares()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever needs the trained model as slow: training takes minutes."""
    for item in items:
        if "trained_ares" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
