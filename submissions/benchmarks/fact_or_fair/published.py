"""The rows of FACT-OR-FAIR: Table 2, with Tables 3 to 8 as values, as shares."""

from __future__ import annotations

from collections.abc import Iterator

from fairspace.builders.published import Figure
from fairspace.submissions.benchmarks.fact_or_fair.score import KINDS
from fairspace.submissions.benchmarks.fact_or_fair.standards import STANDARDS
from fairspace.submissions.benchmarks.published import Published, models, published_row, source
from fairspace.submissions.values import Value, measured, not_run


def rows(standard: str) -> Iterator[Published]:
    """Table 2's models; under another truth their factuality is not available."""
    images = STANDARDS[standard].contexts["t2i"][1]
    same_truth = STANDARDS[standard].truth == "paper"
    reason = f"not available under {standard}: the printed answers are judged by the paper's labels"
    for (_, kind), cells in models("fact_or_fair").items():
        scores = {cell.score: _share(cell) for cell in cells if cell.table == cells[0].table}
        if not same_truth:
            scores |= {name: not_run(name, reason) for name in scores if "fairness" not in name}
        values = [_share(cell, images) for cell in cells if cell.table != cells[0].table]
        yield published_row(
            cells,
            scores,
            f"average_{kind}",
            unranked=() if same_truth else (f"partial: factuality is {reason}",),
            values={value.name: value for value in values},
            cohort=KINDS[kind],
        )


def _share(figure: Figure, images: str = "t2i_subjective") -> Value:
    """A figure that is printed in percent, as a share, under the name that the standard has for its images."""
    if figure.value is None:
        raise ValueError(f"{figure.id} is {figure.printed!r}: every cell of FACT-OR-FAIR's tables is a number")
    evidence = {"printed": f"{figure.printed} %", "source": source(figure)}
    name = figure.score.replace("t2i_subjective", images)
    return measured(name, figure.value / 100, evidence=evidence)
