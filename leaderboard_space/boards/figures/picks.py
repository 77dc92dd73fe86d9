"""Plots of picks: shares beside official ones, and how often one group is picked over another."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairspace.leaderboard_space.boards.figures.plots import Series, label
from fairspace.leaderboard_space.boards.telling import value_text
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import COLOURS, GREY, INK, finish, number, plot


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
