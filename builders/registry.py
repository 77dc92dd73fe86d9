"""The datasets by name, and the papers whose figures they publish."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import cast

from fairspace.builders.engine.dataset import Dataset
from fairspace.builders.names import NAMES
from fairspace.builders.printed import Paper

__all__ = ["NAMES", "dataset", "paper"]


def dataset(name: str) -> Dataset:
    """The dataset called `name`; imports only that one. KeyError names the known ones."""
    if name not in NAMES:
        close = get_close_matches(name, NAMES, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise KeyError(f"There is no dataset {name!r}{hint}. Known: {', '.join(NAMES)}.")
    return cast(Dataset, import_module(f"fairspace.builders.{name}.dataset").DATASET)


def headlined(benchmark: str) -> list[Dataset]:
    """The datasets of a benchmark that have headline scores, in order."""
    return [each for each in map(dataset, NAMES) if each.benchmark == benchmark and each.headlines]


def paper(benchmark: str) -> Paper:
    """The paper of a benchmark, from `builders/<benchmark>/published.py`."""
    return cast(Paper, import_module(f"fairspace.builders.{benchmark}.published").PAPER)
