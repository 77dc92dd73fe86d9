"""The figure of a ranking: the ranked number of every model with its interval and bounds, in the order of the board."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fairspace.leaderboard_space.boards.figures.figures import Drawing, Source, Table, cell, has_number
from fairspace.leaderboard_space.boards.figures.plots import dot, ends_of
from fairspace.leaderboard_space.boards.telling import behind
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import Svg
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE, GREY
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import Value

FAR = 3.0
"""What is that many times as large as the largest ranked number stands at the end of the axis. A number that was
handed in, and that nobody verified, counts only where no verified or printed row is ranked: it must not set the scale
for them."""


def ranking(
    score: Callable[[Row], str], title: str, scale: float = 1.0, digits: int = 2, most: int = 30, cohort: str = ""
) -> Callable[[Source], Drawing]:
    """Draws the ranked number of every model: by class, and best first within a class.

    Args:
        score: row -> name of the score that it is ranked by.
        title: of the axis.
        scale: 100 for a share in percent.
        digits: decimals of the numbers beside the marks.
        most: models that are drawn.
        cohort: what the cohorts are, the header of their column; '' where a board has none.
    """

    def draw(source: Source) -> Drawing:
        some, note = source.some(most, f"ranking {title}", lambda row: has_number(row, score(row)))
        rows = with_errors(some, source.standard)
        numbers = {row.entry: row.scores[score(row)] for row in rows}
        lines = []
        for row in rows:
            value = numbers[row.entry]
            of = [row.cohort or "not known"] if cohort else []
            figures = behind(row, [value])
            lines.append(
                [
                    plain(row.model),
                    *of,
                    CLASSES[row.row_class].title.lower(),
                    str(row.rank or "–"),
                    figures,
                    cell(row, value, 3, scale),
                ]
            )
        table = Table(["Model", *filter(None, [cohort]), "Class", "Rank", "Evidence", title], lines)
        if not rows:
            return Drawing(None, table, "No model has this number under this standard.")
        top = scale * FAR * largest([row for row in rows if row.rank is not None], numbers)
        better = "higher" if find_benchmark(source.benchmark).higher_is_better else "lower"
        grouped = sorted(rows, key=lambda row: list(CLASSES).index(row.row_class))
        if cohort:
            order = list(dict.fromkeys((row.row_class, row.cohort) for row in grouped))
            grouped.sort(key=lambda row: order.index((row.row_class, row.cohort)))
        protocols = list(dict.fromkeys(row.group for row in grouped if row.group))
        if len(protocols) > 1:
            note = f"{note} Protocols: {', '.join(protocols)}. Numbers of different protocols do not compare.".strip()
            grouped.sort(
                key=lambda row: (list(CLASSES).index(row.row_class), protocols.index(row.group or protocols[0]))
            )
        dots = []
        for place, row in enumerate(grouped):
            head = CLASSES[row.row_class].title + (f" ({row.cohort or 'not known'})" if cohort else "")
            above = grouped[place - 1] if place else None
            new = above is None or above.ranked_with != row.ranked_with
            head += f" · {row.group}" if len(protocols) > 1 and row.group else ""
            colour = GREY if row.row_class == "baseline" else BLUE
            mark = dot(source, row, numbers[row.entry], digits, scale, colour=colour)
            dots.append(Line(plain(row.model) or "(no name)", [mark], head if new else ""))
        plot = DotPlot(dots, ends_of(dots, top), f"{title}; {better} is better")
        return Drawing(partial(_image, plot, title), table, note)

    return draw


def _image(plot: DotPlot, title: str, width: float) -> Svg:
    return dot_plots(width, title, [plot])


def largest(ranked: Sequence[Row], numbers: Mapping[str, Value]) -> float:
    """The largest number of the ranked rows that are verified or printed, else of all ranked rows; inf for none."""
    sure = [row for row in ranked if row.row_class != "handed in"] or ranked
    return max((numbers[row.entry].value or 0.0 for row in sure), default=math.inf)
