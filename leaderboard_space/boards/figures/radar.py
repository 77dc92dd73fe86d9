"""Radar charts: the scores of up to four models on spokes around a circle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fairspace.submissions.drawing.dots import Line
from fairspace.submissions.drawing.svg import LINE, Svg, cut, legend, width_of
from fairspace.submissions.plotting import GREY, number


def radar(
    width: float,
    title: str,
    keys: Mapping[str, tuple[str, str]],
    lines: Sequence[Line],
    top: float,
    ring: float | None = None,
) -> Svg:
    """Radar chart from 0 at the centre to `top` at the rim; what is beyond stands at the rim.

    Lines are those of `by_category`. A score without a number leaves a gap; an interval, or else the bounds, lies on
    the spoke. `ring` is drawn as a dotted circle.
    """
    svg = Svg(width, title)
    begin = legend(svg, dict(keys), 4, 4, width - 8) + 22
    radius = min(170.0, 0.27 * width)
    x, y = width / 2, begin + radius
    angles = [2 * math.pi * place / len(lines) for place in range(len(lines))]

    def at(angle: float, value: float) -> tuple[float, float]:
        length = radius * min(max(value, 0.0), top) / top
        return x + length * math.sin(angle), y - length * math.cos(angle)

    for share in (0.25, 0.5, 0.75, 1.0):
        svg.path([at(math.radians(5 * step), share * top) for step in range(73)], LINE)
    if ring is not None:
        svg.path([at(math.radians(5 * step), ring) for step in range(73)], GREY, width=1.5, dash="2 4")
    for line, angle in zip(lines, angles, strict=True):
        svg.line(x, y, *at(angle, top), LINE)
        end = (x + 1.09 * radius * math.sin(angle), y - 1.09 * radius * math.cos(angle))
        anchor = "middle" if abs(math.sin(angle)) < 0.1 else "start" if math.sin(angle) > 0 else "end"
        room = width if anchor == "middle" else width - end[0] - 4 if anchor == "start" else end[0] - 4
        svg.text(*end, cut(line.name, min(room, width_of(line.name))), anchor=anchor)
    svg.text(x + 4, y - radius + 8, number(top, 0), colour=GREY, size=10.5)
    for model in range(len(keys)):
        dots = [line.dots[model] for line in lines]
        for first, second in zip(range(len(dots)), [*range(1, len(dots)), 0], strict=True):
            one, other = dots[first], dots[second]
            if one is not None and other is not None:
                svg.line(*at(angles[first], one.value), *at(angles[second], other.value), one.colour, 2)
        for point, angle in zip(dots, angles, strict=True):
            if point is None:
                continue
            with svg.mark(point.text, point.href):
                for ends, thick, opacity in ((point.bounds, 1.5, 1.0), (point.interval, 5.0, 0.45)):
                    if ends is not None:
                        low, high = at(angle, ends[0]), at(angle, ends[1])
                        svg.line(*low, *high, point.colour, thick, opacity=opacity)
                place = at(angle, point.value)
                svg.reach(place[0] - 10, place[1] - 10, 20, 20)
                svg.symbol(*place, point.colour, point.symbol)
    svg.height = y + radius + 30
    return svg
