"""The names of the benchmarks: the folders beside this file that declare one. Nothing of a benchmark is loaded."""

from __future__ import annotations

from pathlib import Path

FIRST = ("iris", "fact_or_fair", "stereotypical_bias", "genres")
"""Benchmarks that stand first wherever all are listed; the others follow in the order of the alphabet."""


def _order(name: str) -> tuple[int, str]:
    return FIRST.index(name) if name in FIRST else len(FIRST), name


NAMES = tuple(sorted((file.parent.name for file in Path(__file__).parent.glob("*/declaration.py")), key=_order))
"""Every folder of `submissions/benchmarks/` with a `declaration.py`."""
