"""The GENRES page."""

from __future__ import annotations

import plotly.graph_objects as go

from leaderboard_space import plots
from leaderboard_space.tables import Column
from leaderboard_space.view import Slice, View, figure_of
from submissions.board import Row

METRICS = {
    "M1": "warmth %",
    "M2": "valence",
    "M3": "subject",
    "M4": "status %",
    "M5": "emotion",
    "M6": "positive %",
    "M7": "rounded",
    "M8": "main role",
}
RELATIONS = {
    "Communal sharing": "cs",
    "Equality matching": "em",
    "Market pricing": "mp",
    "Authority ranking": "ar",
}
TOTAL = Column("TBS", "TBS", digits=3, width=100)


def _columns(suffix: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}{suffix}", f"{name} {title}", digits=3, signed=True, width=84) for name, title in METRICS.items()
    )


HOW_TO_READ = """
**How to read this.** Stories about a woman and a man, and eight differences between the two, male minus female:
<span class="male">orange with a plus sign</span> favours the man, <span class="female">blue with a minus sign</span>
favours the woman, stronger colour is a larger difference within its column. *TBS* adds up how unusual all eight are
against the cohort of the standard: lower is better. Rows of different evaluators are ranked apart.

**What it cannot say.** That a small difference is real: the parser alone can move M3 by 0.3 and M5 by 2.
The characters are names on paper; nothing here measures the gender of a person.
"""


def profile(row: Row) -> go.Figure:
    """The eight differences as bars around 0, each as printed."""
    return plots.diverging({f"{name} {title}": figure_of(row, name) for name, title in METRICS.items()})


VIEW = View(
    benchmark="genres",
    title="GENRES",
    how_to_read=HOW_TO_READ,
    slices={
        "Overall": Slice(TOTAL, _columns("")),
        **{title: Slice(TOTAL, _columns(f"_{code}")) for title, code in RELATIONS.items()},
    },
    cohort="Evaluator",
    profile=profile,
    legend="The paper prints the overall figures only; the four relational models are filled by models scored here. It "
    "prints magnitudes: the signs are those that its prose and its totals ask for (E-GENRES-01, E-GENRES-02).",
)
