"""The page of stereotypical bias in multimodal language models."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any

from fairspace.builders.stereotypical_bias.plan import GROUPS
from fairspace.leaderboard_space.boards import figures
from fairspace.leaderboard_space.boards.view import Column, Slice, View
from fairspace.leaderboard_space.boards.words import value_text
from fairspace.metrics.stereotypical_association.formula import occupations_aligned
from fairspace.submissions.benchmarks.stereotypical_bias.about import SCENARIOS, TOPS, official
from fairspace.submissions.drawing.dots import DotLine, DotPlot, dot_plots
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import INK, number, share_text
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import Value, measured, undefined


def _columns(suffix: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"{attribute}_{scenario}{suffix}", f"{attribute.title()} {title.lower()}", digits=4)
        for attribute in TOPS
        for scenario, title in SCENARIOS.items()
    )


def _slice(suffix: str) -> Slice:
    first = (f"gender_occupation{suffix}", f"race_occupation{suffix}")
    return Slice(Column("total", "Mean", digits=4), _columns(suffix), first=first)


RACES = GROUPS["race"]
LABOUR_SOURCE = (
    "U.S. Bureau of Labor Statistics, Current Population Survey, table 11, annual averages 2022 (the paper takes 2023)"
)


def _evidence(source: figures.FigureInput, row: Row, name: str) -> Mapping[str, Any]:
    full = source.full(row)
    value = full.values.get(name) if full is not None else None
    return value.evidence if value is not None else {}


def _labour(source: figures.FigureInput) -> figures.DrawnFigure:
    shares = official()
    drawn: list[tuple[Row, list[Value | None]]] = []
    absent, aligned = [], []
    for row in source.chosen:
        counts = _evidence(source, row, "gender_occupation").get("by_instance", {})
        if not counts:
            absent.append(plain(row.model))
            continue
        drawn.append((row, [_women(name, counts.get(name)) for name in shares]))
        aligned.append(f"{plain(row.model)} {_aligned(counts)}")
    lines = [
        [name, category, number(100 * share, 1), *(value_text(values[place], 1, 100) for _, values in drawn)]
        for place, (name, (category, share)) in enumerate(shares.items())
    ]
    headers = ["Occupation", "Official category", "Women who work in it, %"]
    table = figures.Table([*headers, *(f"{plain(row.model)}: women picked, %" for row, _ in drawn)], lines)
    note = f"Official shares: {LABOUR_SOURCE}."
    if aligned:
        note = (
            "Occupations picked mostly for the gender that mostly works there, with the 95 % interval over redrawn "
            f"answers (the paper says about 90 % of 10): {', '.join(aligned)}. {note}"
        )
    if absent:
        note = f"Not drawn, because the paper does not print values by occupation: {', '.join(absent)}. {note}"
    if not drawn:
        return figures.DrawnFigure(None, table, note)
    shown = [row for row, _ in drawn]
    titles = [f"women picked as {name}" for name in shares]
    dots = figures.by_category(replace(source, chosen=tuple(shown)), titles, [values for _, values in drawn], 1, 100.0)
    with_shares = [
        replace(line, name=name, reference=(100 * share, f"{name}: {number(100 * share, 1)} % of those who work in it"))
        for line, (name, (_, share)) in zip(dots, shares.items(), strict=True)
    ]
    plot = DotPlot(with_shares, (0.0, 102.0), "women, %", {50.0: "even"}, share=0.34)
    keys = figures.keys_of(shown) | {"share of women who work in it": (INK, "tick")}
    return figures.DrawnFigure(
        partial(dot_plots, title="Picks beside labour statistics", plots=[plot], keys=keys), table, note
    )


def _aligned(counts: Mapping[str, Any]) -> str:
    """The share of occupations that follow the labour statistics, with its interval."""
    shares = official()
    wins = [counts.get(name, {}).get("wins", {}) for name in shares]
    women, men = ([won.get(gender, 0) for won in wins] for gender in ("female", "male"))
    share, low, high = occupations_aligned(women, men, [share for _, share in shares.values()])
    return "–" if isnan(share) else share_text(share, low, high, 0)


def _women(name: str, counts: Mapping[str, Any] | None) -> Value | None:
    """The share of picks that are women; its bounds count unanswered questions either way."""
    if not counts:
        return None
    women, offered = counts["wins"]["female"], sum(counts["wins"].values()) + counts["unanswered"]
    valid = offered - counts["unanswered"]
    if not valid:
        return undefined(name, "no answer names a group", expected=offered)
    high = (women + counts["unanswered"]) / offered
    return measured(name, women / valid, low=women / offered, high=high, expected=offered, valid=valid)


def _wins(source: figures.FigureInput) -> figures.DrawnFigure:
    pictures: list[figures.Matrix] = []
    lines, absent = [], []
    for row in source.chosen:
        for scenario in ("occupation", "descriptor"):
            by_name = _evidence(source, row, f"race_{scenario}").get("win_matrix", {})
            if not by_name:
                absent.append(f"{plain(row.model)}, {scenario}")
                continue
            pictures.append(figures.Matrix(f"{scenario}s", plain(row.model), source.href(row), by_name["all"]))
            for name, matrix in by_name.items():
                for group, line in zip(RACES, matrix, strict=True):
                    shares = [number(None if x is None else 100 * x, 1) for x in line]
                    what = f"all {scenario}s" if name == "all" else plain(name)
                    lines.append([plain(row.model), what, group, *shares])
    table = figures.Table(["Model", "Asked for", "Picked", *(f"over {group}, %" for group in RACES)], lines)
    note = f"Not drawn, because the paper does not print them: {'; '.join(absent)}." if absent else ""
    if not pictures:
        return figures.DrawnFigure(None, table, note)
    return figures.DrawnFigure(partial(figures.matrices, RACES, pictures, "Who is picked over whom"), table, note)


def _lines(source: figures.FigureInput) -> list[DotLine]:
    rows = with_errors(source.chosen, source.standard)
    columns = _columns("_na_filtered")
    values = [[_share(figures.value_of(row, c.score), TOPS[c.score.split("_")[0]]) for c in columns] for row in rows]
    return figures.by_category(source, _SHORT, values, 1, 100.0)


def _share(value: Value | None, top: float) -> Value | None:
    if value is None or value.value is None:
        return value
    ends = [None if end is None else end / top for end in (value.low, value.high)]
    about = value.uncertainty
    sure = None if about is None else replace(about, low=about.low / top, high=about.high / top)
    return replace(value, value=value.value / top, low=ends[0], high=ends[1], evidence={}, uncertainty=sure)


_SHORT = ("Gender occ.", "Gender desc.", "Gender pers.", "Race occ.", "Race desc.", "Race pers.")


def _scores(source: figures.FigureInput) -> figures.DrawnFigure:
    plot = DotPlot(_lines(source), (0.0, 102.0), "share of the maximum, %; lower is better")
    return figures.draw_chosen(source, "Six scores", plot, _six(source))


def _six(source: figures.FigureInput) -> figures.Table:
    return figures.values_table(source.chosen, {c.score: c.header for c in _columns("_na_filtered")}, 4)


_HOW_SIX = (
    "The six scores over the answered questions, each in percent of its maximum (0.5 for gender, 0.375 for race): 0 "
    "means even picks, 100 always the same group; lower is better. Thin lines are bounds."
)
FIGURES = (
    figures.Figure(
        "ranking",
        "Mean of the six scores with its bounds",
        "The line shows the best to the worst case of the unanswered questions; ranks use its right end.",
        figures.ranking(lambda row: "total", "mean of six scores", digits=4),
    ),
    figures.Figure("scores", "Six scores with their intervals", _HOW_SIX, _scores, ("model",), needs=1),
    figures.Figure(
        "labour",
        "Picks beside labour statistics",
        "A dot shows how often a model picks the woman when a woman and a man are offered for an occupation. The "
        "upright line is the share of women who work in it in the United States. A dot at 50 % is even; a dot at the "
        "line copies the labour market; a dot further from 50 % than the line exaggerates it. This page does not say "
        "which is right. Thin lines are bounds: the range that the unanswered questions allow.",
        _labour,
        ("model",),
        needs=1,
    ),
    figures.Figure(
        "wins",
        "Who is picked over whom, by perceived race",
        "How often the group of a row is picked over that of a column, in percent of the answered questions: 50 is "
        "even. The table has each occupation and descriptor. The groups are perceived presentation from the labels of "
        "a face data set, with their errors.",
        _wins,
        ("model",),
        needs=1,
    ),
)

VIEW = View(
    benchmark="stereotypical_bias",
    slices={"All questions": _slice(""), "Answered only": _slice("_na_filtered")},
    figures=FIGURES,
)
