"""No test reaches another host, or reads or fills a user's cache."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator

import pytest
from filelock import FileLock
from hypothesis import settings

pytest_plugins = ["tests.cpu_seconds"]

os.environ.pop("GITHUB_STEP_SUMMARY", None)  # gates of tests are no outcome of a job
os.environ.update(
    {
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "FAIRSPACE_RESAMPLES": "0",  # tests of intervals ask for their own
        "HF_HOME": tempfile.mkdtemp(prefix="fairspace-hf-"),
    }
)
# How long an example takes says more about what else the machine does.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """On a fresh machine the first worker collects alone, so that the others read its compiled files.

    Workers that start together would all compile the same eight thousand files.
    """
    run = getattr(session.config, "workerinput", {}).get("testrunuid")
    cache = session.config.rootpath / ".pytest_cache"
    if run is None or (cache / "seconds.json").is_file():
        return (yield)
    cache.mkdir(exist_ok=True)
    collected = cache / "collected"
    with FileLock(cache / "collected.lock"):
        if not collected.is_file() or collected.read_text(encoding="utf-8") != run:
            result = yield
            collected.write_text(run, encoding="utf-8")
            return result
    return (yield)


_MANY = 200
"""Modules whose objects slow each later search for garbage by more than one search takes."""
_frozen = 0


def pytest_collection_finish() -> None:
    """Freeze what was imported: garbage collection took a tenth of the tests' time."""
    global _frozen
    gc.collect()
    gc.freeze()
    _frozen = len(sys.modules)


def pytest_runtest_logfinish() -> None:
    """Freeze what a test was the first to import: Inspect and torch, which each later search would go through."""
    if len(sys.modules) > _frozen + _MANY:
        pytest_collection_finish()
