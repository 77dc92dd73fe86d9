"""Datasets: one module per published dataset, sources' readers, and authored or official reference data."""

from pathlib import Path

REFERENCE = Path(__file__).parent / "reference"
"""Authored and official data: labour figures, printed tables, the papers' elements."""
