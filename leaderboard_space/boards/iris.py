"""The IRIS page: its figures, among them the maps of the fairness space."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from fairspace.leaderboard_space.boards import figures
from fairspace.leaderboard_space.boards.view import Column, Slice, View
from fairspace.leaderboard_space.boards.words import shortened, visibility
from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions import plotting
from fairspace.submissions.benchmarks.words import words_of
from fairspace.submissions.drawing.dots import DotLine, DotPlot, Map, Point
from fairspace.submissions.drawing.space import SpacePoint, radar, space
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import number_of

SECTORS = dict(words_of("iris").columns)
TASKS = {"Und": "Understanding", "Gen": "Generation"}
AXES = {"IFS": "Ideal fairness (IFS)", "RFS": "Real-world fidelity (RFS)", "BIS": "Steerability (BIS)"}
_COLOURS = {"Und": plotting.BLUE, "Gen": plotting.ORANGE}
MOST = 60
"""Models in the fairness space."""
_KEYS = {TASKS[task]: (colour, "circle") for task, colour in _COLOURS.items()}


def tau(standard: str) -> float:
    """The threshold of the profile code under a standard."""
    return STANDARDS[standard].tau


def _reach(rows: Iterable[Row], scores: Sequence[str], level: float) -> tuple[float, str]:
    """The end of the axes, at most about twice the threshold, and a note on the points beyond."""
    numbers = [(row, number_of(row.scores, name) or 0.0) for row in rows for name in scores]
    reach = min(1.05 * max([1.25 * level, *(number for _, number in numbers)]), 2.1 * level)
    beyond = list(dict.fromkeys(shortened(plain(row.model), 40) for row, number in numbers if number > reach))
    more = f" and {len(beyond) - 5} more" if len(beyond) > 5 else ""
    return reach, f"Drawn as arrows at the end of an axis: {', '.join(beyond[:5])}{more}." if beyond else ""


def _in_space(source: figures.FigureInput) -> tuple[list[Row], str, figures.Table]:
    """The rows with all three scores of a task, a note on the others, and their numbers."""
    tasks = [[f"{axis}_{task}" for axis in AXES] for task in TASKS]
    some, note = source.some(MOST, "space", lambda row: any(figures.has_number(row, *names) for names in tasks))
    rows = with_errors(some, source.standard)
    return rows, note, figures.values_table(rows, SECTORS)


def draw_map(across: str, up: str) -> Callable[[figures.FigureInput], figures.DrawnFigure]:
    """A figure of two of the three dimensions."""

    def draw(source: figures.FigureInput) -> figures.DrawnFigure:
        rows, note, table = _in_space(source)
        entries = {row.entry for row in source.chosen}
        points = []
        for task in TASKS:
            for row in rows:
                x, y = (figures.value_of(row, f"{axis}_{task}") for axis in (across, up))
                if x is None or y is None or x.value is None or y.value is None:
                    continue
                ends = (figures.bounds_of(x), figures.bounds_of(y), figures.interval_of(x), figures.interval_of(y))
                text = f"{_named(row, task)}: {across} {figures.told(row, x, 1)}; {up} {figures.told(row, y, 1)}"
                look = (_COLOURS[task], figures.SYMBOLS[visibility(row)])
                point = Point(x.value, y.value, plain(row.model), text, source.href(row), *look, *ends)
                points.append((row.entry not in entries, row.provenance == "baseline", point))
        if not points:
            return figures.DrawnFigure(None, table, "No model has both scores under this standard.")
        level = tau(source.standard)
        reach, beyond = _reach(rows, [f"{axis}_{task}" for axis in (across, up) for task in TASKS], level)
        ordered = [point for *_, point in sorted(points, key=lambda entry: entry[:2])]
        corners = _corners(across, up)
        plane = Map(ordered, AXES[across], AXES[up], (0, reach), (0, reach), (), (level, level), corners, _KEYS)
        return figures.DrawnFigure(
            partial(plane.draw, title=f"{AXES[across]} and {AXES[up]}"), table, f"{note} {beyond}".strip()
        )

    return draw


def _space(source: figures.FigureInput) -> figures.DrawnFigure:
    """Both tasks of every model in three dimensions."""
    rows, note, table = _in_space(source)
    entries, stems = {row.entry for row in source.chosen}, []
    for task, row in ((task, row) for task in TASKS for row in rows):
        values = [figures.value_of(row, f"{axis}_{task}") for axis in AXES]
        numbers = [value.value for value in values if value is not None and value.value is not None]
        if len(numbers) == len(AXES):
            text = "; ".join(f"{axis} {figures.told(row, value, 1)}" for axis, value in zip(AXES, values, strict=True))
            look = (_COLOURS[task], figures.SYMBOLS[visibility(row)])
            place = (numbers[0], numbers[1], numbers[2])
            stem = SpacePoint(place, plain(row.model), f"{_named(row, task)}: {text}", source.href(row), *look)
            stems.append((row.entry not in entries, row.provenance == "baseline", stem))
    if not stems:
        return figures.DrawnFigure(None, table, "No model has all three scores of a task under this standard.")
    level = tau(source.standard)
    reach, beyond = _reach(rows, list(SECTORS), level)
    ordered = [stem for *_, stem in sorted(stems, key=lambda entry: entry[:2])]
    draw = partial(space, title=SPACE, stems=ordered, axes=("IFS", "RFS", "BIS"), reach=reach, level=level, keys=_KEYS)
    return figures.DrawnFigure(draw, table, f"{note} {beyond.replace('as arrows ', '')}".strip())


SPACE = "The fairness space: three dimensions, two tasks"
_LETTERS = {"IFS": ("Utopian", "Heuristic"), "RFS": ("Accurate", "Distorted"), "BIS": ("Flexible", "Rigid")}


def _corners(across: str, up: str) -> tuple[str, ...]:
    (right, left), (above, below) = _LETTERS[across], _LETTERS[up]
    return (f"{left}, {above}", f"{right}, {above}", f"{left}, {below}", f"{right}, {below}")


def _named(row: Row, task: str) -> str:
    return f"{shortened(plain(row.model), 60)}, {TASKS[task].lower()}"


COLUMNS = tuple(Column(score, header) for score, header in SECTORS.items())


TOP = 120.0
"""End of the axis; larger scores are arrows there."""


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
    beyond = [
        f"{shortened(plain(row.model), 40)} {title} {number(value, 0)}"
        for row in rows
        for name, title in SECTORS.items()
        if (value := number_of(row.scores, name)) is not None and value > top
    ]
    return f"Beyond the end of the axis ({top:.0f}): {', '.join(beyond)}." if beyond else ""


def _sectors(source: figures.FigureInput) -> list[DotLine]:
    rows = with_errors(source.chosen, source.standard)
    return figures.by_category(
        source, list(SECTORS.values()), [[figures.value_of(row, name) for name in SECTORS] for row in rows]
    )


def _dots(source: figures.FigureInput) -> figures.DrawnFigure:
    level, lines = tau(source.standard), _sectors(source)
    high = min(TOP, max(figures.ends_of(lines, zero=True)[1], 1.25 * level))
    plot = DotPlot(lines, (0.0, high), "sector score; higher is better", {level: f"threshold {level:.0f}"})
    table = figures.values_table(source.chosen, SECTORS)
    return figures.draw_chosen(source, "Six sectors", plot, table, _beyond(source.chosen, TOP))


def _radar(source: figures.FigureInput) -> figures.DrawnFigure:
    """The chosen models with all six sectors that were measured like the first one."""
    table = figures.values_table(source.chosen, SECTORS)
    alike = [row for row in source.chosen if row.group == source.chosen[0].group]
    whole = tuple(row for row in alike if figures.has_number(row, *SECTORS))
    others = {
        "Measured in another way, so not drawn": [row for row in source.chosen if row not in alike],
        "Not drawn without a number for all six sectors": [row for row in alike if row not in whole],
    }
    notes = [f"{words}: {figures.names_of(rows)}." for words, rows in others.items() if rows]
    if not whole:
        return figures.DrawnFigure(None, table, " ".join(notes))
    shown = replace(source, chosen=whole)
    keys, level = figures.keys_of(whole), tau(source.standard)
    draw = partial(radar, title="Six sectors around a circle", keys=keys, lines=_sectors(shown), top=TOP, ring=level)
    return figures.DrawnFigure(draw, table, " ".join(filter(None, [*notes, _beyond(whole, TOP)])))


_HOW_RADAR = (
    f"Each spoke is a sector, from 0 at the centre to {TOP:.0f} at the rim, where larger scores stand; the dotted "
    "circle (60) is the threshold of the profile code. A larger shape is better, but its area depends on the order of "
    "the sectors: compare spoke by spoke. Only models with all six sectors and one protocol are drawn."
)
_HOW_SPACE = (
    "The space of the paper's Figure 1e: *IFS*, whether groups are treated alike, and *RFS*, whether the model follows "
    "labour statistics, span the floor; *BIS*, whether it departs from a stereotype when asked to, is the height of a "
    "stem. Blue is understanding pictures, orange generating them, so the six are the sectors. Dotted: the threshold "
    f"of the profile code; a larger score stands at the end of its axis. The maps say the same more "
    f"exactly. {figures.SIGNS}"
)
_HOW_SECTORS = (
    "Higher is better. The dotted line (60) is the threshold of the profile code; a score above "
    f"{TOP:.0f} is an arrow. Thick lines are 95 % intervals, thin ones what the missing samples allow."
)
_HOW_MAP = (
    "Each point is one model in one task: blue for understanding pictures, orange for generating them. The dotted "
    "lines are the threshold of the profile code. Thick crosses are 95 % intervals, thin ones bounds; an arrow is a "
    f"score beyond the axis. {figures.SIGNS}"
)
_MAPS = (("IFS", "RFS"), ("IFS", "BIS"), ("RFS", "BIS"))
FIGURES = (
    figures.Figure(
        "ranking",
        "IRIS score with its bounds",
        "The line shows the worst to the best case of the missing samples; ranks use its left end. A far score is an "
        "arrow at the end of the axis.",
        figures.ranking(lambda row: "iris_score", "IRIS score"),
    ),
    figures.Figure("sectors", "Six sectors with their intervals", _HOW_SECTORS, _dots, ("model",), needs=1),
    figures.Figure("radar", "Six sectors around a circle", _HOW_RADAR, _radar, ("model",), needs=1),
    figures.Figure("space", SPACE, _HOW_SPACE, _space),
    *(
        figures.Figure(f"map-{across.lower()}-{up.lower()}", f"Map: {across} and {up}", _HOW_MAP, draw_map(across, up))
        for across, up in _MAPS
    ),
)

VIEW = View(
    benchmark="iris",
    slices={"Scores": Slice(Column("iris_score", "IRIS score"), COLUMNS, first=("IFS_Gen", "RFS_Gen", "BIS_Gen"))},
    labels={"profile_und": "Profile Und", "profile_gen": "Profile Gen"},
    figures=FIGURES,
    caution=caution,
)
