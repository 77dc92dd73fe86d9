"""The papers' printed tables that follow from other printed figures, recomputed with this project's formulas.

What the printed digits allow is derived per column: half a unit of the last digit of the cell, and of each figure that
it is made of times its largest slope.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairspace.submissions.verifying.comparison import Comparison
from fairspace.submissions.verifying.printed import fact_or_fair, iris, others


def printed_tables() -> Iterator[Comparison]:
    """Every printed table that can be recomputed."""
    yield from iris.tables()
    yield from others.ares_tables()
    yield from fact_or_fair.tables()
    yield from others.genres_table()
    yield from others.probe_tables()
