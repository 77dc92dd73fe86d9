"""What the figures of a board share: a value as a dot with its interval and bounds, and plots of chosen models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fairspace.leaderboard_space.boards.figures.figures import Source
from fairspace.leaderboard_space.boards.telling import value_text, visibility
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions.drawing.dots import Dot, DotPlot, Ends, Line
from fairspace.submissions.drawing.svg import Svg, span, wrapped
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE, COLOURS, GREY, number
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value

MARKERS = ("circle", "diamond", "square", "right")
"""Shapes of chosen models, in the order of `COLOURS`."""
SYMBOLS = {
    "from a paper": "circle",
    "self-reported labels or judge": "diamond-open",
    "scored here": "diamond",
    "rerun by maintainers": "square",
    "baseline": "cross",
}
"""By `telling.visibility`."""
SIGNS = "● from a paper, ◇ self-reported labels or judge, ◆ scored here, ■ rerun by maintainers, ✕ baseline."
_POINT = 1e-9
"""Ends that are no further apart are one number."""


def bounds_of(value: Value, scale: float = 1.0) -> Ends:
    """The range that the missing samples allow; None where nothing is missing."""
    if value.low is None or value.high is None or value.high - value.low <= _POINT:
        return None
    return scale * value.low, scale * value.high


def interval_of(value: Value, scale: float = 1.0) -> Ends:
    """The 95 % interval; None where nothing was resampled."""
    about = value.uncertainty
    return None if about is None else (scale * about.low, scale * about.high)


def told(row: Row, value: Value | None, digits: int, scale: float = 1.0) -> str:
    """A value in words: the number with its bounds, and its 95 % interval."""
    text = value_text(value, digits, scale, row.provenance == "published")
    about = None if value is None else interval_of(value, scale)
    if about is None:
        return text
    return f"{text}, 95 % interval {number(about[0], digits)} to {number(about[1], digits)}"


def dot(
    source: Source,
    row: Row,
    value: Value | None,
    digits: int = 2,
    scale: float = 1.0,
    what: str = "",
    colour: str = BLUE,
    symbol: str = "",
) -> Dot | None:
    """A row's value as a dot that leads to the row's page; None without a number.

    Args:
        source: of the figure.
        row: whose value it is.
        value: the number.
        digits: decimals.
        scale: what the number is multiplied by.
        what: which value it is, where a figure shows several of a row.
        colour: of the dot.
        symbol: its shape; the one of the row's evidence for ''.
    """
    if value is None or value.value is None:
        return None
    name = shortened(plain(row.model), 60) or "(no name)"
    text = f"{name}{', ' if what else ''}{what}: {told(row, value, digits, scale)}"
    shown = number(scale * value.value, 0 if abs(value.value) >= 10_000 else digits)
    ends = (interval_of(value, scale), bounds_of(value, scale))
    return Dot(scale * value.value, text, shown, source.href(row), colour, symbol or SYMBOLS[visibility(row)], *ends)


def keys_of(rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Legend of chosen models: name -> colour and shape."""
    names = [plain(row.model) or "(no name)" for row in rows]
    names = [f"{name} ({row.cohort})" if names.count(name) > 1 else name for name, row in zip(names, rows, strict=True)]
    names = [f"{name} [{place}]" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
    return dict(zip(names, zip(COLOURS, MARKERS, strict=True), strict=False))


def by_category(
    source: Source,
    titles: Sequence[str],
    values: Sequence[Sequence[Value | None]],
    digits: int = 2,
    scale: float = 1.0,
    prefix: str = "",
) -> list[Line]:
    """One line per category, one dot per chosen model; `values`: per model, in the order of the titles."""
    looks = list(zip(source.chosen, values, COLOURS, MARKERS, strict=False))
    return [
        Line(
            title,
            [
                dot(source, row, of_row[place], digits, scale, f"{prefix}{title}", colour=colour, symbol=symbol)
                for row, of_row, colour, symbol in looks
            ],
        )
        for place, title in enumerate(titles)
    ]


def ends_of(lines: Sequence[Line], most: float = math.inf, *, zero: bool = False) -> tuple[float, float]:
    """Ends of an axis for all dots, their intervals and bounds, but for what is beyond `most` from 0."""
    numbers = [
        end
        for line in lines
        for dot in line.dots
        if dot is not None
        for end in (dot.value, *(dot.interval or ()), *(dot.bounds or ()))
        if abs(end) <= most
    ]
    return span(numbers, zero=zero)


def chosen_plot(
    lines: Sequence[Line], ends: tuple[float, float], title: str, levels: Mapping[float, str] | None = None
) -> DotPlot:
    """The dot plot of chosen models."""
    return DotPlot(lines, ends, title, levels or {}, share=0.34)


def note(text: str, width: float) -> Svg:
    """An image without data that says why."""
    svg = Svg(width, text)
    lines = wrapped(text, width - 16)
    for place, line in enumerate(lines):
        svg.text(8, 16 + 18 * place, line, colour=GREY)
    svg.height = 24 + 18 * len(lines)
    return svg
