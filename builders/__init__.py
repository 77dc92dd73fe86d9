"""Datasets: one folder per published dataset, readers of sources, authored and official reference data."""

from pathlib import Path

REFERENCE = Path(__file__).parent / "reference"
"""Authored and official data: labour figures, printed tables, the papers' elements."""
