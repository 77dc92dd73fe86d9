"""Plotly figures: transparent ground, so that they read on light and dark pages; names escaped by `text.plot`.

The colours are those of light pages; `assets/figures.js` exchanges each for its counterpart on dark ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairspace.leaderboard_space.boards.telling import value_text
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import COLOURS, FAINT, GREY, GRID, INK, _legend, finish, number, plot
from fairspace.submissions.values import Value

MARKERS = ("circle", "diamond", "square", "cross")
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = {
    "published": "circle",
    "self-reported labels or judge": "diamond-open",
    "scored here": "diamond",
    "rerun by maintainers": "square",
    "baseline": "x",
}
"""By `telling.visibility`."""
SIGNS = "● published, ◇ self-reported labels or judge, ◆ scored here, ■ rerun by maintainers, ✕ baseline."
_POINT = 1e-9
"""Bounds that are no further apart are one number."""
LONGEST = 22
"""Characters of a model's name on an axis or in a legend; hover texts show all."""


@dataclass(frozen=True)
class Series:
    """One model's values in a figure; None where there is no such value.

    Args:
        model: its name, untrusted text.
        values: in the order of the figure's categories.
        scale: what every number is multiplied by, 100 for a share in percent.
    """

    model: str
    values: Sequence[Value | None]
    scale: float = 1.0

    def numbers(self) -> list[float | None]:
        """The numbers that are drawn."""
        return [None if value is None or value.value is None else self.scale * value.value for value in self.values]

    def errors(self) -> dict[str, object]:
        """The bounds as plotly's error bars; none where a value has no bounds."""
        up: list[float | None] = []
        down: list[float | None] = []
        for value in self.values:
            middle, low, high = (None, None, None) if value is None else (value.value, value.low, value.high)
            if middle is None or low is None or high is None or high - low <= _POINT:
                up.append(None)
                down.append(None)
            else:
                up.append(self.scale * (high - middle))
                down.append(self.scale * (middle - low))
        return {"type": "data", "array": up, "arrayminus": down, "symmetric": False, "thickness": 2, "width": 0}


def label(model: str) -> str:
    """A model's name where there is little room."""
    return plot(shortened(plain(model), LONGEST))


def empty(text: str) -> go.Figure:
    """A figure without data that says why."""
    figure = finish(go.Figure(), 120)
    figure.add_annotation(text=plot(text), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)


def radar(names: Sequence[str], series: Sequence[Series], top: float, ring: float | None = None) -> go.Figure:
    """Scores around a circle, from 0 at the centre to `top` at the rim, where what is larger stands, too.

    A score without a number leaves a gap. `ring` is drawn as a dotted circle.
    """
    figure = go.Figure()
    around = [*names, names[0]]
    if ring is not None:
        figure.add_scatterpolar(
            r=[ring] * 73,
            theta=[5 * step for step in range(73)],
            thetaunit="degrees",
            mode="lines",
            line={"color": GREY, "width": 1.5, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
            subplot="polar",
        )
    angles = [360 * place / len(names) for place in range(len(names))]
    for model, colour, symbol, dash in zip(series, COLOURS, MARKERS, DASHES, strict=False):
        numbers = model.numbers()
        closed = [*numbers, numbers[0]]
        figure.add_scatterpolar(
            r=[None if n is None else max(0.0, min(n, top)) for n in closed],
            theta=[*angles, 360],
            name=label(model.model),
            customdata=[f"{name}: {number(n, 2)}" for name, n in zip(around, closed, strict=True)],
            mode="lines+markers",
            fill="toself" if None not in numbers and len(series) == 1 else "none",
            fillcolor="rgba(0, 114, 178, 0.16)",
            line={"color": colour, "width": 2.2, "dash": dash},
            marker={"size": 8, "symbol": symbol},
            connectgaps=False,
            hovertemplate="%{customdata}<extra>" + plot(shortened(plain(model.model), 60)) + "</extra>",
        )
    figure = finish(figure, 440)
    figure.update_layout(
        showlegend=len(series) > 1,
        margin={"l": 64, "r": 64, "t": 84 if len(series) > 1 else 40, "b": 36},
        legend=_legend() | {"y": 1.12},
        polar={
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": {"range": [0, top], "gridcolor": GRID, "linecolor": GRID, "angle": 90, "nticks": 5}
            | {"tickangle": 90, "tickfont": {"size": 11}},
            "angularaxis": {"gridcolor": GRID, "linecolor": GRID, "tickvals": angles, "ticktext": list(names)}
            | {"rotation": 90, "direction": "clockwise"},
        },
    )
    return figure


def bars(
    names: Sequence[str],
    series: Sequence[Series],
    title: str,
    digits: int = 2,
    top: float | None = None,
    height: int = 400,
) -> go.Figure:
    """Grouped bars with their bounds: one group per name, one bar per model; no bar where there is no number.

    `top` is the largest number that there can be, where there is one.
    """
    figure = go.Figure()
    for model, colour in zip(series, COLOURS, strict=False):
        figure.add_bar(
            x=list(names),
            y=model.numbers(),
            name=label(model.model),
            marker={"color": colour},
            error_y=model.errors() | {"color": INK},
            customdata=[value_text(value, digits, model.scale) for value in model.values],
            hovertemplate="%{x}: %{customdata}<extra>" + plot(shortened(plain(model.model), 60)) + "</extra>",
        )
    figure = finish(figure, height)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=True)
    figure.update_xaxes(showgrid=False, automargin=True, tickangle=-35 if len(names) > 8 else None)
    if top is not None:
        figure.update_yaxes(range=[0, 1.04 * top])
    return figure.update_yaxes(title=title, automargin=True)


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


