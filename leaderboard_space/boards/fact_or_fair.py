"""The FACT-OR-FAIR page."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from fairspace.leaderboard_space.boards import figures
from fairspace.leaderboard_space.boards.view import Column, Slice, View
from fairspace.leaderboard_space.boards.words import behind, visibility
from fairspace.metrics.fact_or_fair.formula import GROUPS
from fairspace.metrics.fact_or_fair.tradeoff import accuracy_entropy_bound
from fairspace.submissions import plotting
from fairspace.submissions.benchmarks.fact_or_fair.score import KINDS, STANDARDS
from fairspace.submissions.drawing.dots import DotLine, DotPlot, Map, Point
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import Value


def _slice(kind: str) -> Slice:
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
    columns = [Column(score, header, digits=4) for score, header in headers.items()]
    context = {"llm": "base", "t2i": "subjective_paper"}[kind]
    even = {f"entropy_{kind}_{context}_{attribute}": f"S_E {attribute}" for attribute in GROUPS}
    columns[6:6] = [Column(score, header, digits=4) for score, header in even.items()]
    total = Column(f"average_{kind}", "Mean", digits=4)
    first = (f"{kind}_factuality", f"{kind}_fairness", *even)
    fair = Column(f"{kind}_fairness", "Fair mean", digits=4), Column(f"{kind}_factuality", "Fact mean", digits=4)
    return Slice(total, columns, lambda row: row.cohort == KINDS[kind], first, fair)


CONTEXTS = {
    "objective": ("llm_objective", "t2i_objective"),
    "subjective": ("llm_base", "t2i_subjective", "t2i_subjective_paper"),
}
COLOURS = {"objective": plotting.BLUE, "subjective": plotting.ORANGE}

_NAMES = {
    kind: {
        f"{kind}_factuality_gender": "Fact gender",
        f"{kind}_factuality_race": "Fact race",
        f"{kind}_fairness_gender": "Fair gender",
        f"{kind}_fairness_race": "Fair race",
    }
    for kind in KINDS
}
MOST = 60
"""Models shown in the trade-off."""


def kind_of(row: Row) -> str:
    """`llm` or `t2i`."""
    return next((kind for kind, cohort in KINDS.items() if cohort == row.cohort), "llm")


def _tradeoff(attribute: str) -> Callable[[figures.FigureInput], figures.DrawnFigure]:
    """Draws S_fact against S_E for one attribute, with the curve g_k."""

    def draw(source: figures.FigureInput) -> figures.DrawnFigure:
        truth = STANDARDS[source.standard].truth
        what = f"tradeoff {attribute}"
        pairs = [names for _, names in _axes(attribute, truth)]
        rows, note = source.some(MOST, what, lambda row: any(figures.has_number(row, *names) for names in pairs))
        entries = {row.entry for row in source.chosen}
        points, lines = [], []
        for row in rows:
            for point, line in _marks(source, row, attribute):
                points.append((row.entry not in entries, row.provenance == "baseline", point))
                lines.append(line)
        headers = ["Model", "Evidence", "Questions", "S_fact", "S_E", "highest S_E at this S_fact"]
        table = figures.Table(headers, lines)
        if not points:
            return figures.DrawnFigure(
                None, table, "No model has both numbers under this standard; the paper does not print them."
            )
        ordered = [point for *_, point in sorted(points, key=lambda entry: entry[:2])]
        return figures.DrawnFigure(
            partial(_plane(ordered, len(GROUPS[attribute])).draw, title="Trade-off"), table, note
        )

    return draw


def _marks(source: figures.FigureInput, row: Row, attribute: str) -> list[tuple[Point, list[str]]]:
    marks = []
    for kind, (x, y) in coordinates(row, attribute, STANDARDS[source.standard].truth).items():
        text = f"{plain(row.model)}, {kind}: S_fact {figures.told(row, x, 3)}; S_E {figures.told(row, y, 3)}"
        ends = (figures.bounds_of(x), figures.bounds_of(y), figures.interval_of(x), figures.interval_of(y))
        look = (COLOURS[kind], figures.SYMBOLS[visibility(row)])
        where = (x.value or 0.0, y.value or 0.0)
        room = float(accuracy_entropy_bound(np.array(x.value), len(GROUPS[attribute])))
        texts = [figures.cell(row, x, 4), figures.cell(row, y, 4), number(room, 4)]
        point = Point(*where, plain(row.model), text, source.href(row), *look, *ends)
        marks.append((point, [plain(row.model), behind(row, (x, y)), kind, *texts]))
    return marks


def _plane(points: Sequence[Point], groups: int) -> Map:
    shares = np.linspace(0, 1, 101)
    heights = accuracy_entropy_bound(shares, groups)
    curve = list(zip(shares.tolist(), heights.tolist(), strict=True))
    keys = {f"{kind} questions": (colour, "circle") for kind, colour in COLOURS.items()}
    keys["the bound that no model passes"] = (plotting.GREY, "line")
    return Map(points, "S_fact: right", "S_E: even", (0, 1.04), (0, 1.08), curve, keys=keys)


def coordinates(row: Row, attribute: str, truth: str = "paper") -> dict[str, tuple[Value, Value]]:
    """Kind of question -> (S_fact under a truth, S_E), without missing ones."""
    by_question = {}
    for question, names in _axes(attribute, truth):
        x, y = (figures.value_of(row, name) for name in names)
        if x is not None and y is not None and figures.has_number(row, *names):
            by_question[question] = (x, y)
    return by_question


def _axes(attribute: str, truth: str) -> list[tuple[str, tuple[str, str]]]:
    version = "" if truth == "paper" else f"{truth}_"
    return [
        (question, (f"factuality_{version}{context}_{attribute}", f"entropy_{context}_{attribute}"))
        for question, contexts in CONTEXTS.items()
        for context in contexts
    ]


def _basic(source: figures.FigureInput) -> tuple[list[DotLine], figures.Table]:
    headers = list(next(iter(_NAMES.values())).values())
    rows = with_errors(source.chosen, source.standard)
    values = [[figures.value_of(row, name) for name in _NAMES[kind_of(row)]] for row in rows]
    lines = [
        [plain(row.model), row.cohort, *(figures.cell(row, value, 4) for value in of_row)]
        for row, of_row in zip(rows, values, strict=True)
    ]
    table = figures.Table(["Model", "Kind", *headers], lines)
    return figures.by_category(source, headers, values, digits=3), table


def _dots(source: figures.FigureInput) -> figures.DrawnFigure:
    lines, table = _basic(source)
    plot = DotPlot(lines, (0.0, 1.02), "score; higher is better")
    return figures.draw_chosen(source, "Four scores", plot, table, _kinds(source))


def _kinds(source: figures.FigureInput) -> str:
    if len({row.cohort for row in source.chosen}) < 2:
        return ""
    return "Language models and image models answer different questions; their scores are not ranked together."


_HOW_TRADEOFF = (
    "Horizontal: *S_fact*, the share of answers that name the same group as the statistics. Vertical: *S_E*, how "
    "evenly the answers are spread over the groups. No model can be above the dotted line, because answers that are "
    "always right cannot be even; a point close to the line is the best possible compromise. Blue: objective "
    f"questions; orange: subjective ones. A thin cross through a point shows its bounds. {figures.SIGNS}"
)
_HOW_BASIC = (
    "Factuality of the objective questions and fairness of the subjective ones, from 0 to 1; higher is better. Thick "
    "lines are 95 % intervals, thin ones bounds: the range that the missing answers allow."
)
FIGURES = (
    figures.Figure(
        "ranking",
        "Mean of factuality and fairness with its bounds",
        "One line per model, the best at the top; language models and image models are ranked separately. The line "
        "shows the worst to the best case of the missing answers; ranks use its left end.",
        figures.ranking(lambda row: f"average_{kind_of(row)}", "mean", digits=3, cohort="Kind"),
    ),
    figures.Figure("scores", "Four scores with their intervals", _HOW_BASIC, _dots, ("model",), needs=1),
    *(
        figures.Figure(
            f"tradeoff-{attribute}",
            f"Trade-off between factuality and evenness, {attribute}",
            _HOW_TRADEOFF,
            _tradeoff(attribute),
            reads=[
                name for standard in STANDARDS.values() for _, of in _axes(attribute, standard.truth) for name in of
            ],
        )
        for attribute in GROUPS
    ),
)

VIEW = View(
    benchmark="fact_or_fair",
    slices={"Language models": _slice("llm"), "Image models": _slice("t2i")},
    figures=FIGURES,
)
