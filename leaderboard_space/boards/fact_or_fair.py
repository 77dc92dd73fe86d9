"""The FACT-OR-FAIR page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures import plots
from fairspace.leaderboard_space.boards.figures.figures import Drawing, Figure, Source, Table, cell, value_of
from fairspace.leaderboard_space.boards.figures.ranking import ranking
from fairspace.leaderboard_space.boards.figures.scatter import SIGNS, Point, scatter
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.leaderboard_space.boards.telling import behind, visibility
from fairspace.leaderboard_space.boards.view import Slice, View
from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.metrics.fact_or_fair.tradeoff import accuracy_entropy_bound
from fairspace.submissions import plotting
from fairspace.submissions.benchmarks.fact_or_fair.score import KINDS
from fairspace.submissions.benchmarks.fact_or_fair.standards import STANDARDS
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value


def _slice(kind: str) -> Slice:
    """The columns of Table 2 for one kind of model."""
    headers = {
        f"{kind}_factuality_gender": "Fact gender",
        f"{kind}_factuality_race": "Fact race",
        f"{kind}_factuality": "Fact mean",
        f"{kind}_fairness_gender": "Fair gender",
        f"{kind}_fairness_race": "Fair race",
        f"{kind}_fairness": "Fair mean",
        f"average_{kind}_gender": "Gender mean",
        f"average_{kind}_race": "Race mean",
    }
    columns = [Column(score, header, percent=True) for score, header in headers.items()]
    return Slice(Column(f"average_{kind}", "Mean", percent=True), columns, lambda row: row.cohort == KINDS[kind])


CONTEXTS = {
    "objective": ("llm_objective", "t2i_objective"),
    "subjective": ("llm_base", "t2i_subjective", "t2i_subjective_paper"),
}
COLOURS = {"objective": plotting.BLUE, "subjective": plotting.ORANGE}

HOW_TO_READ = """
**How to read this.** All scores are in percent; higher is better. *Fact* is the share of objective questions that the
model answers with the group that the statistics name. *Fair* measures how evenly and how consistently it answers if no
group is right. The plots show both: no model can be above the dotted line, so a point close to it is the best possible
compromise.

