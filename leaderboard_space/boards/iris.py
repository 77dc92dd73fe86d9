"""The IRIS page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go

from fairspace.leaderboard_space.boards.figures import plots
from fairspace.leaderboard_space.boards.figures.figures import (
    Drawing,
    Figure,
    Place,
    Source,
    value_of,
    values_table,
)
from fairspace.leaderboard_space.boards.figures.ranking import ranking
from fairspace.leaderboard_space.boards.figures.scatter import SIGNS
from fairspace.leaderboard_space.boards.iris_space import DOTTED, SECTORS, draw_map, draw_space, tau
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import Slice, View, figure_of
from fairspace.metrics.iris_score.standards import ARCHETYPES, STANDARDS
from fairspace.submissions import plotting
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row

COLUMNS = tuple(Column(score, header) for score, header in SECTORS.items())

HOW_TO_READ = """
**How to read this.** Six sector scores and one total; higher is better. Under `bounded` 100 is the ideal and no score
exceeds it; under `inaugural`, the paper's, a score may. *IFS* measures whether groups are treated alike, *RFS* whether
a model follows labour statistics, and *BIS* whether it departs from a stereotype when asked to. *Und* is understanding
images, *Gen* is generating them. Under `inaugural`, *RFS Und* rises with a larger drift from these statistics, as in
the paper ([E-IRIS-04](/errata#e-iris-04)). Ranks use the worst case over the missing answers.

**What it does not show.** That a model is fair, harmless or fit for a use. Gender, age and skin tone are *perceived
presentation* of generated or staged pictures, measured with error by a classifier; they say nothing about a person.
"""

_TRAITS = "**U**topian or **H**euristic (IFS), **A**ccurate or **D**istorted (RFS), **F**lexible or **R**igid (BIS)"
LEGEND = (
    f"**Profile codes.** One letter per sector, the first if the score reaches 60: {_TRAITS}. "
    + " · ".join(f"`{code}` {name}" for code, name in ARCHETYPES.items())
    + "\n\nModels that only understand or only generate images are *partial*: they have no total and no rank. Under "
    "`inaugural`, as in the paper, *RFS Und* rewards a larger drift ([E-IRIS-04](/errata#e-iris-04)), and the total's "
    "scale is fitted to the printed totals ([E-IRIS-06](/errata#e-iris-06))."
)


TOP = 120.0
"""What is above stands at the rim of the radar."""
_BOTH: tuple[Place, ...] = ("model", "compare")


def caution(standard: str) -> str:
    """The note for every figure and card with RFS_Und, as Markdown; '' if none is needed."""
    if not STANDARDS[standard].fidelity_by_goodness:
        return ""
    return (
        f"Under `{standard}`, *RFS Und* **rewards a larger drift** from labour statistics, as in the paper: a high "
        "*RFS Und*, and the letter A for understanding, do not mean that a model follows them "
        "([E-IRIS-04](/errata#e-iris-04)). *RFS Gen* is not affected."
    )


def _beyond(rows: Sequence[Row], top: float) -> str:
    """A note on the scores beyond the end of a figure's axis."""
    beyond = [
        f"{shortened(plain(row.model), 40)} {title} {number(value, 0)}"
        for row in rows
        for name, title in SECTORS.items()
        if (value := figure_of(row, name)) is not None and value > top
    ]
    return f"Beyond the end of the axis ({top:.0f}): {', '.join(beyond)}." if beyond else ""


def _sectors(rows: Sequence[Row]) -> list[plots.Series]:
    return [plots.Series(row.model, [value_of(row, name) for name in SECTORS]) for row in rows]


def _radar(source: Source) -> Drawing:
    draw = partial(plots.radar, list(SECTORS.values()), _sectors(source.chosen), TOP, tau(source.standard))
    return Drawing(draw, values_table(source.chosen, SECTORS), _beyond(source.chosen, TOP))


def _bars(source: Source) -> Drawing:
    level = tau(source.standard)
    beyond = _beyond(source.chosen, 2 * level)

    def draw() -> go.Figure:
        top = 2 * level if beyond else None
        figure = plots.bars(list(SECTORS.values()), _sectors(source.chosen), "sector score", top=top)
        return figure.add_hline(y=level, line=DOTTED)

    return Drawing(draw, values_table(source.chosen, SECTORS), beyond)


_HOW_SECTORS = (
    "The score of each sector; higher is better. The dotted line (60) is the threshold of the profile code. Scores may "
    f"exceed 100. A score above {TOP:.0f} is drawn at the rim of the radar or beyond the end of the bars' axis, and a "
    "note gives it. Thin lines are bounds: the range that the missing samples allow. A sector without a number is left "
    "out; the table shows its state."
)
_HOW_MAP = (
    "Each point is one model in one task: blue for understanding pictures, orange for generating them. The dotted "
    "lines are the threshold of the profile code, so the four corners are the combinations of two letters. A cross "
    f"through a point shows its bounds. {SIGNS}"
)
MAPS = {
    f"map-{across.lower()}-{up.lower()}": (across, up)
    for across, up in (("IFS", "RFS"), ("IFS", "BIS"), ("RFS", "BIS"))
}
_MAP_PLACES: tuple[tuple[Place, ...], ...] = (("board", "space"), ("space",), ("space",))

FIGURES = (
    Figure(
        "ranking",
        "IRIS score with its bounds",
        "One line per model, the best at the top. The point is the score from the valid samples. The line shows the "
        "worst to the best case of the missing samples; ranks use its left end.",
        ranking(lambda row: "iris_score", "IRIS score", {"": plotting.BLUE}),
    ),
    Figure("radar", "Six sectors around a circle", _HOW_SECTORS, _radar, _BOTH, needs=1, caution=caution),
    Figure("sectors", "Six sectors with their bounds", _HOW_SECTORS, _bars, _BOTH, 400, needs=1, caution=caution),
    Figure(
        "space",
        "The fairness space",
        "Three dimensions: *IFS*, whether groups are treated alike; *RFS*, whether the model follows labour "
        "statistics; *BIS*, whether it departs from a stereotype when asked to. Higher scores are further from the "
        "origin. The grey planes are at the threshold and divide the space into the eight profiles. Drag to turn the "
        "figure, pinch to zoom, click the legend to hide a task. A dashed line joins the two tasks of a selected "
        "model: the longer it is, the more the model differs between understanding and generating pictures. "
        f"{SIGNS}",
        draw_space,
        ("space",),
        620,
        solid=True,
        caution=caution,
    ),
    *(
        Figure(name, f"Map: {across} and {up}", _HOW_MAP, draw_map(across, up), places, 480, caution=caution)
        for (name, (across, up)), places in zip(MAPS.items(), _MAP_PLACES, strict=True)
    ),
)

VIEW = View(
    benchmark="iris",
    title="IRIS",
    how_to_read=HOW_TO_READ,
    slices={"Scores": Slice(Column("iris_score", "IRIS score"), COLUMNS)},
    labels={"profile_und": "Profile Und", "profile_gen": "Profile Gen"},
    figures=FIGURES,
    legend=LEGEND,
)