def ranges_height(rows: int) -> int:
    """Of `ranges`, in pixels."""
    return 100 + 24 * max(rows, 2)


def ranges(rows: Sequence[tuple[str, Value, str]], groups: Mapping[str, str], title: str, scale: float) -> go.Figure:
    """One line per model, best first: its value as a point in the range of its bounds, coloured by group.

    Args:
        rows: model, value and group, from the top.
        groups: group -> colour.
        title: of the axis.
        scale: what every number is multiplied by.
    """
    figure = go.Figure()
    for group, colour in groups.items():
        members = [(place, model, value) for place, (model, value, of) in enumerate(rows) if of == group]
        if not members:
            continue
        series = Series("", [value for _, _, value in members], scale)
        figure.add_scatter(
            x=series.numbers(),
            y=[place for place, _, _ in members],
            error_x=series.errors() | {"color": colour},
            mode="markers",
            name=group,
            marker={"color": colour, "size": 9},
            customdata=[
                f"{plot(shortened(plain(model), 60))}: {value_text(value, 3, scale)}" for _, model, value in members
            ],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    figure = finish(figure, ranges_height(len(rows)))
    figure.update_xaxes(title=title, side="bottom")
    figure.update_layout(showlegend=len(groups) > 1, legend=_legend() | {"y": 1.0, "yanchor": "bottom"})
    names = [label(model) for model, _, _ in rows]
    return figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=names, range=[len(rows) - 0.4, -0.6], automargin=True, zeroline=False
    )


def shares_height(names: int, series: int) -> int:
    """Of `shares`, in pixels."""
    return 110 + names * (26 + 12 * max(series, 1))


