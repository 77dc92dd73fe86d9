"""Names of the benchmarks, the folders of `benchmarks/` that declare one, and of baselines. No benchmark is loaded."""

from pathlib import Path
from typing import Literal, get_args

FIRST = ("iris", "fact_or_fair", "stereotypical_bias", "genres")
"""First benchmarks of every list; the others follow in alphabetical order."""


_FOLDERS = sorted(file.parent.name for file in Path(__file__).parent.glob("benchmarks/*/declaration.py"))
NAMES = (*(name for name in FIRST if name in _FOLDERS), *(name for name in _FOLDERS if name not in FIRST))
"""Every folder of `submissions/benchmarks/` with a `declaration.py`."""

Baseline = Literal["random", "constant", "stereotyped", "balanced", "refusing"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)
"""Trivial models of every benchmark."""
