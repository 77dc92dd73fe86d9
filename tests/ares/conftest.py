"""The tiny models that ARES' tests share."""

from pathlib import Path

import pytest
import torch

from fairspace.ares.training.tiny import tiny_model, trained_model

torch.set_num_threads(1)  # several test processes on few cores slow each other down otherwise


@pytest.fixture(scope="session")
def tiny_ares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny ARES with random weights; not to be written to."""
    return tiny_model(tmp_path_factory.mktemp("ares"))


@pytest.fixture(scope="session")
def trained_ares(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny ARES that was trained on drawn faces, at some time; not to be written to.

    It is kept in pytest's cache; without one (`-p no:cacheprovider`) it is trained for this run.
    """
    cached = request.config.pluginmanager.hasplugin("cacheprovider")
    return trained_model(Path(request.config.cache.mkdir("ares")) if cached else tmp_path_factory.mktemp("ares"))
