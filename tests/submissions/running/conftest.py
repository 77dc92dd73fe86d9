import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.models import tiny
from tests.papers import NAMES
from tests.served import Served
from tests.submissions.probing import tiny_models as unified
from tests.submissions.running.data.factory import picture, some, write
from tests.submissions.running.quality import factory
from tests.submissions.running.run_factory import Commands


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small datasets of all benchmarks, with pictures."""
    root = tmp_path_factory.mktemp("built")
    for name in ("genres", "iris", "stereotypical_bias"):
        write(root, name, sample=True, places=some, draw=picture)
    return root


@pytest.fixture(scope="session")
def whole_builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every dataset of the benchmarks, with a few bytes for each image."""
    root = tmp_path_factory.mktemp("whole")
    for name in NAMES:
        write(root, name)
    return root


@pytest.fixture(scope="session")
def janus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unified.janus(tmp_path_factory.mktemp("unified") / "janus")


@pytest.fixture(scope="session")
def features(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny models, `clip` and `dinov2`."""
    root = tmp_path_factory.mktemp("features")
    tiny.clip(root / "clip")
    factory.dinov2(root / "dinov2")
    return root


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Served models, by the module's options `SERVED`, which the environment names."""
    with Served.start(**getattr(request.module, "SERVED", {})) as served, pytest.MonkeyPatch.context() as patch:
        for name, value in served.environment().items():
            patch.setenv(name, value)
        yield served
    gc.collect()


@pytest.fixture
def collected() -> Iterator[None]:
    """Collect the streams and connections that Inspect leaves open, where the warning is expected."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    with Commands(tmp_path_factory.mktemp("logs")) as commands:
        yield commands
