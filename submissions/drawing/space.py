"""Pictures of several dimensions: a radar of scores around a circle, and a space of three axes with stems."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairspace.submissions.drawing.dots import SMALL, DotLine, place_labels
from fairspace.submissions.drawing.svg import LINE, Svg, cut, legend, width_of
from fairspace.submissions.plotting import GREY, number

_TURN, _RISE = math.radians(220), 0.28
"""Turn of the floor around the upright axis, and its height in the picture per unit of depth."""


def radar(
    width: float,
    title: str,
    keys: Mapping[str, tuple[str, str]],
    lines: Sequence[DotLine],
    top: float,
    ring: float,
) -> Svg:
    """Scores from 0 at the centre to `top` at the rim, where larger ones stand; one dot of each line per model.

    Thick lines on a spoke are 95 % intervals, thin ones bounds; `ring` is drawn as a dotted circle.
    """
    svg = Svg(width, title)
    begin = legend(svg, dict(keys), 4, 4, width - 8) + 22
    radius = min(170.0, 0.27 * width)
    x, y = width / 2, begin + radius
    angles = [2 * math.pi * place / len(lines) for place in range(len(lines))]

    def at(angle: float, value: float) -> tuple[float, float]:
        length = radius * min(max(value, 0.0), top) / top
        return x + length * math.sin(angle), y - length * math.cos(angle)

    circle = [math.radians(5 * step) for step in range(73)]
    for share in (0.25, 0.5, 0.75, 1.0):
        svg.path([at(angle, share * top) for angle in circle], LINE)
    svg.path([at(angle, ring) for angle in circle], GREY, width=1.5, dash="2 4")
    for line, angle in zip(lines, angles, strict=True):
        svg.line(x, y, *at(angle, top))
        side = math.sin(angle)
        end = (x + 1.09 * radius * side, y - 1.09 * radius * math.cos(angle))
        anchor = "middle" if abs(side) < 0.1 else "start" if side > 0 else "end"
        svg.text(*end, cut(line.name, width_of(line.name)), anchor=anchor)
    for value in (ring, top):
        svg.text(x + 5, at(0, value)[1] + 8, number(value, 0), colour=GREY, size=SMALL, halo=True)
    for dots in zip(*(line.dots for line in lines), strict=True):
        ends = [(dot, at(angle, dot.value)) for dot, angle in zip(dots, angles, strict=True) if dot is not None]
        for (dot, place), (_, following) in zip(ends, [*ends[1:], *ends[:1]], strict=True):
            svg.line(*place, *following, dot.colour, 2)
    for line, angle in zip(lines, angles, strict=True):
        for dot in filter(None, line.dots):
            with svg.mark(dot.text, dot.href):
                for span, thick, opacity in ((dot.bounds, 1.5, 1.0), (dot.interval, 5.0, 0.45)):
                    if span is not None:
                        svg.line(*at(angle, span[0]), *at(angle, span[1]), dot.colour, thick, opacity=opacity)
                place = at(angle, dot.value)
                svg.reach(place[0] - 10, place[1] - 10, 20, 20)
                svg.symbol(*place, dot.colour, dot.symbol)
    svg.height = y + radius + 30
    return svg


@dataclass(frozen=True)
class SpacePoint:
    """A point of a space at (across, deep, up), with a line to the floor; `text` is its label with the numbers."""

    place: tuple[float, float, float]
    name: str
    text: str
    href: str
    colour: str
    symbol: str


def space(
    width: float,
    title: str,
    stems: Sequence[SpacePoint],
    axes: tuple[str, str, str],
    reach: float,
    level: float,
    keys: Mapping[str, tuple[str, str]],
) -> Svg:
    """Three axes from 0 to `reach`, where larger numbers stand, seen from above; dotted: `level`.

    Those with the most important names come first.
    """
    svg = Svg(width, title)
    begin = legend(svg, dict(keys), 4, 4, width - 8) + 16
    size = min(width - 40, 560.0)
    middle = (width / 2, begin + 0.52 * size)

    def at(*numbers: float) -> tuple[float, float]:
        x, y, z = (min(number, reach) / reach - 0.5 for number in numbers)
        side, far = x * math.cos(_TURN) - y * math.sin(_TURN), x * math.sin(_TURN) + y * math.cos(_TURN)
        return middle[0] + 0.66 * size * side, middle[1] - size * (_RISE * far + 0.6 * z)

    for end in (0.0, level, reach):
        dash = "2 4" if end == level else ""
        for first, last in (((end, 0, 0), (end, reach, 0)), ((0, end, 0), (reach, end, 0))):
            svg.path([at(*first), at(*last)], GREY if dash or not end else LINE, dash=dash)
    svg.path([at(0, 0, 0), at(0, 0, reach)], GREY)
    for place, axis in enumerate(axes):
        unit = [float(dimension == place) for dimension in range(3)]
        mark, tip = at(*(level * part for part in unit)), at(*(reach * part for part in unit))
        svg.text(mark[0] + 6, mark[1] - 8, number(level, 0), colour=GREY, size=SMALL)
        x, y = (start + 1.1 * (end - start) for start, end in zip(at(0, 0, 0), tip, strict=True))
        room = width_of(axis) / 2
        svg.text(min(max(x, room + 4), width - room - 4), y, axis, colour=GREY, anchor="middle", bold=True)
    tops = [at(*stem.place) for stem in stems]
    names = [cut(stem.name, 0.3 * width, SMALL) for stem in stems]
    sizes = [(width_of(name, SMALL) + 2, SMALL + 3) for name in names]
    boxes = place_labels(tops, sizes, (2, begin - 12, width - 2, begin + 1.05 * size))
    for stem, (x, y), name, box in zip(stems, tops, names, boxes, strict=True):
        with svg.mark(stem.text, stem.href):
            svg.reach(x - 10, y - 10, 20, 20)
            foot = at(*stem.place[:2], 0)
            svg.line(x, y, *foot, stem.colour, 1, opacity=0.45)
            svg.symbol(*foot, stem.colour, size=1.5)
            if box is not None:
                near = min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])
                if math.dist(near, (x, y)) > 18:
                    svg.line(x, y, *near, GREY, 0.8)
                svg.text(box[0] + 1, (box[1] + box[3]) / 2, name, colour=stem.colour, size=SMALL, halo=True)
            svg.symbol(x, y, stem.colour, stem.symbol)
    svg.height = begin + 1.06 * size
    return svg