**What it does not show.** Which answer is just. The groups follow the labels of official statistics; the groups of
pictures are *perceived presentation*, measured with error. A statistic about a group says nothing about a person.
"""


_NAMES = {
    kind: {
        f"{kind}_factuality_gender": "Fact gender",
        f"{kind}_factuality_race": "Fact race",
        f"{kind}_fairness_gender": "Fair gender",
        f"{kind}_fairness_race": "Fair race",
    }
    for kind in KINDS
}
MOST = 150
"""Models that the trade-off shows."""


def kind_of(row: Row) -> str:
    """`llm` or `t2i`."""
    return next((kind for kind, cohort in KINDS.items() if cohort == row.cohort), "llm")


def _tradeoff(attribute: str) -> Callable[[Source], Drawing]:
    """Draws S_fact against S_E for one attribute, with the curve g_k."""

    def draw(source: Source) -> Drawing:
        truth = STANDARDS[source.standard].truth
        rows, note = source.some(MOST, f"tradeoff {attribute}", lambda row: bool(coordinates(row, attribute, truth)))
        chosen = {row.entry for row in source.chosen}
        points, lines = [], []
        for row in rows:
            for kind, (x, y) in coordinates(row, attribute, truth).items():
                where = (100 * (x.value or 0.0), 100 * (y.value or 0.0))
                bounds = None
                if x.low is not None and x.high is not None and y.low is not None and y.high is not None:
                    bounds = (100 * x.low, 100 * x.high, 100 * y.low, 100 * y.high)
                points.append(Point(row.model, visibility(row), kind, *where, bounds, row.entry in chosen))
                room = 100 * float(accuracy_entropy_bound(np.array(x.value), len(GROUPS[attribute])))
                texts = [cell(row, x, 2, 100), cell(row, y, 2, 100), number(room, 2)]
                lines.append([plain(row.model), behind(row, (x, y)), kind, *texts])
        headers = ["Model", "Evidence", "Questions", "S_fact, %", "S_E, %", "highest S_E at this S_fact, %"]
        table = Table(headers, lines)
        if not points:
            return Drawing(None, table, "No model has both numbers under this standard; the paper does not print them.")
        return Drawing(partial(_plane, points, len(GROUPS[attribute])), table, note)

    return draw


def _plane(points: Sequence[Point], groups: int) -> go.Figure:
    figure = scatter(points, COLOURS, "S_fact", "S_E")
    shares = np.linspace(0, 1, 101)
    curve = 100 * accuracy_entropy_bound(shares, groups)
    figure.add_scatter(
        x=(100 * shares).round(2).tolist(),
        y=curve.round(3).tolist(),
        mode="lines",
        name="bound",
        line={"color": plotting.GREY, "width": 2, "dash": "dot"},
        hoverinfo="skip",
    )
    figure.update_xaxes(title="S_fact, %", range=[0, 102])
    return figure.update_yaxes(title="S_E, %", range=[0, 108])


def coordinates(row: Row, attribute: str, truth: str = "paper") -> dict[str, tuple[Value, Value]]:
    """Kind of question -> (S_fact under a truth, S_E), for those that the row has."""
    version = "" if truth == "paper" else f"{truth}_"
    by_question = {}
    for question, contexts in CONTEXTS.items():
        for context in contexts:
            x = value_of(row, f"factuality_{version}{context}_{attribute}")
            y = value_of(row, f"entropy_{context}_{attribute}")
            if x is not None and y is not None and x.value is not None and y.value is not None:
                by_question[question] = (x, y)
    return by_question


def _basic(source: Source) -> tuple[list[str], list[plots.Series], Table]:
    """The four basic scores of every chosen model, in percent, with the kind of model."""
    headers = list(next(iter(_NAMES.values())).values())
    series = [
        plots.Series(row.model, [value_of(row, name) for name in _NAMES[kind_of(row)]], 100.0) for row in source.chosen
    ]
    lines = [
        [plain(line.model), row.cohort, *(cell(row, value, 2, 100) for value in line.values)]
        for line, row in zip(series, source.chosen, strict=True)
    ]
    return headers, series, Table(["Model", "Kind", *(f"{header}, %" for header in headers)], lines)


def _radar(source: Source) -> Drawing:
    headers, series, table = _basic(source)
    return Drawing(partial(plots.radar, headers, series, 100.0), table, _kinds(source))


def _bars(source: Source) -> Drawing:
    headers, series, table = _basic(source)
    return Drawing(partial(plots.bars, headers, series, "score, %", top=100.0), table, _kinds(source))


def _kinds(source: Source) -> str:
    if len({row.cohort for row in source.chosen}) < 2:
        return ""
    return "Language models and image models answer different questions; their scores are not ranked together."


_HOW_TRADEOFF = (
    "Horizontal: *S_fact*, the share of answers that name the same group as the statistics. Vertical: *S_E*, how "
    "evenly the answers are spread over the groups. No model can be above the dotted line, because answers that are "
    "always right cannot be even; a point close to the line is the best possible compromise. Blue: objective "
    f"questions; orange: subjective ones. A cross through a point shows its bounds. {SIGNS}"
)
_HOW_BASIC = (
    "Factuality of the objective questions and fairness of the subjective ones, in percent; higher is better. Thin "
    "lines are bounds: the range that the missing answers allow."
)
FIGURES = (
    Figure(
        "ranking",
        "Mean of factuality and fairness with its bounds",
        "One line per model, the best at the top; language models and image models are ranked separately. The line "
        "shows the worst to the best case of the missing answers; ranks use its left end.",
        ranking(
            lambda row: f"average_{kind_of(row)}",
            "mean, %",
            {KINDS["llm"]: plotting.BLUE, KINDS["t2i"]: plotting.ORANGE},
            100.0,
            cohort="Kind",
        ),
    ),
    *(
        Figure(
            f"tradeoff-{attribute}",
            f"Trade-off between factuality and evenness, {attribute}",
            _HOW_TRADEOFF,
            _tradeoff(attribute),
            ("board", "model", "compare"),
        )
        for attribute in GROUPS
    ),
    Figure("radar", "Four scores around a circle", _HOW_BASIC, _radar, ("model", "compare"), needs=1),
    Figure("scores", "Four scores with their bounds", _HOW_BASIC, _bars, ("model", "compare"), 400, needs=1),
)

VIEW = View(
    benchmark="fact_or_fair",
    title="FACT-OR-FAIR",
    how_to_read=HOW_TO_READ,
    slices={"Language models": _slice("llm"), "Image models": _slice("t2i")},
    figures=FIGURES,
    legend="`shuffled` scores answers to options in drawn orders (dataset revision `v2`), `inaugural` those to options "
    "in one order (`v1`); both use the labels of the paper as the truth. `shuffled_revised_truth` and `revised_truth` "
    "use corrected statistics.",
)
