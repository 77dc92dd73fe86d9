"""The fairness space of IRIS: its axes, and figures of two and three of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from fairspace.leaderboard_space.boards.figures.figures import (
    Drawing,
    Source,
    Table,
    value_of,
    values_table,
)
from fairspace.leaderboard_space.boards.figures.plots import SYMBOLS, bounds_of, interval_of, told
from fairspace.leaderboard_space.boards.telling import visibility
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import figure_of
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions import plotting
from fairspace.submissions.drawing.labels import place_labels
from fairspace.submissions.drawing.points import SMALL, Map, Point
from fairspace.submissions.drawing.svg import Svg, cut, legend, width_of
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import GREY
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors

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
MOST = 60
"""Models that the fairness space shows."""
_KEYS = {TASKS[task]: (colour, "circle") for task, colour in _COLOURS.items()}


def tau(standard: str) -> float:
    """The threshold of the profile code under a standard."""
    return STANDARDS[standard].tau


def _in_task(row: Row, task: str) -> bool:
    return all((value := value_of(row, f"{axis}_{task}")) is not None and value.value is not None for axis in AXES)


def _space_rows(source: Source) -> tuple[list[Row], str, Table]:
    """The rows with all three scores of a task, a note on the others, and their numbers."""
    rows, note = source.some(MOST, "space", lambda row: any(_in_task(row, task) for task in TASKS))
    return with_errors(rows, source.standard), note, values_table(rows, SECTORS)


def _reach(rows: Iterable[Row], scores: Sequence[str], level: float) -> tuple[float, str]:
    """The end of the axes, about twice the threshold at most, and a note on the points beyond."""
    numbers = [(row, figure_of(row, name) or 0.0) for row in rows for name in scores]
    reach = min(1.05 * max([1.25 * level, *(number for _, number in numbers)]), 2.1 * level)
    beyond = list(dict.fromkeys(shortened(plain(row.model), 40) for row, number in numbers if number > reach))
    more = f" and {len(beyond) - 5} more" if len(beyond) > 5 else ""
    return reach, f"Drawn as arrows at the end of an axis: {', '.join(beyond[:5])}{more}." if beyond else ""


def draw_map(across: str, up: str) -> Callable[[Source], Drawing]:
    """Draws two of the three dimensions."""

    def draw(source: Source) -> Drawing:
        rows, note, table = _space_rows(source)
        chosen = {row.entry for row in source.chosen}
        points = []
        for task in TASKS:
            for row in rows:
                x, y = (value_of(row, f"{axis}_{task}") for axis in (across, up))
                if x is None or y is None or x.value is None or y.value is None:
                    continue
                ends = (bounds_of(x), bounds_of(y), interval_of(x), interval_of(y))
                text = f"{_named(row, task)}: {across} {told(row, x, 1)}; {up} {told(row, y, 1)}"
                look = (_COLOURS[task], SYMBOLS[visibility(row)])
                point = Point(x.value, y.value, plain(row.model), text, source.href(row), *look, *ends)
                points.append((row.entry not in chosen, row.provenance == "baseline", point))
        if not points:
            return Drawing(None, table, "No model has both scores under this standard.")
        level = tau(source.standard)
        reach, beyond = _reach(rows, [f"{axis}_{task}" for axis in (across, up) for task in TASKS], level)
        ordered = [point for *_, point in sorted(points, key=lambda entry: entry[:2])]
        corners = _corners(across, up)
        plane = Map(ordered, AXES[across], AXES[up], (0, reach), (0, reach), (), (level, level), corners, _KEYS)
        return Drawing(partial(plane.draw, title=f"{AXES[across]} and {AXES[up]}"), table, f"{note} {beyond}".strip())

    return draw


_LETTERS = {"IFS": ("Utopian", "Heuristic"), "RFS": ("Accurate", "Distorted"), "BIS": ("Flexible", "Rigid")}


def _corners(across: str, up: str) -> tuple[str, ...]:
    """The letters of the profile code in the four corners, in the direction of reading."""
    (right, left), (above, below) = _LETTERS[across], _LETTERS[up]
    return (f"{left}, {above}", f"{right}, {above}", f"{left}, {below}", f"{right}, {below}")


def _named(row: Row, task: str) -> str:
    return f"{shortened(plain(row.model), 60)}, {TASKS[task].lower()}"


def draw_space(source: Source) -> Drawing:
    """Both tasks of every model in three dimensions, each with a stem to the floor, where IFS and RFS meet."""
    rows, note, table = _space_rows(source)
    if not rows:
        return Drawing(None, table, "No model has all three scores of a task under this standard.")
    reach, beyond = _reach(rows, list(SECTORS), tau(source.standard))
    return Drawing(partial(_solid, source, rows, reach), table, f"{note} {beyond}".strip())


def _solid(source: Source, rows: Sequence[Row], reach: float, width: float) -> Svg:
    svg = Svg(width, "The fairness space in three dimensions")
    begin = legend(svg, _KEYS, 4, 4, width - 8) + 16
    size = min(width - 40, 560.0)
    turn, level = math.radians(220 + source.turn), tau(source.standard)
    middle = (width / 2, begin + 0.52 * size)

    def at(ifs: float, rfs: float, bis: float) -> tuple[float, float]:
        """Where a point stands: turned around the upright axis and seen from 25 degrees above."""
        x, y, z = (min(number, reach) / reach - 0.5 for number in (ifs, rfs, bis))
        far = x * math.sin(turn) + y * math.cos(turn)
        side = x * math.cos(turn) - y * math.sin(turn)
        return middle[0] + 0.66 * size * side, middle[1] - size * (0.28 * far + 0.6 * z)

    for end in (0.0, level, reach):
        dash = "2 4" if end == level else ""
        svg.path([at(end, 0, 0), at(end, reach, 0)], GREY, dash=dash, opacity=0.5)
        svg.path([at(0, end, 0), at(reach, end, 0)], GREY, dash=dash, opacity=0.5)
    svg.path([at(0, 0, 0), at(0, 0, reach)], GREY)
    for place, axis in zip((at(1.12 * reach, 0, 0), at(0, 1.12 * reach, 0), at(0, 0, 1.1 * reach)), AXES, strict=True):
        svg.text(min(max(place[0], 20), width - 20), place[1], axis, colour=GREY, anchor="middle", bold=True)
    chosen = {row.entry for row in source.chosen}
    points = []
    for task in TASKS:
        for row in rows:
            if _in_task(row, task):
                values = [row.scores[f"{axis}_{task}"] for axis in AXES]
                points.append((row.entry not in chosen, row.provenance == "baseline", task, row, values))
    points.sort(key=lambda entry: entry[:2])
    tops = [at(*(value.value or 0.0 for value in values)) for *_, values in points]
    names = [cut(plain(row.model), 0.3 * width, SMALL) for *_, row, _ in points]
    sizes = [(width_of(name, SMALL) + 2, SMALL + 3) for name in names]
    boxes = place_labels(tops, sizes, (2, begin - 12, width - 2, begin + 1.05 * size))
    for (_, _, task, row, values), (x, y), name, box in zip(points, tops, names, boxes, strict=True):
        numbers = [value.value or 0.0 for value in values]
        text = "; ".join(f"{axis} {told(row, value, 1)}" for axis, value in zip(AXES, values, strict=True))
        with svg.mark(f"{_named(row, task)}: {text}", source.href(row)):
            svg.reach(x - 10, y - 10, 20, 20)
            foot = at(numbers[0], numbers[1], 0)
            svg.line(x, y, *foot, _COLOURS[task], 1, opacity=0.45)
            svg.symbol(*foot, _COLOURS[task], size=1.5)
            if box is not None:
                middle_line = (box.box[1] + box.box[3]) / 2
                svg.text(box.box[0] + 1, middle_line, name, colour=_COLOURS[task], size=SMALL, halo=True)
            svg.symbol(x, y, _COLOURS[task], SYMBOLS[visibility(row)])
    svg.height = begin + 1.1 * size
    return svg
