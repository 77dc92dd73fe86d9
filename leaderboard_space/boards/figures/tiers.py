"""The figure of a board's tiers: the 95 % interval of every model that has one, and the tiers as groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fairspace.leaderboard_space.boards.figures.figures import Drawing, Figure, Source, Table, cell
from fairspace.leaderboard_space.boards.figures.plots import dot, ends_of
from fairspace.submissions.drawing.dots import DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import Svg
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import Value

MOST = 40
"""Models that are drawn, the best first."""


def _draw(source: Source) -> Drawing:
    rows = [row for row in source.rows if row.tier is not None]
    shown = with_errors(rows[:MOST], source.standard)
    lines = []
    for row in shown:
        best, worst = row.rank_range or (None, None)
        ranks = "–" if best is None else f"{number(best, 0)} to {number(worst, 0)}"
        value = _ranked(row)
        about = None if value is None else value.uncertainty
        ends = "–" if about is None else f"{number(about.low, 4)} to {number(about.high, 4)}"
        of = [plain(row.model), row.row_class, plain(row.cohort) or "–", str(row.tier), str(row.rank), ranks]
        lines.append([*of, cell(row, value, 4), ends])
    headers = ["Model", "Class", "Cohort", "Tier", "Rank", "Possible ranks", "Score", "95 % interval"]
    note = f"The figure shows the best {MOST} of {len(rows)} models." if len(rows) > MOST else ""
    if not shown:
        return Drawing(None, Table(headers, lines), "No model on this board was scored here with resampling yet.")
    return Drawing(partial(_image, source, shown), Table(headers, lines), note)


def _ranked(row: Row) -> Value | None:
    return None if row.result is None else row.scores.get(row.result.scored.ranking)


def _image(source: Source, rows: Sequence[Row], width: float) -> Svg:
    lines = []
    for place, row in enumerate(rows):
        new = not place or _band(row) != _band(rows[place - 1])
        head = f"Tier {row.tier}, {CLASSES[row.row_class].title.lower()}{f', {row.cohort}' if row.cohort else ''}"
        mark = dot(source, row, _ranked(row), 4, what=f"tier {row.tier}", symbol="tick")
        lines.append(Line(plain(row.model) or "(no name)", [mark], head if new else ""))
    return dot_plots(width, TIERS.title, [DotPlot(lines, ends_of(lines), "score")])


def _band(row: Row) -> tuple[tuple[str, ...], int | None]:
    return row.ranked_with, row.tier


TIERS = Figure(
    "tiers",
    "Which differences between models are significant",
    "One line per model that was scored here, the best at the top. The upright mark is the score, the thick line its "
    "95 % interval. With few samples a gap tends to be too large; the score is then near one end of the interval. A "
    "thin line shows the best to the worst case of the missing answers; ranks and tiers use its worse end. A group is "
    "a tier: its best model and the models that are not significantly worse, tested on the items that both answered "
    "and corrected for the number of pairs down to a model. Printed rows have no samples and no tier. Two models with "
    "overlapping intervals can still differ significantly, because their errors may be correlated.",
    _draw,
)
