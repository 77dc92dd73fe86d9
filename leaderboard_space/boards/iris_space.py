"""The fairness space of IRIS: its axes, and figures of two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from fairspace.leaderboard_space.boards.figures.figures import (
    Drawing,
    Source,
    value_of,
    values_table,
)
from fairspace.leaderboard_space.boards.figures.plots import SYMBOLS, bounds_of, interval_of, told
from fairspace.leaderboard_space.boards.telling import visibility
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import figure_of
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions import plotting
from fairspace.submissions.drawing.points import Map, Point
from fairspace.submissions.errors import plain
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


def space_rows(source: Source) -> tuple[list[Row], str]:
    """The rows with all three scores of a task, and a note on the others."""
    rows, note = source.some(MOST, "space", lambda row: any(_in_task(row, task) for task in TASKS))
    return with_errors(rows, source.standard), note


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
        rows, note = space_rows(source)
        table = values_table(rows, SECTORS)
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
