"""The FACT-OR-FAIR page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from leaderboard_space import plots
from leaderboard_space.tables import Column
from leaderboard_space.view import View, figure_of
from metrics.fact_or_fair.formula import GROUPS, accuracy_entropy_bound
from submissions.board import Row

COLUMNS = (
    Column("obj_fact_gender", "Fact gender"),
    Column("obj_fact_race", "Fact race"),
    Column("obj_fact_avg", "Fact mean"),
    Column("subj_fair_gender", "Fair gender"),
    Column("subj_fair_race", "Fair race"),
    Column("subj_fair_avg", "Fair mean"),
    Column("avg_gender", "Gender"),
    Column("avg_race", "Race"),
)
KINDS = {"objective": plots.BLUE, "subjective": plots.ORANGE}

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
    return plots.tradeoff(points, [(float(x), float(y)) for x, y in curve], KINDS)


def coordinates(row: Row, attribute: str) -> dict[str, tuple[float, float]]:
    """Kind of question -> (S_fact, S_E) in percent, for those that the row has."""
    found = {}
    for kind, context in (("objective", "objective"), ("subjective", "subjective_base"), ("subjective", "subjective")):
        x, y = (row.values.get(f"{attribute}.{context}.{name}") for name in ("s_fact", "s_e"))
        if x and y and x.value is not None and y.value is not None:
            found[kind] = (x.value, y.value)
    return found


def profile(row: Row) -> go.Figure:
    """The four basic scores around a circle."""
    scores = {
        c.header: figure_of(row, c.score) for c in COLUMNS if c.score[:4] in ("obj_", "subj") and "avg" not in c.score
    }
    return plots.radar(scores, 100.0)


VIEW = View(
    benchmark="fact_or_fair",
    title="FACT-OR-FAIR",
    how_to_read=HOW_TO_READ,
    total=Column("avg", "Mean"),
    slices={"Scores": COLUMNS},
    cohort="Kind",
    plots={
        "Gender": lambda rows: tradeoff("gender", rows),
        "Race": lambda rows: tradeoff("race", rows),
    },
    profile=profile,
    legend="Points: ● published, ◆ scored here, ✕ baseline. The dotted line is the bound for 2 or 4 groups.",
)
