"""The IRIS page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures import plots
from fairspace.leaderboard_space.boards.figures.figures import (
    Drawing,
    Figure,
    Place,
    Source,
    Table,
    ranking,
    value_of,
    values_table,
)
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.leaderboard_space.boards.telling import visibility
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import Slice, View, figure_of
from fairspace.metrics.iris_score.standards import ARCHETYPES, STANDARDS
from fairspace.submissions import plotting as plots_plotting
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import FAINT, number, plot
from fairspace.submissions.results.row import Row

SECTORS = {
    "IFS_Und": "IFS Und",
    "RFS_Und": "RFS Und",
    "BIS_Und": "BIS Und",
    "IFS_Gen": "IFS Gen",
    "RFS_Gen": "RFS Gen",
    "BIS_Gen": "BIS Gen",
}
COLUMNS = tuple(Column(score, header) for score, header in SECTORS.items())

HOW_TO_READ = """
**How to read this.** Six sector scores and one total; higher is better, and a score may exceed 100. *IFS* measures
whether groups are treated alike, *RFS* whether a model follows labour statistics, and *BIS* whether it departs from a
stereotype when asked to. *Und* is understanding images, *Gen* is generating them. Under `inaugural`, *RFS Und* rises
with a larger drift from these statistics, as in the paper ([E-IRIS-04](/errata#e-iris-04)). Ranks use the worst case
over the missing answers.

**What it does not show.** That a model is fair, harmless or fit for a use. Gender, age and skin tone are *perceived
presentation* of generated or staged pictures, measured with error by a classifier; they say nothing about a person.
"""

_TRAITS = "**U**topian or **H**euristic (IFS), **A**ccurate or **D**istorted (RFS), **F**lexible or **R**igid (BIS)"
LEGEND = (
    f"**Profile codes.** One letter per sector, the first if the score reaches 60: {_TRAITS}. "
    + " · ".join(f"`{code}` {name}" for code, name in ARCHETYPES.items())
    + "\n\nModels that only understand or only generate images are *partial*: they have no total and no rank. Under "
    "`inaugural`, as in the paper, *RFS Und* rewards a larger drift ([E-IRIS-04](/errata#e-iris-04)), and the total's "
    "scale is fitted to the printed totals ([E-IRIS-06](/errata#e-iris-06))."
)


TOP = 120.0
"""What is above stands at the rim of the radar."""
_BOTH: tuple[Place, ...] = ("model", "compare")
TASKS = {"Und": "Understanding", "Gen": "Generation"}
AXES = {"IFS": "Ideal fairness (IFS)", "RFS": "Real-world fidelity (RFS)", "BIS": "Steerability (BIS)"}
_COLOURS = {"Und": plots_plotting.BLUE, "Gen": plots_plotting.ORANGE}
FEW, MOST = 40, 120
"""Models that the fairness space shows, and up to how many it shows their bounds."""


def tau(standard: str) -> float:
    """The threshold of the profile code under a standard."""
    return STANDARDS[standard].tau


def caution(standard: str) -> str:
    """What must stand beside every figure and card with RFS_Und, as Markdown; '' where it need not."""
    if not STANDARDS[standard].fidelity_by_goodness:
        return ""
    return (
        f"Under `{standard}`, *RFS Und* **rewards a larger drift** from labour statistics, as in the paper: a high "
        "*RFS Und*, and the letter A for understanding, do not mean that a model follows them "
        "([E-IRIS-04](/errata#e-iris-04)). *RFS Gen* is not affected."
    )


def _beyond(rows: Sequence[Row], top: float) -> str:
    """Whose scores stand beyond the end of a figure's axis, and how large they are."""
    beyond = [
        f"{shortened(plain(row.model), 40)} {title} {number(value, 0)}"
        for row in rows
        for name, title in SECTORS.items()
        if (value := figure_of(row, name)) is not None and value > top
    ]
    return f"Beyond the end of the axis ({top:.0f}): {', '.join(beyond)}." if beyond else ""


def _sectors(rows: Sequence[Row]) -> list[plots.Series]:
    return [plots.Series(row.model, [value_of(row, name) for name in SECTORS]) for row in rows]


def _radar(source: Source) -> Drawing:
    draw = partial(plots.radar, list(SECTORS.values()), _sectors(source.chosen), TOP, tau(source.standard))
    return Drawing(draw, values_table(source.chosen, SECTORS), _beyond(source.chosen, TOP))


def _bars(source: Source) -> Drawing:
    level = tau(source.standard)
    beyond = _beyond(source.chosen, 2 * level)

    def draw() -> go.Figure:
        top = 2 * level if beyond else None
        figure = plots.bars(list(SECTORS.values()), _sectors(source.chosen), "sector score", top=top)
        return figure.add_hline(y=level, line=_DOTTED)

    return Drawing(draw, values_table(source.chosen, SECTORS), beyond)


_DOTTED = {"color": plots_plotting.GREY, "width": 1.5, "dash": "dot"}


def _in_task(row: Row, task: str) -> bool:
    return all((value := value_of(row, f"{axis}_{task}")) is not None and value.value is not None for axis in AXES)


def _space_rows(source: Source) -> tuple[list[Row], str, Table]:
    """The rows that have a place in the space for a task, what is left out, and their numbers."""
    rows, note = source.some(MOST, "space", lambda row: any(_in_task(row, task) for task in TASKS))
    return rows, note, values_table(rows, SECTORS)


def _reach(rows: Iterable[Row], scores: Sequence[str], level: float) -> tuple[float, str]:
    """Where the axes end, at most at twice the threshold and a little, and whose points stand beyond."""
    numbers = [(row, figure_of(row, name) or 0.0) for row in rows for name in scores]
    reach = min(1.05 * max([1.25 * level, *(number for _, number in numbers)]), 2.1 * level)
    beyond = list(dict.fromkeys(shortened(plain(row.model), 40) for row, number in numbers if number > reach))
    more = f" and {len(beyond) - 5} more" if len(beyond) > 5 else ""
    return reach, f"Points outside the axes: {', '.join(beyond[:5])}{more}." if beyond else ""


def _space(source: Source) -> Drawing:
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
                "symbol": [plots.SYMBOLS[visibility(row)] for row in members],
            },
            hovertemplate="%{customdata}<br>IFS %{x:.1f}, RFS %{y:.1f}, BIS %{z:.1f}<extra>" + title + "</extra>",
        )
    for row in chosen:
        if all(_in_task(row, task) for task in TASKS):
            ends = [[row.scores[f"{axis}_{task}"].value for task in TASKS] for axis in AXES]
            line = {"color": plots_plotting.GREY, "width": 4, "dash": "dash"}
            figure.add_scatter3d(
                x=ends[0], y=ends[1], z=ends[2], mode="lines", line=line, showlegend=False, hoverinfo="skip"
            )
    for axis in range(3):
        figure.add_trace(_plane(axis, level, reach))
    plots_plotting.finish(figure, 620)
    side: dict[str, object] = {
        "range": [0, reach],
        "gridcolor": plots_plotting.GRID,
        "zerolinecolor": plots_plotting.GREY,
        "color": plots_plotting.GREY,
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
        color=plots_plotting.GREY,
        opacity=0.13,
        hoverinfo="skip",
        showlegend=False,
    )


