"""Figures of papers as dot plots of one's own models, with intervals: shares of groups, levels of genders."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from fairspace.submissions.benchmarks.paper import Model, PaperFigure
from fairspace.submissions.drawing.dots import Dot, DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import Svg, span
from fairspace.submissions.plotting import BLUE, GREEN, INK, ORANGE, PURPLE, number
from fairspace.submissions.values import Value

_LOOKS = ((BLUE, "circle"), (ORANGE, "diamond"), (GREEN, "square"), (PURPLE, "up"))
Plots = Mapping[str, Mapping[str, Sequence[str]]]
"""Heading of a plot -> line -> the value of each series."""


def value_of(model: Model, name: str) -> Value | None:
    """The value of a model; None without a number."""
    value = model.values.get(name)
    return value if value is not None and value.value is not None else None


def read_dots(file: Path, read: Callable[[Model, str], Value | None]) -> Iterator[PaperFigure]:
    """The figures `dots` of a `paper.toml`: fields of `dot_figure`; the ends in `lines` replace `*` in `plots`."""
    for found in tomllib.loads(file.read_text(encoding="utf-8"))["dots"]:
        lines, plots = found.pop("lines"), found.pop("plots")
        of_lines = {
            heading: {line: [name.replace("*", end) for name in names] for line, end in lines.items()}
            for heading, names in plots.items()
        }
        yield dot_figure(plots=of_lines, read=read, **found)


def _digits(value: float) -> str:
    return number(value, 3 if abs(value) < 1 else 2)


def dot_figure(
    label: str,
    caption: str,
    plots: Plots,
    series: Sequence[str],
    title: str,
    *,
    ends: tuple[float, float] | None = None,
    levels: Mapping[float, str] = {},
    references: Mapping[str, tuple[float, str]] = {},
    columns: int = 1,
    read: Callable[[Model, str], Value | None] = value_of,
) -> PaperFigure:
    """A figure with a plot for each heading and own model; the paper prints no numbers of its models here.

    `ends` and `title` are of the axis, all numbers' ends if left out; `references`: line -> number to compare with, and
    its text; `read`: a model and a name -> its value.
    """

    def draw(models: Sequence[Model]) -> Svg:
        own = [model for model in models if model.own]
        names = {name for lines in plots.values() for each in lines.values() for name in each}
        known = [value for model in own for name in names if (value := read(model, name)) is not None]
        axis = ends or span([end for v in known for end in (v.value or 0.0, *(v.interval or ()))], zero=True)

        def dot(model: Model, name: str, place: int) -> Dot | None:
            value = read(model, name)
            if value is None or value.value is None:
                return None
            ends = "" if value.interval is None else " ({} to {})".format(*map(_digits, value.interval))
            shown = _digits(value.value)
            text = f"{model.name}, {series[place]}: {shown}{ends}"
            return Dot(value.value, text, shown, "", *_LOOKS[place], value.interval)

        drawn = []
        for model, (heading, of_lines) in product(own, plots.items()):
            lines = [
                Line(line, [dot(model, each, at) for at, each in enumerate(names)], reference=references.get(line))
                for line, names in of_lines.items()
            ]
            above = ": ".join(filter(None, (model.name if len(own) > 1 else "", heading)))
            drawn.append(DotPlot(lines, axis, title, levels, above))
        keys = {name: _LOOKS[place] for place, name in enumerate(series)} if len(series) > 1 else {}
        if references:
            keys["official statistics"] = (INK, "tick")
        return dot_plots(820, label, drawn, keys, columns)

    needed = [[name.partition(":")[0] for name in each] for lines in plots.values() for each in lines.values()]
    return PaperFigure(label, caption, draw, needed)
