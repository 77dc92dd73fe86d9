"""The figure of a board's tiers: the 95 % interval of every model that has one, and the tiers as bands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures import plots
from fairspace.leaderboard_space.boards.figures.figures import Drawing, Figure, Source, Table, cell
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions import plotting
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number, plot
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import Value

MOST = 40
"""Models that are drawn, the best first."""
_BANDS = ("rgba(128, 134, 142, 0.16)", "rgba(128, 134, 142, 0)")


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
        of = [plain(row.model), plain(row.cohort) or "–", str(row.tier), str(row.rank), ranks]
        lines.append([*of, cell(row, value, 4), ends])
    headers = ["Model", "Cohort", "Tier", "Rank", "Possible ranks", "Score", "95 % interval"]
    note = f"The figure shows the best {MOST} of {len(rows)} models." if len(rows) > MOST else ""
    if not shown:
        return Drawing(None, Table(headers, lines), "No model on this board was scored here with resampling yet.")
    height = 110 + 26 * max(len(shown), 2)
    return Drawing(partial(_figure, shown, height), Table(headers, lines), note, height)


def _ranked(row: Row) -> Value | None:
    return None if row.result is None else row.scores.get(row.result.scored.ranking)


def _figure(rows: Sequence[Row], height: int) -> go.Figure:
    figure = go.Figure()
    line = {"mode": "lines", "hoverinfo": "skip"}
    values = [_ranked(row) for row in rows]
    places = list(range(len(rows)))
    measured = [(place, value) for place, value in zip(places, values, strict=True) if value is not None]
    sure = [(place, value.uncertainty) for place, value in measured if value.uncertainty is not None]
    open_ = [(place, value.low, value.high) for place, value in measured if value.low != value.high]
    if open_:
        figure.add_scatter(
            x=[end for _, low, high in open_ for end in (low, high, None)],
            y=[place for place, _, _ in open_ for _ in range(3)],
            line={"color": plotting.GREY, "width": 1.5},
            name="best to worst case",
            **line,
        )
    figure.add_scatter(
        x=[end for _, about in sure for end in (about.low, about.high, None)],
        y=[place for place, _ in sure for _ in range(3)],
        line={"color": plotting.BLUE, "width": 5},
        opacity=0.55,
        name="95 % interval",
        **line,
    )
    figure.add_scatter(
        x=[value.value for _, value in measured],
        y=[place for place, _ in measured],
        mode="markers",
        marker={"color": plotting.BLUE, "size": 9, "symbol": "line-ns-open", "line": {"width": 2.5}},
        name="score",
        customdata=[
            f"{plot(shortened(plain(rows[place].model), 60))}, tier {rows[place].tier}" for place, _ in measured
        ],
        hovertemplate="%{customdata}: %{x}<extra></extra>",
    )
    figure = plotting.finish(figure, height)
    begins = [place for place in places if not place or _band(rows[place]) != _band(rows[place - 1])]
    for turn, (begin, end) in enumerate(zip(begins, [*begins[1:], len(rows)], strict=True)):
        band = {"y0": begin - 0.5, "y1": end - 0.5, "line_width": 0, "layer": "below"}
        figure.add_hrect(fillcolor=_BANDS[turn % 2], **band)
        where = {"x": 1.005, "xref": "paper", "xanchor": "left", "y": begin, "yref": "y", "showarrow": False}
        figure.add_annotation(text=f"tier {rows[begin].tier}", font={"size": 11, "color": plotting.GREY}, **where)
    figure.update_layout(showlegend=True, margin_r=56)  # the tiers' names stand in the margin, clear of every bar
    names = [plots.label(row.model) for row in rows]
    return figure.update_yaxes(
        tickvals=places, ticktext=names, range=[len(rows) - 0.4, -0.6], automargin=True, zeroline=False, showgrid=False
    )


def _band(row: Row) -> tuple[tuple[str, str], int | None]:
    return row.ranked_with, row.tier


TIERS = Figure(
    "tiers",
    "Which differences between models are significant",
    "One line per model that was scored here, the best at the top. The upright mark is the score, the thick line its "
    "95 % interval. With few samples a gap tends to be too large; the score is then near one end of the interval. A "
    "thin line shows the best to the worst case of the missing answers; ranks and tiers use its worse end. A band is a "
    "tier: its best model and the models that are not significantly worse, tested on the items that both answered and "
    "corrected for the number of pairs. Printed rows have no samples and no tier. Two models with overlapping "
    "intervals can still differ significantly, because their errors may be correlated.",
    _draw,
)