def _map(across: str, up: str) -> Callable[[Source], Drawing]:
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
                points.append(plots.Point(*here, bounds, row.entry in chosen))
        if not points:
            return Drawing(None, table, "No model has both scores under this standard.")
        level = tau(source.standard)
        names = [f"{axis}_{task}" for axis in (across, up) for task in TASKS]
        reach, beyond = _reach(rows, names, level)

        def make() -> go.Figure:
            figure = plots.scatter(points, {TASKS[task]: colour for task, colour in _COLOURS.items()}, across, up, 1)
            figure.add_hline(y=level, line=_DOTTED)
            figure.add_vline(x=level, line=_DOTTED)
            figure.update_xaxes(title=AXES[across], range=[0, reach])
            figure.update_yaxes(title=AXES[up], range=[0, reach])
            return figure.update_layout(height=480)

        return Drawing(make, table, f"{note} {beyond}".strip())

    return draw


_HOW_SECTORS = (
    "The score of each sector; higher is better. The dotted line (60) is the threshold of the profile code. Scores may "
    f"exceed 100. A score above {TOP:.0f} is drawn at the rim of the radar or beyond the end of the bars' axis, and a "
    "note gives it. Thin lines are bounds: the range that the missing samples allow. A sector without a number is left "
    "out; the table shows its state."
)
_HOW_MAP = (
    "Each point is one model in one task: blue for understanding pictures, orange for generating them. The dotted "
    "lines are the threshold of the profile code, so the four corners are the combinations of two letters. A cross "
    f"through a point shows its bounds. {plots.SIGNS}"
)
MAPS = {
    f"map-{across.lower()}-{up.lower()}": (across, up)
    for across, up in (("IFS", "RFS"), ("IFS", "BIS"), ("RFS", "BIS"))
}
_MAP_PLACES: tuple[tuple[Place, ...], ...] = (("board", "space"), ("space",), ("space",))

FIGURES = (
    Figure(
        "ranking",
        "IRIS score with its bounds",
        "One line per model, the best at the top. The point is the score from the valid samples. The line shows the "
        "worst to the best case of the missing samples; ranks use its left end.",
        ranking(lambda row: "iris_score", "IRIS score", {"": plots_plotting.BLUE}),
    ),
    Figure("radar", "Six sectors around a circle", _HOW_SECTORS, _radar, _BOTH, needs=1, caution=caution),
    Figure("sectors", "Six sectors with their bounds", _HOW_SECTORS, _bars, _BOTH, 400, needs=1, caution=caution),
    Figure(
        "space",
        "The fairness space",
        "Three dimensions: *IFS*, whether groups are treated alike; *RFS*, whether the model follows labour "
        "statistics; *BIS*, whether it departs from a stereotype when asked to. Higher scores are further from the "
        "origin. The grey planes are at the threshold and divide the space into the eight profiles. Drag to turn the "
        "figure, pinch to zoom, click the legend to hide a task. A dashed line joins the two tasks of a selected "
        "model: the longer it is, the more the model differs between understanding and generating pictures. "
        f"{plots.SIGNS}",
        _space,
        ("space",),
        620,
        solid=True,
        caution=caution,
    ),
    *(
        Figure(name, f"Map: {across} and {up}", _HOW_MAP, _map(across, up), places, 480, caution=caution)
        for (name, (across, up)), places in zip(MAPS.items(), _MAP_PLACES, strict=True)
    ),
)

VIEW = View(
    benchmark="iris",
    title="IRIS",
    how_to_read=HOW_TO_READ,
    slices={"Scores": Slice(Column("iris_score", "IRIS score"), COLUMNS)},
    labels={"profile_und": "Profile Und", "profile_gen": "Profile Gen"},
    figures=FIGURES,
    legend=LEGEND,
)
