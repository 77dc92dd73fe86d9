"""Dot plots: one line per model or category, its values as dots with their intervals and bounds (Cleveland 1984).

A value beyond the end of the axis stands at that end as an arrow with its number, so that one row dwarfs no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fairspace.submissions.drawing.svg import Scale, Svg, cut, legend, upright, width_of
from fairspace.submissions.plotting import BLUE, GREY, INK

HEAD, LINE_HEIGHT, NEXT = 26.0, 24.0, 13.0
"""Pixels of a heading, of a line with one dot, and of each further dot."""
Ends = tuple[float, float] | None


@dataclass(frozen=True)
class Dot:
    """One value: `text` is its label with model and interval, `shown` the number printed beside it, '' for none.

    `interval`: 95 % interval, a thick line; `bounds`: range that the missing samples allow, a thin line.
    """

    value: float
    text: str
    shown: str = ""
    href: str = ""
    colour: str = BLUE
    symbol: str = "circle"
    interval: Ends = None
    bounds: Ends = None


@dataclass(frozen=True)
class Line:
    """One line of a plot: a model or category, below the heading `head`.

    A dot of None keeps the room of a series without a number. `reference`: number to compare the dots with, as an
    upright mark, and its name.
    """

    name: str
    dots: Sequence[Dot | None]
    head: str = ""
    reference: tuple[float, str] | None = None

    @property
    def height(self) -> float:
        """Height in pixels."""
        return LINE_HEIGHT + NEXT * max(0, len(self.dots) - 1) + (HEAD if self.head else 0)


@dataclass(frozen=True)
class DotPlot:
    """A dot plot; `ends` and `title` are of the axis, `share` is the largest part of the width for names.

    `levels`: number -> word at an upright dotted line.
    """

    lines: Sequence[Line]
    ends: tuple[float, float]
    title: str = ""
    levels: Mapping[float, str] = field(default_factory=dict)
    heading: str = ""
    share: float = 0.42

    def draw(self, svg: Svg, x: float, y: float, width: float) -> float:
        """Draw it from (x, y) on and return its lower end."""
        if self.heading:
            svg.text(x, y + 10, cut(self.heading, width), bold=True)
            y += 24
        names = [cut(line.name, self.share * width) for line in self.lines]
        left = x + max(map(width_of, names), default=0.0) + 12
        numbers = [dot.shown for line in self.lines for dot in line.dots if dot is not None]
        right = x + width - max(24.0, max((width_of(text, 11.5) for text in numbers), default=0.0) + 14)
        axis = Scale(*self.ends, left, right)
        if self.levels:
            y += 16
        bottom = y + sum(line.height for line in self.lines)
        end = upright(svg, axis, y, bottom, self.title)
        for level, word in self.levels.items():
            svg.line(axis(level), y - 2, axis(level), bottom, GREY, 1.5, "2 4")
            svg.text(axis(level), y - 10, word, colour=GREY, size=11.5, anchor="middle")
        for line, name in zip(self.lines, names, strict=True):
            if line.head:
                svg.line(x, y + 1, x + width, y + 1)
                svg.text(x, y + 14, cut(line.head, width), colour=GREY, size=11.5, bold=True, halo=True)
                y += HEAD
            height = line.height - (HEAD if line.head else 0)
            self._line(svg, line, name, axis, (x, y, left, x + width), height)
            y += height
        return end

    def _line(
        self, svg: Svg, line: Line, name: str, axis: Scale, place: tuple[float, float, float, float], height: float
    ) -> None:
        x, y, left, right = place
        middle = y + height / 2
        if len(line.dots) != 1:
            svg.text(left - 10, middle, name, anchor="end")
            svg.line(left, y + height, right, y + height)
        if line.reference is not None:
            with svg.mark(line.reference[1]):
                svg.reach(axis(line.reference[0]) - 6, y, 12, height)
                svg.symbol(axis(line.reference[0]), middle, INK, "tick", height / 4.5)
        for place_of, dot in enumerate(line.dots):
            level = middle + NEXT * (place_of - (len(line.dots) - 1) / 2)
            if dot is None:
                continue
            with svg.mark(dot.text, dot.href):
                if len(line.dots) == 1:
                    svg.reach(x, y, right - x, height)
                    svg.text(left - 10, middle, name, anchor="end")
                    svg.line(axis.start, level, axis.end, level, dash="1 4")
                else:
                    svg.reach(left, level - NEXT / 2, right - left, NEXT)
                _dot(svg, dot, axis, level)
        if not any(line.dots):
            svg.text(left + 4, middle, "no number", colour=GREY, size=11.5)


def _dot(svg: Svg, dot: Dot, axis: Scale, y: float) -> None:
    for ends, width, opacity in ((dot.bounds, 1.5, 1.0), (dot.interval, 5.0, 0.45)):
        if ends is not None and ends[1] > ends[0]:
            svg.line(axis(ends[0]), y, axis(ends[1]), y, dot.colour, width, opacity=opacity)
    kind = dot.symbol if axis.holds(dot.value) else "right" if dot.value > axis.high else "left"
    svg.symbol(axis(dot.value), y, dot.colour, kind)
    if dot.shown:
        reaches = max(axis(end) for end in (dot.value, *(dot.interval or ()), *(dot.bounds or ())))
        svg.text(reaches + 10, y, dot.shown, colour=INK if kind == dot.symbol else GREY, size=11.5, halo=True)


def dot_plots(
    width: float,
    title: str,
    plots: Sequence[DotPlot],
    keys: Mapping[str, tuple[str, str]] | None = None,
    columns: int = 1,
) -> Svg:
    """Dot plots in one image, some beside each other where there is room; `keys`: name -> colour and shape."""
    svg = Svg(width, title)
    y = legend(svg, dict(keys or {}), 4, 4, width - 8) + 4
    columns = columns if width >= 560 else 1
    room = (width - 8 - 24 * (columns - 1)) / columns
    for place in range(0, len(plots), columns):
        ends = [
            plot.draw(svg, 4 + which * (room + 24), y, room)
            for which, plot in enumerate(plots[place : place + columns])
        ]
        y = max(ends) + 8
    svg.height = y
    return svg
