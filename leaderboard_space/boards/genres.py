"""The GENRES page."""

from dataclasses import replace
from functools import partial

from fairspace.leaderboard_space.boards import figures
from fairspace.leaderboard_space.boards.view import Column, Slice, View
from fairspace.submissions.benchmarks.genres.about import METRICS, RELATIONS
from fairspace.submissions.benchmarks.genres.score import STANDARDS
from fairspace.submissions.drawing.dots import DotLine, DotPlot, dot_plots
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value

TOTAL = Column("TBS", "TBS", digits=3)


def _slice(suffix: str) -> Slice:
    columns = [Column(f"{name}{suffix}", f"{name} {title}", digits=3, signed=True) for name, title in METRICS.items()]
    return Slice(TOTAL, columns, first=(f"M1{suffix}", f"M4{suffix}", f"M6{suffix}"))


_TELLINGS = {"": "both in one story", "_single": "each alone", "_less_single": "difference"}
"""Suffix of a raw value -> compared characters."""


def _singles(source: figures.FigureInput) -> figures.DrawnFigure:
    codes, what = _TELLINGS, "for one character alone"
    lines = [
        [plain(row.model), row.cohort or "–", f"{metric} {title}"]
        + [figures.cell(row, figures.value_of(row, f"{metric}{suffix}"), 3) for suffix in codes]
        for row in source.chosen
        for metric, title in METRICS.items()
    ]
    table = figures.Table(["Model", "Evaluator", "Metric", *codes.values()], lines)
    titles = {metric: f"{metric} {title}" for metric, title in METRICS.items()}
    panels = []
    for metric, title in titles.items():
        values = [[figures.value_of(row, f"{metric}{suffix}") for suffix in codes] for row in source.chosen]
        dots = figures.by_category(source, list(codes.values()), values, 3, prefix=f"{title}, ")
        dots = [line for line in dots if any(line.dots)]
        panels.append(DotPlot(dots, figures.ends_of(dots, zero=True), heading=title, share=0.34))
    printed = [plain(row.model) for row in source.chosen if row.provenance == "published"]
    note = f"Not printed {what}: {', '.join(printed)}." if printed else ""
    if not any(dot for panel in panels for line in panel.lines for dot in line.dots):
        return figures.DrawnFigure(None, table, f"No metric has a number. {note}".strip())
    keys = figures.keys_of(source.chosen)
    return figures.DrawnFigure(
        partial(dot_plots, title=f"Every metric {what}", plots=panels, keys=keys, columns=2), table, note
    )


def _deviation(row: Row, metric: str, standard: str) -> Value | None:
    """A metric's distance from the standard's centre in standard deviations of its cohort, with its bounds."""
    value = figures.value_of(row, metric)
    if value is None or value.value is None:
        return value
    rules = STANDARDS[standard]
    cohort = rules.cohorts[row.labels.get("cohort", "") or rules.default_cohort]
    place = list(METRICS).index(metric)
    mean, spread = cohort.mean[place], cohort.std[place]
    ends = [None if end is None else (end - mean) / spread for end in (value.low, value.high)]
    if ends[0] is None or ends[1] is None:
        least, most = None, None
    else:
        least = 0.0 if ends[0] <= 0 <= ends[1] else min(abs(ends[0]), abs(ends[1]))
        most = max(abs(ends[0]), abs(ends[1]))
    return replace(value, value=abs(value.value - mean) / spread, low=least, high=most, evidence={})


def _deviations(source: figures.FigureInput) -> tuple[list[DotLine], figures.Table]:
    names = [f"{metric} {title}" for metric, title in METRICS.items()]
    values = [[_deviation(row, metric, source.standard) for metric in METRICS] for row in source.chosen]
    lines = [
        [plain(row.model), *(figures.cell(row, value, 2) for value in of_row)]
        for row, of_row in zip(source.chosen, values, strict=True)
    ]
    return figures.by_category(source, names, values), figures.Table(["Model", *names], lines)


def _dots(source: figures.FigureInput) -> figures.DrawnFigure:
    lines, table = _deviations(source)
    plot = DotPlot(lines, figures.ends_of(lines, zero=True), "standard deviations; lower is better")
    return figures.draw_chosen(source, "Eight metrics", plot, table)


_HOW_DEVIATIONS = (
    "How far each of the eight differences is from 0 (under `inaugural`: from the mean of the paper's six models), in "
    "the standard deviations of these six; *TBS* is the sum. Lower is better. "
    "Thin lines are bounds: the range that the unusable stories allow."
)
FIGURES = (
    figures.Figure(
        "ranking",
        "Total bias score with its bounds",
        "Each evaluator has its own ranking. The line shows the best to the worst case of the unusable stories; ranks "
        "use its right end. Printed scores have no bounds.",
        figures.ranking(lambda row: "TBS", "TBS", digits=3, most=40, cohort="Evaluator"),
    ),
    figures.Figure("deviations", "Eight metrics with their bounds", _HOW_DEVIATIONS, _dots, ("model",), needs=1),
    figures.Figure(
        "singles",
        "One character against two",
        "The paper's Figure 1: each metric between the man and the woman of one story, and between the story of the "
        "man alone and that of the woman alone, where the model wrote those too (the optional task narrative_single). "
        "A line through a point shows its bounds. M4 and M8 compare two characters and have no such value. No score "
        "has a part of these.",
        _singles,
        ("model",),
        needs=1,
    ),
)

VIEW = View(
    benchmark="genres",
    slices={"Overall": _slice(""), **{title: _slice(f"_{code}") for title, code in RELATIONS.items()}},
    cohort="Evaluator",
    figures=FIGURES,
)
