"""Dot plots (a line of values with intervals and bounds per model or category; Cleveland 1984), and maps of points.

A value beyond the end of the axis stands at that end as an arrow with its number, so that one row dwarfs no other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fairspace.submissions.drawing.svg import Axis, Svg, cut, legend, upright, width_of
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
class DotLine:
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

    lines: Sequence[DotLine]
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
        axis = Axis(*self.ends, left, right)
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
        self, svg: Svg, line: DotLine, name: str, axis: Axis, place: tuple[float, float, float, float], height: float
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


def _dot(svg: Svg, dot: Dot, axis: Axis, y: float) -> None:
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


# Maps: a name stands as near to its point as it can without covering a point, a name or the frame.

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
_TURNS = (0, 180, 90, 270, 35, -35, 145, -145, 65, -65, 115, -115)
"""Directions in degrees, in order of preference: right, left, below, above, between."""
_DISTANCES = (9.0, 18.0, 30.0, 46.0, 64.0, 84.0)


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    blocked: Sequence[Box] = (),
) -> list[Box | None]:
    """A box for each name inside `frame` and outside `blocked`, None where there is none; earlier names first."""
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    taken += blocked
    places: list[Box | None] = []
    for number, (point, size) in enumerate(zip(points, sizes, strict=True)):
        others = taken[:number] + taken[number + 1 :]
        boxes = (_box(point, size, distance, turn) for distance in _DISTANCES for turn in _TURNS)
        places.append(next((box for box in boxes if _fits(box, frame, others)), None))
        taken += [place for place in places[-1:] if place is not None]
    return places


def _box(point: tuple[float, float], size: tuple[float, float], distance: float, turn: float) -> Box:
    across, down = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    left = point[0] + distance * across - size[0] * (1 - across) / 2
    top = point[1] + distance * down - size[1] * (1 - down) / 2
    return left, top, left + size[0], top + size[1]


def _fits(box: Box, frame: Box, taken: Sequence[Box]) -> bool:
    inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
    meets = (box[0] < far[2] and far[0] < box[2] and box[1] < far[3] and far[1] < box[3] for far in taken)
    return inside and not any(meets)


SMALL = 11.5
"""Size of the names, in pixels."""


@dataclass(frozen=True)
class Point:
    """One model's point: `name` beside it where there is room, and `text`, the label with both numbers.

    `x_ends`, `y_ends`: bounds, thin lines; `x_interval`, `y_interval`: 95 % intervals, thick lines.
    """

    x: float
    y: float
    name: str
    text: str
    href: str
    colour: str
    symbol: str = "circle"
    x_ends: Ends = None
    y_ends: Ends = None
    x_interval: Ends = None
    y_interval: Ends = None


@dataclass(frozen=True)
class Map:
    """A plane with points, those with the most important names first; points beyond a span stand at its end as arrows.

    `levels`: dotted lines across and up at (x, y), None for none; `corners`: texts in the four corners, from the upper
    left in the direction of reading; `keys`: name -> colour and shape; `x_ticks`: number -> label, for other axes.
    """

    points: Sequence[Point]
    x_title: str
    y_title: str
    x_span: tuple[float, float]
    y_span: tuple[float, float]
    curve: Sequence[tuple[float, float]] = ()
    levels: tuple[float | None, float | None] = (None, None)
    corners: Sequence[str] = ()
    keys: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    x_ticks: Mapping[float, str] = field(default_factory=dict)

    def draw(self, width: float, title: str) -> Svg:
        """The map."""
        svg = Svg(width, title)
        top = legend(svg, dict(self.keys), 4, 4, width - 8) + 10
        left, right = 52.0, width - 12
        bottom = top + min(520.0, max(380.0, 0.75 * (right - left)))
        across, up = Axis(*self.x_span, left, right), Axis(*self.y_span, bottom, top)
        corners = self._frame(svg, across, up)
        places = [(across(point.x), up(point.y)) for point in self.points]
        for point, place in zip(self.points, places, strict=True):
            _crosses(svg, point, place, across, up)
        names = heaped(places, [cut(point.name, 0.32 * (right - left), SMALL) for point in self.points])
        sizes = [(width_of(name, SMALL) + 2, SMALL + 3) for name in names]
        boxes = place_labels(places, sizes, (left + 2, top + 2, right - 2, bottom - 2), corners)
        for point, (x, y), name, box in zip(self.points, places, names, boxes, strict=True):
            with svg.mark(point.text, point.href):
                svg.reach(x - 10, y - 10, 20, 20)
                if box is not None and name:
                    near = min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])
                    if math.dist(near, (x, y)) > _DISTANCES[1]:
                        svg.line(x, y, *near, GREY, 0.8)
                    svg.text(box[0] + 1, (box[1] + box[3]) / 2, name, colour=point.colour, size=SMALL, halo=True)
                inside = across.holds(point.x) and up.holds(point.y)
                arrow = "right" if not across.holds(point.x) else "up"
                svg.symbol(x, y, point.colour, point.symbol if inside else arrow)
        svg.height = bottom + 44
        return svg

    def _frame(self, svg: Svg, across: Axis, up: Axis) -> list[Box]:
        left, right, bottom, top = across.start, across.end, up.start, up.end
        ticks = [(across(x), text) for x, text in self.x_ticks.items() if across.holds(x)] or across.labels()
        for x, text in ticks:
            svg.line(x, top, x, bottom)
            svg.text(x, bottom + 12, text, colour=GREY, size=SMALL, anchor="middle")
        for y, text in up.labels(50):
            svg.line(left, y, right, y)
            svg.text(left - 6, y, text, colour=GREY, size=SMALL, anchor="end")
        svg.text((left + right) / 2, bottom + 32, self.x_title, colour=GREY, anchor="middle")
        svg.text(8, (top + bottom) / 2, self.y_title, colour=GREY, anchor="middle", turned=True)
        for x in [level for level in self.levels[:1] if level is not None]:
            svg.line(across(x), top, across(x), bottom, GREY, 1.5, "2 4")
        for y in [level for level in self.levels[1:] if level is not None]:
            svg.line(left, up(y), right, up(y), GREY, 1.5, "2 4")
        if self.curve:
            svg.path([(across(x), up(y)) for x, y in self.curve], GREY, width=2, dash="2 4")
        boxes = []
        for place, text in enumerate(self.corners):
            x, anchor = (right - 6, "end") if place % 2 else (left + 6, "start")
            y, room = bottom - 10 if place > 1 else top + 10, width_of(text, SMALL)
            svg.text(x, y, text, colour=GREY, size=SMALL, anchor=anchor)
            begin = x - room if place % 2 else x
            boxes.append((begin, y - SMALL / 2, begin + room, y + SMALL / 2))
        return boxes


_HEAP = 7.0
"""Points that are nearer to each other than this, in pixels, lie in one heap."""


def heaped(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[str]:
    """The names at points; of three or more in a heap the first, with the number of the others, and '' for these."""
    heaps: list[list[int]] = []
    for number, place in enumerate(places):
        near = (heap for heap in heaps if math.dist(places[heap[0]], place) < _HEAP)
        heap = next(near, None)
        if heap is None:
            heaps.append([number])
        else:
            heap.append(number)
    shown = list(names)
    for first, *others in heaps:
        if len(others) > 1:
            shown[first] = f"{names[first]} and {len(others)} more"
            for other in others:
                shown[other] = ""
    return shown


def _crosses(svg: Svg, point: Point, place: tuple[float, float], across: Axis, up: Axis) -> None:
    x, y = place
    for ends, width, opacity in ((point.x_ends, 1.0, 0.5), (point.x_interval, 4.0, 0.3)):
        if ends is not None and ends[1] > ends[0]:
            svg.line(across(ends[0]), y, across(ends[1]), y, point.colour, width, opacity=opacity)
    for ends, width, opacity in ((point.y_ends, 1.0, 0.5), (point.y_interval, 4.0, 0.3)):
        if ends is not None and ends[1] > ends[0]:
            svg.line(x, up(ends[0]), x, up(ends[1]), point.colour, width, opacity=opacity)
