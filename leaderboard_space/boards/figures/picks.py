"""Tables of picks in colour: how often one group is picked over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.submissions.drawing.svg import Svg, cut
from fairspace.submissions.plotting import GREY, number

SIDE = 46.0
"""Pixels of a cell at most."""
_LOW, _MIDDLE, _HIGH = (29, 74, 115), (241, 242, 239), (138, 59, 10)


@dataclass(frozen=True)
class Matrix:
    """Shares from 0 to 1 by the groups of rows and columns; None without a number.

    Args:
        title: of the table.
        model: whose shares they are.
        href: where a click leads.
        shares: one list per row.
    """

    title: str
    model: str
    href: str
    shares: Sequence[Sequence[float | None]]


def matrices(groups: Sequence[str], tables: Sequence[Matrix], title: str, width: float) -> Svg:
    """Square tables, two beside each other where there is room; a cell without a number stays empty."""
    svg = Svg(width, title)
    columns = 2 if width >= 560 else 1
    room = (width - 16) / columns
    left = 86.0
    side = min(SIDE, (room - left - 12) / len(groups))
    height = 70 + side * len(groups)
    for place, table in enumerate(tables):
        x, y = 4 + place % columns * room, 4 + place // columns * height
        svg.text(x, y + 10, cut(f"{table.model}: {table.title}", room - 12), bold=True)
        for column, group in enumerate(groups):
            svg.text(x + left + (column + 0.5) * side, y + 34, cut(group, side - 2, 11), size=11, anchor="middle")
        for line, (group, shares) in enumerate(zip(groups, table.shares, strict=True)):
            top = y + 44 + line * side
            svg.text(x + left - 8, top + side / 2, cut(group, left - 8, 11), size=11, anchor="end", colour=GREY)
            for column, share in enumerate(shares):
                if share is None:
                    continue
                text = f"{table.model}, {table.title}: {group} picked over {groups[column]}: {number(100 * share, 1)} %"
                with svg.mark(text, table.href):
                    svg.box(x + left + column * side + 1, top + 1, side - 2, side - 2, _colour(share))
                    ink = "#fffffe" if abs(share - 0.5) > 0.2 else "#1c2128"
                    middle = x + left + (column + 0.5) * side
                    svg.text(middle, top + side / 2, number(100 * share, 0), colour=ink, size=11.5, anchor="middle")
    svg.height = 8 + height * -(-len(tables) // columns)
    return svg


def _colour(share: float) -> str:
    """Blue below one half, orange above; the same on light and dark pages, as its number is."""
    end = _LOW if share < 0.5 else _HIGH
    depth = min(1.0, abs(share - 0.5) / 0.5)
    parts = [round(middle + depth * (value - middle)) for middle, value in zip(_MIDDLE, end, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in parts)
