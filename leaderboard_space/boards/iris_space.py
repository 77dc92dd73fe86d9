"""The fairness space of IRIS: its axes, and figures of two and three of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures import plots
from fairspace.leaderboard_space.boards.figures.figures import (
    Drawing,
    Source,
    Table,
    value_of,
    values_table,
)
from fairspace.leaderboard_space.boards.figures.scatter import SYMBOLS, Point, scatter
from fairspace.leaderboard_space.boards.telling import visibility
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import figure_of
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions import plotting
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import FAINT, plot
from fairspace.submissions.results.row import Row

SECTORS = {
    "IFS_Und": "IFS Und",
    "RFS_Und": "RFS Und",
    "BIS_Und": "BIS Und",
    "IFS_Gen": "IFS Gen",
    "RFS_Gen": "RFS Gen",
    "BIS_Gen": "BIS Gen",
}
TASKS = {"Und": "Understanding", "Gen": "Generation"}
AXES = {"IFS": "Ideal fairness (IFS)", "RFS": "Real-world fidelity (RFS)", "BIS": "Steerability (BIS)"}
_COLOURS = {"Und": plotting.BLUE, "Gen": plotting.ORANGE}
FEW, MOST = 40, 120
"""Models that the fairness space shows, and up to how many it shows their bounds."""


def tau(standard: str) -> float:
    """The threshold of the profile code under a standard."""
    return STANDARDS[standard].tau


DOTTED = {"color": plotting.GREY, "width": 1.5, "dash": "dot"}


def _in_task(row: Row, task: str) -> bool:
    return all((value := value_of(row, f"{axis}_{task}")) is not None and value.value is not None for axis in AXES)


def _space_rows(source: Source) -> tuple[list[Row], str, Table]:
    """The rows with all three scores of a task, a note on the others, and their numbers."""
    rows, note = source.some(MOST, "space", lambda row: any(_in_task(row, task) for task in TASKS))
    return rows, note, values_table(rows, SECTORS)


def _reach(rows: Iterable[Row], scores: Sequence[str], level: float) -> tuple[float, str]:
    """The end of the axes, about twice the threshold at most, and a note on the points beyond."""
    numbers = [(row, figure_of(row, name) or 0.0) for row in rows for name in scores]
    reach = min(1.05 * max([1.25 * level, *(number for _, number in numbers)]), 2.1 * level)
    beyond = list(dict.fromkeys(shortened(plain(row.model), 40) for row, number in numbers if number > reach))
    more = f" and {len(beyond) - 5} more" if len(beyond) > 5 else ""
    return reach, f"Points outside the axes: {', '.join(beyond[:5])}{more}." if beyond else ""


def draw_space(source: Source) -> Drawing:
    """Both tasks of every model in three dimensions, with the thresholds as planes."""
    rows, note, table = _space_rows(source)
    if not rows:
        return Drawing(None, table, "No model has all three scores of a task under this standard.")
    level = tau(source.standard)
    reach, beyond = _reach(rows, list(SECTORS), level)
    return Drawing(partial(_solid, rows, source.chosen, level, reach), table, f"{note} {beyond}".strip())


def _solid(rows: Sequence[Row], chosen: Sequence[Row], level: float, reach: float) -> go.Figure:
    entries = {row.entry for row in chosen}
    figure = go.Figure()
    for task, title in TASKS.items():
        members = sorted((row for row in rows if _in_task(row, task)), key=lambda row: row.provenance != "published")
        axes = [plots.Series("", [row.scores[f"{axis}_{task}"] for row in members]) for axis in AXES]
        numbers = [axis.numbers() for axis in axes]
        errors = {}
        if len(members) <= FEW:
            thin = {"thickness": 2, "width": 0, "color": FAINT}
            errors = {f"error_{name}": axis.errors() | thin for name, axis in zip("xyz", axes, strict=True)}
        figure.add_scatter3d(
            x=numbers[0],
            y=numbers[1],
            z=numbers[2],
            **errors,
            mode="markers+text" if entries else "markers",
            name=title,
            text=[plots.label(row.model) if row.entry in entries else "" for row in members],
            customdata=[f"{plot(shortened(plain(row.model), 60))} ({visibility(row)})" for row in members],
            marker={
                "size": [8 if row.entry in entries else 5 for row in members],
                "color": _COLOURS[task],
                "symbol": [SYMBOLS[visibility(row)] for row in members],
            },
            hovertemplate="%{customdata}<br>IFS %{x:.1f}, RFS %{y:.1f}, BIS %{z:.1f}<extra>" + title + "</extra>",
        )
    for row in chosen:
        if all(_in_task(row, task) for task in TASKS):
            ends = [[row.scores[f"{axis}_{task}"].value for task in TASKS] for axis in AXES]
            line = {"color": plotting.GREY, "width": 4, "dash": "dash"}
            figure.add_scatter3d(
                x=ends[0], y=ends[1], z=ends[2], mode="lines", line=line, showlegend=False, hoverinfo="skip"
            )
    for axis in range(3):
        figure.add_trace(_plane(axis, level, reach))
    plotting.finish(figure, 620)
    side: dict[str, object] = {
        "range": [0, reach],
        "gridcolor": plotting.GRID,
        "zerolinecolor": plotting.GREY,
        "color": plotting.GREY,
    }
    side |= {"showbackground": False, "tickfont": {"size": 11}}
    return figure.update_layout(
        showlegend=True,
        margin={"l": 0, "r": 0, "t": 40, "b": 0},
        scene={f"{name}axis": side | {"title": {"text": axis}} for name, axis in zip("xyz", AXES, strict=True)}
        | {
            "aspectmode": "cube",
            "camera": {"eye": {"x": 1.3, "y": -1.4, "z": 0.65}, "center": {"x": 0, "y": 0, "z": -0.12}},
        },
    )


def _plane(axis: int, level: float, reach: float) -> go.Mesh3d:
    """The square where one score is at the threshold."""
    corners = [(0.0, 0.0), (reach, 0.0), (reach, reach), (0.0, reach)]
    sides: list[list[float]] = [[], [], []]
    for first, second in corners:
        place = [first, second]
        place.insert(axis, level)
        for side, end in zip(sides, place, strict=True):
            side.append(end)
    return go.Mesh3d(
        x=sides[0],
        y=sides[1],
        z=sides[2],
        i=[0, 0],
        j=[1, 2],
        k=[2, 3],
        color=plotting.GREY,
        opacity=0.13,
        hoverinfo="skip",
        showlegend=False,
    )


def draw_map(across: str, up: str) -> Callable[[Source], Drawing]:
    """Draws two of the three dimensions."""

    def draw(source: Source) -> Drawing:
        rows, note, table = _space_rows(source)
        chosen = {row.entry for row in source.chosen}
        points = []
        for task, title in TASKS.items():
            for row in rows:
                x, y = (value_of(row, f"{axis}_{task}") for axis in (across, up))
                if x is None or y is None or x.value is None or y.value is None:
                    continue
                bounds = None
                if x.low is not None and x.high is not None and y.low is not None and y.high is not None:
                    bounds = (x.low, x.high, y.low, y.high)
                here = (row.model, visibility(row), title, x.value, y.value)
                points.append(Point(*here, bounds, row.entry in chosen))
        if not points:
            return Drawing(None, table, "No model has both scores under this standard.")
        level = tau(source.standard)
        names = [f"{axis}_{task}" for axis in (across, up) for task in TASKS]
        reach, beyond = _reach(rows, names, level)

        def make() -> go.Figure:
            figure = scatter(points, {TASKS[task]: colour for task, colour in _COLOURS.items()}, across, up, 1)
            figure.add_hline(y=level, line=DOTTED)
            figure.add_vline(x=level, line=DOTTED)
            figure.update_xaxes(title=AXES[across], range=[0, reach])
            figure.update_yaxes(title=AXES[up], range=[0, reach])
            return figure.update_layout(height=480)

        return Drawing(make, table, f"{note} {beyond}".strip())

    return draw
