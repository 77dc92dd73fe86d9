"""The rows of GENRES: Table 2, one per model and evaluator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.submissions.benchmarks.genres.standards import EVALUATORS, INAUGURAL, STANDARDS
from fairspace.submissions.benchmarks.published import Published, computed, models, printed, published_row, source

TOTAL = "TBS"


def rows(standard: str) -> Iterator[Published]:
    """Table 2; under another standard than the paper's, with the total that the printed M1 to M8 give."""
    for (_, evaluator), cells in models("genres").items():
        scores = {cell.score: printed(cell) for cell in cells}
        if standard != INAUGURAL.name:
            cohort = STANDARDS[standard].cohorts[evaluator]
            biases = np.array([scores[metric].value for metric in METRICS], dtype=float)
            total, _, _ = total_bias_score(biases, cohort.mean, cohort.std)
            made_of = f"{standard} over the printed M1 to M8 of {source(cells[0])}"
            scores[TOTAL] = computed(TOTAL, total, made_of, scores[TOTAL])
            cells = [cell for cell in cells if cell.score != TOTAL]
        yield published_row(cells, scores, TOTAL, labels={"cohort": evaluator}, cohort=EVALUATORS[evaluator])
