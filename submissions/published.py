"""The figures that the four papers print, as rows for the board. The tables are `builders.published`'s.

A published row carries printed numbers only: no intervals, no coverage, no records behind them. Where a printed number
contradicts its own formula, the row keeps the number and a footnote names the erratum in `cards/errata.md`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from submissions.published_tables import Footnote, Published

__all__ = ["EVALUATORS", "KINDS", "Footnote", "Published", "published"]

EVALUATORS = {"llama": "Llama", "glm": "GLM", "mistral": "Mistral"}
"""GENRES' judge families: rows of different ones are ranked apart."""
KINDS = {"llm": "language model", "t2i": "image model"}
"""FACT-OR-FAIR's kinds of model: they are ranked apart."""


@lru_cache
def published(benchmark: str, standard: str = "inaugural") -> tuple[Published, ...]:
    """Every model that the paper of a benchmark prints, in the paper's order.

    Args:
        benchmark: its name; the rows are in `submissions/published_<benchmark>.py`.
        standard: under another one than `inaugural`, a row shows what the printed figures still give, and has no rank.
    """
    rows: list[Published] = import_module(f"submissions.published_{benchmark}").rows(standard)
    return tuple(rows)
