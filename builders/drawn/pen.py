"""A pen that draws in units of what it draws, so that a figure is the same in every size and place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairspace.builders.drawn.palette import Colour

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Point = tuple[float, float]


class Pen:
    """Draws in units of a figure.

    Args:
        canvas: where.
        x: the point between the eyes, in pixels.
        y: the same.
        unit: distance between the eyes, in pixels.
    """

    def __init__(self, canvas: ImageDraw, x: float, y: float, unit: float) -> None:
        self.canvas, self.x, self.y, self.unit = canvas, x, y, unit

    def at(self, points: Sequence[Point]) -> list[Point]:
        """Points in pixels."""
        return [(self.x + x * self.unit, self.y + y * self.unit) for x, y in points]

    def oval(self, x: float, y: float, wide: float, high: float, fill: Colour) -> None:
        """An ellipse by its middle and half axes."""
        self.canvas.ellipse(self.at([(x - wide, y - high), (x + wide, y + high)]), fill=fill)

    def shape(self, points: Sequence[Point], fill: Colour) -> None:
        """A polygon."""
        self.canvas.polygon(self.at(points), fill=fill)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour, round_: float = 0.0) -> None:
        """A rectangle with round corners."""
        edges = self.at([(left, top), (right, bottom)])
        self.canvas.rounded_rectangle(edges, radius=round_ * self.unit, fill=fill)

    def stroke(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        """A line through points."""
        self.canvas.line(self.at(points), fill=fill, width=max(1, round(width * self.unit)), joint="curve")

    def ring(self, x: float, y: float, radius: float, fill: Colour, width: float) -> None:
        """A circle's edge."""
        edges = self.at([(x - radius, y - radius), (x + radius, y + radius)])
        self.canvas.ellipse(edges, outline=fill, width=max(1, round(width * self.unit)))
