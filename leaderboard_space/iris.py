"""The IRIS page."""

from __future__ import annotations

import plotly.graph_objects as go

from leaderboard_space import plots
from leaderboard_space.tables import Column
from leaderboard_space.view import Slice, View, figure_of
from metrics.iris_score.standards import ARCHETYPES
from submissions.board import Row

SECTORS = {
    "IFS_Und": "IFS Und",
    "RFS_Und": "RFS Und",
    "BIS_Und": "BIS Und",
    "IFS_Gen": "IFS Gen",
    "RFS_Gen": "RFS Gen",
    "BIS_Gen": "BIS Gen",
}
COLUMNS = tuple(Column(score, header) for score, header in SECTORS.items())

HOW_TO_READ = """
**How to read this.** Six sector scores and one total, higher is better, and scores may pass 100. *IFS* asks whether
groups are treated alike, *RFS* whether a model follows labour statistics, *BIS* whether it can leave a stereotype when
asked to; *Und* is understanding images, *Gen* is making them. Ranks go by the worst that missing answers could mean.

**What it cannot say.** That a model is fair, or harmless, or fit for a use. Gender, age and skin tone are *perceived
presentation* of generated or staged pictures, measured with error by a classifier; they say nothing about a person.
"""

_TRAITS = "**U**topian or **H**euristic (IFS), **A**ccurate or **D**istorted (RFS), **F**lexible or **R**igid (BIS)"
LEGEND = (
    f"**Profile codes.** One letter per sector, the first where the score reaches 60: {_TRAITS}. "
    + " · ".join(f"`{code}` {name}" for code, name in ARCHETYPES.items())
    + "\n\nModels that only understand or only make images stay *partial*: they have no total and no rank. Under "
    "`inaugural`, as in the paper, *RFS Und* rewards a larger drift (E-IRIS-04), and the total's scale is fitted to "
    "the printed totals (E-IRIS-06)."
)


def profile(row: Row) -> go.Figure:
    """The six sector scores around a circle; what is above 120 stands at the rim."""
    return plots.radar({header: figure_of(row, score) for score, header in SECTORS.items()}, 120.0)


VIEW = View(
    benchmark="iris",
    title="IRIS",
    how_to_read=HOW_TO_READ,
    slices={"Scores": Slice(Column("iris_score", "IRIS score"), COLUMNS)},
    labels={"profile_und": "Profile Und", "profile_gen": "Profile Gen"},
    profile=profile,
    legend=LEGEND,
)
