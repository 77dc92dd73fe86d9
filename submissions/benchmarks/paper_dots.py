"""Figures of papers as dot plots of one's own models, with intervals: shares of groups, levels of genders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    levels: Mapping[float, str] | None = None,
    references: Mapping[str, tuple[float, str]] | None = None,
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
        reach = [
            end
            for model in own
            for name in names
            if (value := read(model, name)) is not None and value.value is not None
            for end in (value.value, *(value.interval or ()))
        ]
        axis = ends or span(reach, zero=True)

        def dot(model: Model, name: str, place: int) -> Dot | None:
            value = read(model, name)
            if value is None or value.value is None:
                return None
            shown = _digits(value.value)
            text = f"{model.name}, {series[place]}: {shown}"
            if value.interval:
                text += f", 95 % interval {_digits(value.interval[0])} to {_digits(value.interval[1])}"
            return Dot(value.value, text, shown, "", *_LOOKS[place], value.interval)

        def line(model: Model, name: str, names: Sequence[str]) -> Line:
            dots = [dot(model, each, place) for place, each in enumerate(names)]
            return Line(name, dots, reference=(references or {}).get(name))

        drawn = [
            DotPlot(
                [line(model, name, each) for name, each in lines.items()],
                axis,
                title,
                levels or {},
                ": ".join(filter(None, (model.name if len(own) > 1 else "", heading))),
            )
            for model in own
            for heading, lines in plots.items()
        ]
        keys = {name: _LOOKS[place] for place, name in enumerate(series)} if len(series) > 1 else {}
        if references:
            keys["official statistics"] = (INK, "tick")
        return dot_plots(820, label, drawn, keys, columns)

    needed = [[name.partition(":")[0] for name in each] for lines in plots.values() for each in lines.values()]
    return PaperFigure(label, caption, draw, needed)
