"""The rows of stereotypical bias: Table 2, and the mean of its six scores."""

from __future__ import annotations

from collections.abc import Iterator

from fairspace.builders.published import figures
from fairspace.submissions.benchmarks.published import (
    Published,
    computed,
    missing,
    models,
    printed,
    published_row,
    source,
)


def rows(standard: str) -> Iterator[Published]:
    """Table 2's three models and their ensemble, whatever the standard."""
    names = list(dict.fromkeys(figure.score for figure in figures("stereotypical_bias")))
    for cells in models("stereotypical_bias").values():
        place = source(cells[0])
        values = {cell.score: printed(cell) for cell in cells}
        scores = {name: values.get(name) or missing(name, place) for name in names}
        plain = [v.value for name, v in scores.items() if not name.endswith("_na_filtered") and v.value is not None]
        scores["total"] = (
            computed("total", sum(plain) / 6, f"mean of the six scores of {place}")
            if len(plain) == 6
            else missing("total", place)
        )
        reason = "no worst case: how many questions were not answered is not printed"
        yield published_row(cells, scores, "total", unranked=(reason,))
