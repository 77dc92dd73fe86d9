"""The IRIS page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fairspace.leaderboard_space.boards.figures import plots
from fairspace.leaderboard_space.boards.figures.figures import (
    Drawing,
    Figure,
    Place,
    Source,
    value_of,
    values_table,
)
from fairspace.leaderboard_space.boards.figures.plots import SIGNS
from fairspace.leaderboard_space.boards.figures.ranking import ranking
from fairspace.leaderboard_space.boards.iris_space import SECTORS, draw_map, tau
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import Slice, View, figure_of
from fairspace.metrics.iris_score.standards import ARCHETYPES, STANDARDS
from fairspace.submissions.drawing.dots import Line, dot_plots
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors

COLUMNS = tuple(Column(score, header) for score, header in SECTORS.items())

HOW_TO_READ = """
**How to read this.** Six sector scores and one total; higher is better. Under `inaugural`, the paper's standard, a
score may exceed 100; under `bounded` 100 is the ideal. *IFS* measures whether groups are treated alike, *RFS* whether
a model follows labour statistics, and *BIS* whether it departs from a stereotype when asked to. *Und* is understanding
images, *Gen* is generating them. Under `inaugural`, *RFS Und* rises with a larger drift from these statistics, as in
the paper ([E-IRIS-04](/errata#e-iris-04)). Ranks use the worst case over the missing answers.

**What it does not show.** That a model is fair, harmless or fit for a use. Gender, age and skin tone are *perceived
presentation* of generated or staged pictures, measured with error by a classifier; they say nothing about a person.
"""

_TRAITS = "**U**topian or **H**euristic (IFS), **A**ccurate or **D**istorted (RFS), **F**lexible or **R**igid (BIS)"
LEGEND = (
    f"**Profile codes.** One letter per sector, the first if the score reaches 60: {_TRAITS}. A score with *≈ 60* is "
    "within its error of 60: its letter could be the other one. "
    + " · ".join(f"`{code}` {name}" for code, name in ARCHETYPES.items())
    + "\n\nModels that only understand or only generate images are *partial*: they have no total and no rank. Under "
    "`inaugural`, the total's scale is fitted to the printed totals ([E-IRIS-06](/errata#e-iris-06))."
)


TOP = 120.0
"""End of the axis; what is above is an arrow there."""


def caution(standard: str) -> str:
    """The note for every page with RFS_Und, as Markdown; '' if none is needed."""
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


def _sectors(source: Source) -> list[Line]:
    rows = with_errors(source.chosen, source.standard)
    return plots.by_category(
        source, list(SECTORS.values()), [[value_of(row, name) for name in SECTORS] for row in rows]
    )


def _dots(source: Source) -> Drawing:
    level, lines = tau(source.standard), _sectors(source)
    high = min(TOP, max(plots.ends_of(lines, zero=True)[1], 1.25 * level))
    plot = plots.chosen_plot(lines, (0.0, high), "sector score; higher is better", {level: f"threshold {level:.0f}"})
    keys = plots.keys_of(source.chosen)
    draw = partial(dot_plots, title="Six sectors", plots=[plot], keys=keys)
    return Drawing(draw, values_table(source.chosen, SECTORS), _beyond(source.chosen, TOP))


_HOW_SECTORS = (
    "The score of each sector; higher is better. The dotted line (60) is the threshold of the profile code. Scores may "
    f"exceed 100. A score above {TOP:.0f} is drawn as an arrow at the end of the axis; "
    "a note gives it. Thick lines are 95 % intervals, thin lines bounds: the range that the missing samples allow. A "
    "sector without a number is left out; the table shows its state."
)
_HOW_MAP = (
    "Each point is one model in one task: blue for understanding pictures, orange for generating them. The dotted "
    "lines are the threshold of the profile code, so the four corners are the combinations of two letters. A thick "
    "cross through a point shows its 95 % intervals, a thin one its bounds. An arrow at the end of an axis stands for "
    f"a score beyond it. {SIGNS}"
)
_MAPS: tuple[tuple[str, str, tuple[Place, ...]], ...] = (
    ("IFS", "RFS", ("board", "space")),
    ("IFS", "BIS", ("space",)),
    ("RFS", "BIS", ("space",)),
)
"""Two of the three dimensions, and the pages that show them."""
FIGURES = (
    Figure(
        "ranking",
        "IRIS score with its bounds",
        "One line per model, the best at the top. The point is the score from the valid samples. The line shows the "
        "worst to the best case of the missing samples; ranks use its left end. A score that is far from those of the "
        "ranked models is an arrow at the end of the axis.",
        ranking(lambda row: "iris_score", "IRIS score"),
    ),
    Figure("sectors", "Six sectors with their intervals", _HOW_SECTORS, _dots, ("model", "compare"), needs=1),
    *(
        Figure(f"map-{across.lower()}-{up.lower()}", f"Map: {across} and {up}", _HOW_MAP, draw_map(across, up), places)
        for across, up, places in _MAPS
    ),
)

VIEW = View(
    benchmark="iris",
    title="IRIS",
    asks="Does a model treat women and men, ages and skin tones alike, in the pictures it makes and those it reads?",
    how_to_read=HOW_TO_READ,
    slices={"Scores": Slice(Column("iris_score", "IRIS score"), COLUMNS, first=("IFS_Gen", "RFS_Gen", "BIS_Gen"))},
    labels={"profile_und": "Profile Und", "profile_gen": "Profile Gen"},
    figures=FIGURES,
    legend=LEGEND,
    caution=caution,
)
