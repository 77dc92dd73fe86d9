"""A plugin of pytest: `--only genres` runs what belongs to one benchmark, dataset or metric, and what depends on it.

A file of tests runs whole if its path or its text names the word. Of files that go through a registry of benchmarks or
datasets, those tests run whose id names it. All other files are not even imported.
"""

import re
from pathlib import Path

import pytest

_REGISTRY = re.compile(r"from fairspace\.\S*registry import|from tests\.(scored_baselines|sample_builds) import")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--only`."""
    parser.addoption("--only", default="", metavar="NAME", help="only tests that belong to it or depend on it")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that neither names the word nor goes through a registry."""
    word = config.getoption("--only")
    if not word or collection_path.suffix != ".py" or _named(collection_path, word):
        return None
    return None if _REGISTRY.search(collection_path.read_text(encoding="utf-8")) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep, of files that go through a registry, the tests that name the word."""
    word = config.getoption("--only")
    if word:
        whole = {file for file in {item.path for item in items} if _named(file, word)}
        kept = [item for item in items if item.path in whole or word in item.nodeid]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def _named(file: Path, word: str) -> bool:
    inside = file.relative_to(Path(__file__).parent)
    return word in str(inside) or re.search(rf"\b{re.escape(word)}", file.read_text(encoding="utf-8")) is not None
