"""Names of the papers' benchmarks: tests of printed numbers and of pages about them need no row for another one."""

from pathlib import Path

from fairspace.submissions.benchmarks.registry import NAMES as EVERY

NAMES = tuple(name for name in EVERY if (Path(__file__).parents[1] / "builders" / name / "published.py").is_file())
"""Benchmarks with tables of a paper, in the order of the registry."""
