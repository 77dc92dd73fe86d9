"""The version of this software, which a result's signature names. It stands in pyproject.toml alone."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

PUBLISHED = Path(__file__).parents[1] / "VERSION"
"""The version in the copy that a Space runs: publishing writes it, as nothing is installed there under the name."""
VERSION = PUBLISHED.read_text(encoding="utf-8").strip() if PUBLISHED.is_file() else version("fairspace")