def shares(names: Sequence[str], series: Sequence[Series], official: Sequence[float | None], title: str) -> go.Figure:
    """Horizontal bars in percent, one group per name from the top, with the official share as an upright line."""
    figure = go.Figure()
    places = list(range(len(names)))
    for model, colour in zip(series, COLOURS, strict=False):
        figure.add_bar(
            y=places,
            x=model.numbers(),
            orientation="h",
            name=label(model.model),
            marker={"color": colour},
            error_x=model.errors() | {"color": INK},
            customdata=[f"{n}: {value_text(v, 1, model.scale)} %" for n, v in zip(names, model.values, strict=True)],
            hovertemplate="%{customdata}<extra>" + plot(shortened(plain(model.model), 60)) + "</extra>",
        )
    figure.add_scatter(
        y=places,
        x=list(official),
        mode="markers",
        name="official share",
        marker={"symbol": "line-ns-open", "size": 24, "color": INK, "line": {"width": 3, "color": INK}},
        customdata=list(names),
        hovertemplate="%{customdata}: %{x:.1f} %<extra>official share</extra>",
    )
    figure = finish(figure, shares_height(len(names), len(series)))
    figure.update_layout(barmode="group", bargap=0.3)
    figure.update_xaxes(title=title, range=[0, 103])
    return figure.update_yaxes(
        tickvals=places,
        ticktext=list(names),
        range=[len(names) - 0.5, -0.5],
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


Matrix = Sequence[Sequence[float | None]]


def matrices_height(count: int, columns: int) -> int:
    """Of `matrices`, in pixels."""
    return 70 + 310 * -(-count // columns)


def matrices(titles: Sequence[str], groups: Sequence[str], values: Sequence[Matrix | None], columns: int) -> go.Figure:
    """Square tables of shares in colour, `columns` of them beside each other; a cell without a number stays empty.

    Titles are lines of escaped text.
    """
    rows = -(-len(values) // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=list(titles),
        vertical_spacing=0.3 / rows,
        horizontal_spacing=0.06,
        shared_yaxes=True,
    )
    for place, matrix in enumerate(values):
        if matrix is None:
            continue
        percent = [[None if x is None else 100 * x for x in line] for line in matrix]
        texts = [["" if x is None else number(x, 0) for x in line] for line in percent]
        figure.add_heatmap(
            z=percent,
            x=list(groups),
            y=list(groups),
            text=texts,
            texttemplate="%{text}",
            zmin=0,
            zmax=100,
            # Both ends carry white text, the middle black: plotly chooses by the cell's own colour.
            colorscale=[[0, "#1d4a73"], [0.5, "#f1f2ef"], [1, "#8a3b0a"]],
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{y} picked over %{x}: %{z:.1f} %<extra></extra>",
            row=place // columns + 1,
            col=place % columns + 1,
        )
    figure = finish(figure, matrices_height(len(values), columns))
    figure.update_annotations(font={"size": 13, "color": GREY})
    figure.update_xaxes(showgrid=False, zeroline=False)
    return figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, automargin=True)


def panels(titles: Sequence[str], names: Sequence[str], series: Sequence[Sequence[Series]], columns: int) -> go.Figure:
    """One small plot per title: the models' values with their bounds, side by side for every name.

    Args:
        titles: of the plots.
        names: the categories of each plot.
        series: per plot, one series per model.
        columns: plots beside each other.
    """
    rows = -(-len(titles) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=list(titles), vertical_spacing=0.32 / rows, horizontal_spacing=0.12
    )
    for place, models in enumerate(series):
        for which, (model, colour, symbol) in enumerate(zip(models, COLOURS, MARKERS, strict=False)):
            shift = 0.16 * (which - (len(models) - 1) / 2)
            figure.add_scatter(
                x=[spot + shift for spot in range(len(names))],
                y=model.numbers(),
                error_y=model.errors() | {"color": colour},
                mode="markers",
                name=label(model.model),
                legendgroup=str(which),
                showlegend=place == 0,
                marker={"color": colour, "size": 9, "symbol": symbol},
                customdata=[f"{n}: {value_text(v, 3, model.scale)}" for n, v in zip(names, model.values, strict=True)],
                hovertemplate="%{customdata}<extra>" + plot(shortened(plain(model.model), 60)) + "</extra>",
                row=place // columns + 1,
                col=place % columns + 1,
            )
    figure = finish(figure, 90 + 190 * rows)
    figure.update_layout(legend=_legend() | {"y": 1.04}, margin={"l": 44, "r": 12, "t": 84, "b": 40})
    figure.update_annotations(font={"size": 12.5, "color": GREY})
    figure.update_xaxes(tickvals=list(range(len(names))), ticktext=list(names), range=[-0.6, len(names) - 0.4])
    figure.update_xaxes(showgrid=False, zeroline=False)
    return figure.update_yaxes(zeroline=True, zerolinewidth=1.5, automargin=True, nticks=5)
