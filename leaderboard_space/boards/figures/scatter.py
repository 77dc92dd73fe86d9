"""Scatter plots: one point per model, with its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures.plots import label
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import FAINT, finish, plot

SYMBOLS = {
    "published": "circle",
    "self-reported labels or judge": "diamond-open",
    "scored here": "diamond",
    "rerun by maintainers": "square",
    "baseline": "x",
}
"""By `telling.visibility`."""


SIGNS = "● published, ◇ self-reported labels or judge, ◆ scored here, ■ rerun by maintainers, ✕ baseline."


@dataclass(frozen=True)
class Point:
    """One model's point in a plane.

    Args:
        model: its name, untrusted text.
        visibility: decides the symbol, one of `SYMBOLS`.
        group: decides the colour; the entry of the legend.
        x, y: where it stands.
        bounds: lowest and highest x, lowest and highest y; None where there are none.
        chosen: whether its name is written beside it.
    """

    model: str
    visibility: str
    group: str
    x: float
    y: float
    bounds: tuple[float, float, float, float] | None = None
    chosen: bool = False


def scatter(points: Sequence[Point], colours: Mapping[str, str], x: str, y: str, digits: int = 2) -> go.Figure:
    """Points in a plane, coloured by group, with their bounds as thin crosses."""
    figure = go.Figure()
    widest = max((point.x for point in points), default=0.0)
    for (group, colour), side in zip(colours.items(), cycle(("top center", "bottom center")), strict=False):
        members = [point for point in points if point.group == group]
        members.sort(key=lambda point: point.visibility != "published")  # the first one's symbol stands in the legend
        if not members:
            continue
        bounds = [p.bounds or (p.x, p.x, p.y, p.y) for p in members]
        errors = {"type": "data", "symmetric": False, "thickness": 1, "width": 0, "color": FAINT}
        figure.add_scatter(
            x=[p.x for p in members],
            y=[p.y for p in members],
            error_x=errors
            | {
                "array": [b[1] - p.x for p, b in zip(members, bounds, strict=True)],
                "arrayminus": [p.x - b[0] for p, b in zip(members, bounds, strict=True)],
            },
            error_y=errors
            | {
                "array": [b[3] - p.y for p, b in zip(members, bounds, strict=True)],
                "arrayminus": [p.y - b[2] for p, b in zip(members, bounds, strict=True)],
            },
            mode="markers+text" if any(p.chosen for p in members) else "markers",
            cliponaxis=False,
            name=group,
            text=[label(p.model) if p.chosen else "" for p in members],
            textposition=[side if p.x < 0.8 * widest else "middle left" for p in members],
            customdata=[f"{plot(shortened(plain(p.model), 60))} ({p.visibility})" for p in members],
            marker={
                "color": colour,
                "size": [13 if p.chosen else 9 for p in members],
                "symbol": [SYMBOLS[p.visibility] for p in members],
                "line": {"width": 1, "color": "rgba(255,255,255,0.7)"},
            },
            hovertemplate=f"%{{customdata}}<br>{x} %{{x:.{digits}f}}, {y} %{{y:.{digits}f}}<extra>{group}</extra>",
        )
    figure = finish(figure, 440)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title=x)
    return figure.update_yaxes(title=y)
