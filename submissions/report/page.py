"""A report as one page without network or scripts: figures, tables, answers, methods, citations."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.drawing.dots import Dot, DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import span
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import COLOURS, GREY, digits
from fairspace.submissions.report.contents import Report
from fairspace.submissions.report.headline import first_values, limits_of, numbers_of, printed_like
from fairspace.submissions.results.three_numbers import why_no_interval

FOLDED = frozenset({"values", "missing"})
"""Folded tables, which may have a hundred rows."""
WIDTH = 760.0
"""Width of a figure in pixels."""


def to_html(report: Report) -> str:
    """The report as HTML."""
    return _template().render(report=report, figures=_figures(report), folded=FOLDED)


@lru_cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_plain
    )
    return environment.get_template("page.html.jinja")


def _plain(value: object) -> object:
    return plain(value) if type(value) is str else value


def _figures(report: Report) -> list[tuple[str, Markup]]:
    first = report.results[0]
    total, lines = report.headlines[0].score, _lines(report)
    printed = [
        Line(
            row.model,
            [
                Dot(
                    number,
                    f"{row.model}, {why_no_interval(row.scores[total], published=True)}: {digits(number)}",
                    digits(number),
                    colour=GREY,
                    symbol="circle-open",
                )
            ],
        )
        for row, number in sorted(printed_like(first, total), key=lambda pair: pair[1])
    ]
    figures = []
    if printed and total in lines:
        caption = f"{total} beside the paper's models, hollow dots; nobody knows their intervals."
        figures.append((caption, _figure([_plot(report, total, [*lines.pop(total), *printed])], total)))
    if lines:
        caption = "Values with 95 % intervals; each has a scale of its own."
        figures.append((caption, _figure([_plot(report, name, lines[name]) for name in lines], caption)))
    return figures


def _figure(plots: list[DotPlot], title: str) -> Markup:
    return Markup(dot_plots(WIDTH, title, plots).document())  # noqa: S704 all texts of an Svg are escaped


def _plot(report: Report, name: str, lines: list[Line]) -> DotPlot:
    first = report.results[0]
    ideal, limits = benchmark(first.benchmark).ideal(name, first.standard), limits_of(first, name)
    dots = [dot for line in lines for dot in line.dots if dot is not None]
    numbers = [number for dot in dots for number in (dot.value, *(dot.interval or ()))]
    levels = {} if ideal is None or ideal.number is None else {ideal.number: f"ideal {ideal.number:g}"}
    numbers += levels
    ends = (min(*limits, *numbers), max(*limits, *numbers)) if all(map(isfinite, limits)) else span(numbers)
    return DotPlot(lines, ends, levels=levels, heading=name)


def _lines(report: Report) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {}
    for place, (result, model) in enumerate(zip(report.results, report.names, strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        for name, value in first_values(result).items():
            three = numbers_of(result, value)
            if three.value is not None:
                about = f"{model}: {three.cell_text}"
                dot = Dot(three.value, about, three.value_text, colour=colour, interval=three.interval)
                lines.setdefault(name, []).append(Line(model, [dot]))
    return lines
