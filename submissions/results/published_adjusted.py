"""Printed rows under a reader's adjustment: made again where the printed figures are those that it asks for.

What the papers do not print (the sizes of groups, counts, single values behind a norm) makes a row unranked and says
so; no number is made up. What the adjustment leaves alone stays as printed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from fairspace.submissions.benchmarks.adjustment import Adjustment
from fairspace.submissions.benchmarks.published import SIZES, Found
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.scoring import find_standard

if TYPE_CHECKING:
    from fairspace.submissions.results.row import Row


def adjusted_print(row: Row, benchmark: str, standard: str, changed: Adjustment) -> Found:
    """What an adjustment makes of a printed row.

    Args:
        row: of the released board.
        benchmark: of the board.
        standard: its name.
        changed: anything but as released.
    """
    module = "published_adjusted" if benchmark == "iris" else "published"
    chosen = find_standard(find_benchmark(benchmark), standard)
    made: Found = import_module(f"fairspace.submissions.benchmarks.{benchmark}.{module}").adjusted_print(
        row, chosen, changed
    )
    scores, labels, unranked, ranking = made
    return scores, labels, (*unranked, *([SIZES] if changed.smallest_group else [])), ranking
