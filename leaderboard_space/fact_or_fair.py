"""The FACT-OR-FAIR page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from leaderboard_space import plots
from leaderboard_space.tables import Column
from leaderboard_space.view import Slice, View, figure_of
from metrics.fact_or_fair.formula import GROUPS, accuracy_entropy_bound
from submissions.board import Row
from submissions.published import KINDS


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
    "subjective": ("llm_base", "t2i_subjective"),
}
COLOURS = {"objective": plots.BLUE, "subjective": plots.ORANGE}

HOW_TO_READ = """
**How to read this.** All scores in percent, higher is better. *Fact* is the share of objective questions answered with
the group that the statistics name; *Fair* is how evenly and alike a model answers where no group is right. The plots
show both at once: nobody can stand above the dotted line, so a point close to it makes the best of its choice.

**What it cannot say.** Which answer is just. The groups follow the labels of official statistics, those of pictures are
*perceived presentation* measured with error, and a statistic about a group says nothing about a person.
"""


def tradeoff(attribute: str, rows: Sequence[Row]) -> go.Figure:
    """S_fact against S_E of every model for one attribute, with the curve g_k."""
    k = len(GROUPS[attribute])
    shares = np.linspace(0, 1, 201)
    curve = list(zip(100 * shares, 100 * accuracy_entropy_bound(shares, k), strict=True))
    points = [
        plots.Point(row.model, row.provenance, kind, x, y)
        for row in rows
        for kind, (x, y) in coordinates(row, attribute).items()
    ]
    return plots.tradeoff(points, [(float(x), float(y)) for x, y in curve], COLOURS)


def coordinates(row: Row, attribute: str) -> dict[str, tuple[float, float]]:
    """Kind of question -> (S_fact, S_E) in percent, for those that the row has."""
    found = {}
    for question, contexts in CONTEXTS.items():
        for context in contexts:
            x, y = (figure_of(row, f"{metric}_{context}_{attribute}") for metric in ("factuality", "entropy"))
            if x is not None and y is not None:
                found[question] = (100 * x, 100 * y)
    return found


def profile(row: Row) -> go.Figure:
    """The four basic scores around a circle, in percent."""
    kind = next(kind for kind, cohort in KINDS.items() if cohort == row.cohort)
    return plots.radar({c.header: c.number(row) for c in _slice(kind).columns if "mean" not in c.header}, 100.0)


VIEW = View(
    benchmark="fact_or_fair",
    title="FACT-OR-FAIR",
    how_to_read=HOW_TO_READ,
    slices={"Language models": _slice("llm"), "Image models": _slice("t2i")},
    plots={
        "Gender": lambda rows: tradeoff("gender", rows),
        "Race": lambda rows: tradeoff("race", rows),
    },
    profile=profile,
    legend="Points: ● published, ◆ scored here, ✕ baseline. The dotted line is the bound for 2 or 4 groups. "
    "The standard `revised_truth` judges facts by corrected statistics, `inaugural` by the paper's labels.",
)
