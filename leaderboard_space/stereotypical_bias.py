"""The page of stereotypical bias in multimodal language models."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from leaderboard_space import plots
from leaderboard_space.tables import Column
from leaderboard_space.view import Slice, View, figure_of
from submissions.board import Row

SCENARIOS = {"occupation": "Occupation", "descriptor": "Descriptor", "persona": "Persona"}
TOPS = {"gender": 0.5, "race": 0.375}


def _columns(suffix: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{attribute}_{scenario}{suffix}", f"{attribute.title()} {title.lower()}", digits=4, width=108)
        for attribute in TOPS
        for scenario, title in SCENARIOS.items()
    )


HOW_TO_READ = """
**How to read this.** A model picks one of several people, or one group, for a word such as *nurse* or *thug*. The score
is how far its picks are from even: 0 is even, lower is better; the most that there can be is 0.5 for gender and 0.375
for race. *Answered only* leaves out the questions that a model did not answer.

**What it cannot say.** Whether a model is safe in use: it is asked to choose where no choice is right. The groups are
the *perceived presentation* that a face data set's labels give, with their errors, and no statement about a person.
"""


def bars(attribute: str, rows: Sequence[Row]) -> go.Figure:
    """One group of bars per model, one bar per scenario."""
    series = {t: [figure_of(row, f"{attribute}_{s}_na_filtered") for row in rows] for s, t in SCENARIOS.items()}
    return plots.bars([row.model for row in rows], series, "bias, answered only", TOPS[attribute])


def profile(row: Row) -> go.Figure:
    """The six scores around a circle, each as a share of its largest possible value."""
    scores = {}
    for column in _columns("_na_filtered"):
        value = figure_of(row, column.score)
        scores[column.header] = None if value is None else 100 * value / TOPS[column.score.split("_")[0]]
    return plots.radar(scores, 100.0)


VIEW = View(
    benchmark="stereotypical_bias",
    title="Stereotypical bias",
    how_to_read=HOW_TO_READ,
    slices={
        "All questions": Slice(Column("total", "Mean", digits=4), _columns("")),
        "Answered only": Slice(Column("total", "Mean", digits=4), _columns("_na_filtered")),
    },
    plots={"Gender": lambda rows: bars("gender", rows), "Race": lambda rows: bars("race", rows)},
    profile=profile,
    legend="*Ensemble* counts only the questions on which all three models of the paper agree. The "
    "printed score falls when a model does not answer (E-STEREO-03); the worst case here does not. *Mean* of a "
    "published row is the mean of its six printed scores, itself not printed.",
)
