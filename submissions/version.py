"""The version of this software, for signatures of results; it stands in pyproject.toml alone."""

from importlib.metadata import version
from pathlib import Path

PUBLISHED = Path(__file__).parents[1] / "VERSION"
"""The version in the copy that a Space runs, written by publishing: nothing is installed there under the name."""
VERSION = PUBLISHED.read_text(encoding="utf-8").strip() if PUBLISHED.is_file() else version("fairspace")
