"""The figure of a ranking: the ranked number of every model with its bounds, best first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures.figures import Drawing, Source, Table, cell, names_of, value_of
from fairspace.leaderboard_space.boards.figures.plots import Series, label
from fairspace.leaderboard_space.boards.telling import behind, value_text
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import _legend, finish, plot
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value

FAR = 3.0
"""What has no rank and is that many times as large as the largest ranked number is not drawn among ranks."""


def ranking(
    score: Callable[[Row], str],
    title: str,
    colours: dict[str, str],
    scale: float = 1.0,
    most: int = 30,
    cohort: str = "",
) -> Callable[[Source], Drawing]:
    """Draws the ranked number of every model with its bounds, best first.

    Args:
        score: row -> name of the score that it is ranked by.
        title: of the axis.
        colours: cohort -> colour; `{"": colour}` where a board has none.
        scale: 100 for a share in percent.
        most: models that are drawn.
        cohort: what the cohorts are, the header of their column; '' where a board has none.
    """

    def draw(source: Source) -> Drawing:
        def has(row: Row) -> bool:
            value = value_of(row, score(row))
            return value is not None and value.value is not None

        rows, note = source.some(most, f"ranking {title}", has)
        numbers = {row.entry: row.scores[score(row)] for row in rows}
        lines = []
        for row in rows:
            value = numbers[row.entry]
            of = [row.cohort or "not known"] if cohort else []
            figures = behind(row, [value])
            lines.append([plain(row.model), *of, str(row.rank or "–"), figures, cell(row, value, 3, scale)])
        table = Table(["Model", *filter(None, [cohort]), "Rank", "Evidence", title], lines)
        if not rows:
            return Drawing(None, table, "No model has this number under this standard.")
        top = FAR * max((numbers[row.entry].value or 0.0 for row in rows if row.rank is not None), default=math.inf)
        near = [row for row in rows if row.rank is not None or (numbers[row.entry].value or 0.0) <= top]
        far = [row for row in rows if row not in near]
        if far:
            note = f"{note} Not drawn, because they are unranked and far from the others: {names_of(far)}.".strip()
        unknown = [row for row in near if row.cohort not in colours]
        if unknown:
            note = f"{note} Not drawn, because the {cohort.lower()} is unknown: {names_of(unknown)}.".strip()
        near = [row for row in near if row.cohort in colours]
        drawn = [(row.model, numbers[row.entry], row.cohort) for row in near]
        make = partial(ranges, drawn, colours, title, scale)
        return Drawing(make if drawn else None, table, note, ranges_height(len(drawn)))

    return draw


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
