"""FACT-OR-FAIR in words, for pages; and its rows: Table 2, with Tables 3 to 8 as values, as shares."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from fairspace.builders.fact_or_fair.dataset import contested
from fairspace.builders.registry import PrintedCell
from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.submissions.benchmarks.benchmark import BenchmarkWords, Listing
from fairspace.submissions.benchmarks.fact_or_fair.score import KINDS, STANDARDS
from fairspace.submissions.benchmarks.published import Published, models, published_row, source
from fairspace.submissions.values import Value, measured, not_run


@lru_cache
def about() -> BenchmarkWords:
    """The description of FACT-OR-FAIR for pages."""
    return BenchmarkWords(
        scored,
        references=[
            "**paper**: the groups that the authors' labels name as highest and lowest of 19 statistics.",
            "**revised**: the same, by the official figures that could be found again, with their sources "
            "(`builders/reference/fact_or_fair_statistics.csv`); what no figure decides is left out.",
            f"Contested, by year and unit of the figures: {'; '.join(contested())}. The configuration `truth` of the "
            "dataset has the year, the source and both margins of every label.",
        ],
    )


def scored(standard: Any) -> Listing:
    """The contexts of both kinds of model, by attribute."""
    kinds = {"llm": "language models", "t2i": "image models"}
    rows = [
        [context, title, attribute, ", ".join(groups)]
        for kind, title in kinds.items()
        for context in standard.contexts[kind]
        for attribute, groups in GROUPS.items()
    ]
    return Listing("The questions", ["Context", "Asked of", "Attribute", "Groups"], rows)


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


def _share(figure: PrintedCell, images: str = "t2i_subjective") -> Value:
    """A figure in percent as a share, under the name that the standard has for its images."""
    if figure.value is None:
        raise ValueError(f"{figure.id} is {figure.printed!r}: every cell of FACT-OR-FAIR's tables is a number")
    evidence = {"printed": f"{figure.printed} %", "source": source(figure)}
    name = figure.score.replace("t2i_subjective", images)
    return measured(name, figure.value / 100, evidence=evidence)
