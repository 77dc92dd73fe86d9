"""A linear axis: where a number stands, and round numbers to label it with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fairspace.submissions.drawing.svg import LINE, Svg, cut, width_of
from fairspace.submissions.plotting import GREY, number


@dataclass(frozen=True)
class Scale:
    """The numbers from `low` to `high` stand between the pixels `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a number stands; one beyond an end stands at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether the axis reaches a number."""
        return self.low <= value <= self.high

    def ticks(self, apart: float = 70.0) -> list[float]:
        """Round numbers that are about `apart` pixels from each other."""
        room = max(1.0, abs(self.end - self.start) / apart)
        step = _round_step((self.high - self.low) / room)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [place * step for place in range(first, last + 1)]

    def labels(self, apart: float = 70.0) -> list[tuple[float, str]]:
        """Pixel and text of every tick."""
        ticks = self.ticks(apart)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(self(tick), number(tick, digits)) for tick in ticks]


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= least * (1 - 1e-9))


def span(numbers: Iterable[float], *, zero: bool = False) -> tuple[float, float]:
    """The ends of an axis that holds all numbers with some room; from 0 on, or to 0, with `zero`."""
    known = [*numbers, *([0.0] if zero else [])]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    if zero and low == high == 0:
        return 0.0, 1.0
    return (low if zero and low == 0 else low - room), (high if zero and high == 0 else high + room)


def upright(svg: Svg, axis: Scale, top: float, bottom: float, title: str = "") -> float:
    """Upright lines at the ticks of a horizontal axis, with their numbers and a title below; returns where they end."""
    for x, text in axis.labels():
        svg.line(x, top, x, bottom, GREY if text == "0" and axis.low < 0 else LINE)
        svg.text(x, bottom + 12, text, colour=GREY, size=11.5, anchor="middle")
    if title:
        shown = cut(title, axis.end)
        middle = min((axis.start + axis.end) / 2, axis.end - width_of(shown) / 2)
        svg.text(middle, bottom + 30, shown, colour=GREY, anchor="middle")
    return bottom + (40 if title else 22)
