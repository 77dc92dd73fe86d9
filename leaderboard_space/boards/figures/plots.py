"""Plotly figures: transparent ground, so that they read on light and dark pages; names escaped by `text.plot`.

The colours are those of light pages; `assets/figures.js` exchanges each for its counterpart on dark ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairspace.leaderboard_space.boards.telling import value_text
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import COLOURS, GREY, GRID, INK, _legend, finish, number, plot
from fairspace.submissions.values import Value

MARKERS = ("circle", "diamond", "square", "cross")
DASHES = ("solid", "dash", "dot", "dashdot")
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
    """A model's name, shortened for an axis or legend."""
    return plot(shortened(plain(model), LONGEST))


def empty(text: str) -> go.Figure:
    """A figure without data that says why."""
    figure = finish(go.Figure(), 120)
    figure.add_annotation(text=plot(text), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)


def radar(names: Sequence[str], series: Sequence[Series], top: float, ring: float | None = None) -> go.Figure:
    """Radar chart from 0 at the centre to `top` at the rim; larger scores are drawn at the rim.

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
