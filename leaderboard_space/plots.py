"""Plotly figures: transparent ground, so that they read on light and dark pages; names escaped by `text.plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from leaderboard_space.text import number, plain, plot, shortened

GREY = "#8a8f98"
GRID = "rgba(138, 143, 152, 0.28)"
# Okabe and Ito's colours, told apart with every kind of colour vision.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SYMBOLS = {"published": "circle", "scored here": "diamond", "baseline": "x"}


def _finish(figure: go.Figure, height: int) -> go.Figure:
    figure.update_layout(
        height=height,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13, "color": GREY},
        margin={"l": 56, "r": 24, "t": 56, "b": 56},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.06, "x": 0, "xanchor": "left"},
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=GREY, linecolor=GRID)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GREY, linecolor=GRID)
    return figure


def radar(scores: Mapping[str, float | None], top: float) -> go.Figure:
    """Scores around a circle, from 0 at the centre to `top` at the rim, where what is larger stands, too.

    A score without a number leaves a gap.
    """
    names = [*scores, next(iter(scores))]
    values = [scores[name] for name in names]
    drawn = [None if value is None else min(value, top) for value in values]
    trace = go.Scatterpolar(
        r=drawn,
        theta=names,
        customdata=[number(value, 2) for value in values],
        mode="lines+markers",
        fill="toself" if None not in values else "none",
        fillcolor="rgba(0, 114, 178, 0.20)",
        line={"color": BLUE, "width": 2},
        marker={"size": 7},
        connectgaps=False,
        hovertemplate="%{theta}: %{customdata}<extra></extra>",
    )
    figure = _finish(go.Figure(trace), 420)
    figure.update_layout(
        showlegend=False,
        margin={"l": 72, "r": 72, "t": 40, "b": 40},
        polar={
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": {
                "range": [0, top],
                "gridcolor": GRID,
                "linecolor": GRID,
                "tickfont": {"size": 11},
                "angle": 90,
                "tickangle": 90,
                "nticks": 5,
            },
            "angularaxis": {"gridcolor": GRID, "linecolor": GRID},
        },
    )
    return figure


@dataclass(frozen=True)
class Point:
    """One point of the trade-off plot: `group` is its colour's legend entry."""

    model: str
    provenance: str
    group: str
    x: float
    y: float


def tradeoff(points: Sequence[Point], curve: Sequence[tuple[float, float]], colours: Mapping[str, str]) -> go.Figure:
    """S_fact (across) against S_E (up), in percent, with the bound that no answerer can pass."""
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in curve],
            y=[y for _, y in curve],
            mode="lines",
            name="bound",
            line={"color": GREY, "width": 2, "dash": "dot"},
            hoverinfo="skip",
        )
    )
    for group, colour in colours.items():
        chosen = [p for p in points if p.group == group]
        figure.add_trace(
            go.Scatter(
                x=[p.x for p in chosen],
                y=[p.y for p in chosen],
                mode="markers",
                cliponaxis=False,
                name=group,
                text=[f"{plot(p.model)} ({p.provenance})" for p in chosen],
                marker={
                    "color": colour,
                    "size": 10,
                    "symbol": [SYMBOLS[p.provenance] for p in chosen],
                    "line": {"width": 1, "color": "rgba(255,255,255,0.7)"},
                },
                hovertemplate="%{text}<br>S_fact %{x:.2f}, S_E %{y:.2f}<extra>" + group + "</extra>",
            )
        )
    figure = _finish(figure, 400)
    figure.update_xaxes(title="S_fact, %", range=[0, 102])
    figure.update_yaxes(title="S_E, %", range=[0, 106])
    return figure


def bars(names: Sequence[str], series: Mapping[str, Sequence[float | None]], title: str, top: float) -> go.Figure:
    """Grouped bars: one group per name, one bar per series; no bar where there is no number."""
    figure = go.Figure()
    labels = [plot(name) for name in names]
    for (name, values), colour in zip(series.items(), (BLUE, ORANGE, GREEN, PURPLE), strict=False):
        figure.add_trace(
            go.Bar(
                x=list(range(len(labels))),
                y=list(values),
                name=name,
                marker={"color": colour},
                customdata=labels,
                hovertemplate="%{customdata}: %{y:.4f}<extra>" + name + "</extra>",
            )
        )
    figure = _finish(figure, 380)
    short = [plot(shortened(plain(name), 22)) for name in names]
    figure.update_xaxes(tickvals=list(range(len(labels))), ticktext=short, automargin=True, tickangle=-30)
    figure.update_xaxes(showgrid=False, zeroline=False, ticklabeloverflow="allow")
    figure.update_yaxes(title=title, range=[0, 1.02 * top], dtick=0.1)
    return figure


def diverging(scores: Mapping[str, float | None]) -> go.Figure:
    """Signed scores as bars to the left (female-favouring) and the right (male-favouring), sign printed on each."""
    names = list(scores)[::-1]
    values = [scores[name] for name in names]
    trace = go.Bar(
        x=values,
        y=names,
        orientation="h",
        marker={"color": [ORANGE if (v or 0) > 0 else BLUE for v in values]},
        text=[number(v, 3, signed=True) for v in values],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    figure = _finish(go.Figure(trace), 420)
    reach = 1.25 * max((abs(v) for v in values if v is not None), default=1.0) or 1.0
    figure.update_xaxes(title="female-favouring  ←  0  →  male-favouring", range=[-reach, reach])
    figure.update_layout(showlegend=False)
    return figure
