"""The names of the benchmarks: the folders beside this file that declare one. Nothing of a benchmark is loaded."""

from __future__ import annotations

from pathlib import Path

FIRST = ("iris", "fact_or_fair", "stereotypical_bias", "genres")
"""Benchmarks that stand first wherever all are listed; the others follow in the order of the alphabet."""


_FOLDERS = sorted(file.parent.name for file in Path(__file__).parent.glob("*/declaration.py"))
NAMES = (*(name for name in FIRST if name in _FOLDERS), *(name for name in _FOLDERS if name not in FIRST))
"""Every folder of `submissions/benchmarks/` with a `declaration.py`."""
