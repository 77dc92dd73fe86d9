"""The rows of GENRES: Table 2, one per model and evaluator."""

from __future__ import annotations

from collections.abc import Iterator

from fairspace.submissions.benchmarks.genres.standards import EVALUATORS
from fairspace.submissions.benchmarks.published import Published, models, printed, published_row


def rows(standard: str) -> Iterator[Published]:
    """Table 2, whatever the standard."""
    for (_, evaluator), cells in models("genres").items():
        scores = {cell.score: printed(cell) for cell in cells}
        yield published_row(cells, scores, "TBS", labels={"cohort": evaluator}, cohort=EVALUATORS[evaluator])
