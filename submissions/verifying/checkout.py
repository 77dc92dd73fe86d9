"""The oracles, which lie under `tests/oracles` of a checkout and are not installed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import fairspace

ROOT = Path(fairspace.__file__).resolve().parents[1]
NEEDS_CHECKOUT = "the oracles lie under tests/ of the repository: run this in a checkout of it"


def oracles() -> Any | None:
    """The package of the oracles; None where this project is installed without its tests."""
    if not (ROOT / "tests" / "oracles" / "__init__.py").is_file():
        return None
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return import_module("tests.oracles")
