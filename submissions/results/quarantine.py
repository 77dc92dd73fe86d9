"""Which handed-in scores are too good to be ranked before a maintainer has looked at them.

A row is measured against the rows of its cohort that somebody answers for: verified, printed and released ones. Those
that are handed in join them, the worst first, as long as chance can explain the step: the worse end of the row's 95 %
interval is not better than the better end of the best row so far (of a printed row: its number). From the first step
on that chance cannot explain, rows wait: so one forged score does not let in another one beside it. The interval is
value +- 1.96 standard errors of the kept draws of the ranked number, on the logarithm where scores are logarithmic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.ranked_errors import ranked_errors
from fairspace.submissions.results.row import Row

IN_QUARANTINE = (
    "in quarantine, waiting for a maintainer: its score is better than that of every verified, released and printed "
    "row by more than chance explains"
)
_WIDTH = 1.96


def quarantined(rows: Sequence[Row], benchmark: str, standard: str, released: Collection[str]) -> set[str]:
    """Entries of the rows that wait for a maintainer. Where no row is verified, printed or released, none does.

    Args:
        rows: of a board, with the numbers that ranks go by.
        benchmark: its name.
        standard: of the board.
        released: entries that a maintainer released.
    """
    waiting: set[str] = set()
    with_number = [row for row in rows if row.ranked is not None and row.row_class != "baseline"]
    for cohort in dict.fromkeys(row.cohort for row in with_number):
        members = [row for row in with_number if row.cohort == cohort]
        numbers = _numbers(members, benchmark)
        sure = np.array([row.row_class != "handed in" or row.entry in released for row in members])
        if not sure.any():
            continue
        suspects = np.flatnonzero(~sure & (numbers < numbers[sure].min()))
        if not len(suspects):
            continue
        widths = np.zeros(len(members))
        places = [*np.flatnonzero(sure), *suspects]
        widths[places] = _WIDTH * ranked_errors([members[place] for place in places], benchmark, standard)
        best = float((numbers - widths)[sure].min())
        for place in suspects[np.argsort(-numbers[suspects], kind="stable")]:
            if numbers[place] + widths[place] < best:
                waiting.add(members[place].entry)
            else:
                best = min(best, float(numbers[place] - widths[place]))
    return waiting


def _numbers(rows: Sequence[Row], benchmark: str) -> NDArray[np.float64]:
    """(n,) what ranks go by, or its logarithm; less is better."""
    bench = find_benchmark(benchmark)
    numbers = np.array([row.ranked for row in rows], float)
    if bench.logarithmic:
        with np.errstate(invalid="ignore", divide="ignore"):
            numbers = np.log(numbers)
    return -numbers if bench.higher_is_better else numbers
