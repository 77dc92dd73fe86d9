"""The tables and figures of a benchmark's paper as data: heads as printed, and the name of the value in each cell.

Figures are maps of printed and own models, or dot plots of own models alone, with intervals.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from fairspace.builders.registry import PrintedCell
from fairspace.submissions.benchmarks.scoring_table import ScoringTable
from fairspace.submissions.drawing.dots import Dot, DotLine, DotPlot, Map, Point, dot_plots
from fairspace.submissions.drawing.svg import Svg, side_by_side, span
from fairspace.submissions.plotting import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, digits, number
from fairspace.submissions.values import Value, number_of


@dataclass(frozen=True)
class PrintedModel:
    """A printed model, or one's `own`.

    `cohort`: kind of model, or judge; `values` by name, in the unit of results; `texts`: name -> text of a cell that is
    no number, such as a profile code; `notes`: name -> remark on a cell, '' -> on one's own row.
    """

    name: str
    own: bool
    cohort: str
    values: Mapping[str, Value]
    texts: Mapping[str, str]
    notes: Mapping[str, str]


@dataclass(frozen=True)
class PrintedBlock:
    """A row for each model of a cohort (all for ''); `heads` stand before its name, `of` replaces `*` in names."""

    heads: Sequence[str] = ()
    of: str = ""
    cohort: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A printed table; `number` as printed, such as 'Table 2', and `caption` in our words.

    `columns`: their heads, with `groups` above; `names`: the value of each; `heads`: of those of `PrintedBlock.heads`;
    `digits`, `unit`: decimals and factor of a column without printed figures. `across`: a model is a group of columns,
    not a row, and `groups` stand above `heads`. `models`: printed models, by default those of the registry's table of
    this number; `needs`: why a model without any value has no row.
    """

    number: str
    caption: str
    columns: Sequence[str]
    names: Sequence[str]
    blocks: Sequence[PrintedBlock] = (PrintedBlock(),)
    groups: Sequence[str] = ()
    heads: Sequence[str] = ()
    digits: int = 4
    unit: float = 1.0
    across: bool = False
    models: Sequence[str] = ()
    needs: str = ""


@dataclass(frozen=True)
class PaperFigure:
    """A printed figure; `draw`: the models that have all values of one of `names`, own ones last -> its image.

    It is not made where no model has them, for the reason `needs`.
    """

    number: str
    caption: str
    draw: Callable[[Sequence[PrintedModel]], Svg]
    names: Sequence[Sequence[str]]
    needs: str = "no result here has its values"


@dataclass(frozen=True)
class PaperTables:
    """Tables and figures; `printed`: a printed figure -> its name in them, and its unit, such as 100 for percent.

    `rules`: printed values that are no scores, such as norms; draws of their parts give the intervals of one's own.
    `references`: printed rows of tables beside those of `published`.
    `read`: sources other than results, and what opens a submission -> rows of one's own; None if no table needs them.
    `absent`: numbers of printed tables and figures -> why they are not made.
    """

    parts: Sequence[PaperTable | PaperFigure]
    printed: Callable[[PrintedCell], tuple[str, float]] = lambda figure: (figure.score, 1.0)
    rules: ScoringTable = field(default_factory=lambda: ScoringTable({}))
    references: Sequence[PrintedModel] = ()
    read: Callable[[Sequence[Path], Callable[[Path], Any]], Sequence[PrintedModel]] | None = None
    absent: Mapping[str, str] = field(default_factory=dict)


Curves = Mapping[str, Sequence[tuple[float, float]]]


def read_parts(file: Path, curves: Curves | None = None, **renamed: str) -> list[PaperTable | PaperFigure]:
    """The parts in a `paper.toml`: arrays `table`, with the fields of `PaperTable`, and `figure`, with `planes`.

    `also` of a table: numbers of further tables, the same of other models; `each` of a figure: its planes once for each
    of these, which replace `*`.
    `curves`: name -> points of a dotted line of a plane; `renamed`: parts of names of values -> what replaces them.
    """
    text = file.read_text(encoding="utf-8")
    for old, new in renamed.items():
        text = text.replace(old, new)
    declared = tomllib.loads(text)
    tables = [
        PaperTable(**{**t, "number": number, "blocks": [PrintedBlock(**b) for b in t.get("blocks", [{}])]})
        for t in declared["table"]
        for number in [t["number"], *t.pop("also", [])]
    ]
    figures = [
        PaperFigure(f["number"], f["caption"], partial(_planes, planes, curves or {}), names)
        for f in declared.get("figure", [])
        for planes in [[p for of in f.get("each", [""]) for p in json.loads(json.dumps(f["planes"]).replace("*", of))]]
        for names in [[pair for plane in planes for pair in plane["series"].values()]]
    ]
    return [*tables, *figures]


def _planes(planes: Sequence[Mapping[str, Any]], curves: Curves, models: Sequence[PrintedModel]) -> Svg:
    maps = [_plane(models, **{**each, "curve": curves.get(each.get("curve", ""), ())}) for each in planes]
    return side_by_side(" and ".join(planes[0]["titles"]), maps, 2)


def _plane(
    models: Sequence[PrintedModel], titles: Sequence[str], series: Mapping[str, Sequence[str]], **of_map: Any
) -> Svg:
    """A map of printed models and one's own, with intervals; each of the series (name -> values) has a sign."""
    signs = dict(zip(series, ("circle", "diamond", "square", "up"), strict=False))
    points = []
    for model in sorted(models, key=lambda model: not model.own):
        for label, names in series.items():
            x, y = (number_of(model.values, name) for name in names)
            if x is not None and y is not None:
                text = f"{model.name}, {label}: {digits(x)}, {digits(y)}"
                look = (model.name, text, "", ORANGE if model.own else BLUE, signs[label])
                ends = [model.values[name].interval for name in names]
                points.append(Point(x, y, *look, x_interval=ends[0], y_interval=ends[1]))
    keys = {label: (GREY, f"{sign}-open") for label, sign in signs.items() if len(signs) > 1}
    keys |= {"printed": (BLUE, "circle"), "one's own": (ORANGE, "circle")}
    of_map = {"x_span": span(point.x for point in points), "y_span": span(point.y for point in points), **of_map}
    return Map(points, titles[0], titles[1], keys=keys, **of_map).draw(560, " and ".join(titles))


_LOOKS = ((BLUE, "circle"), (ORANGE, "diamond"), (GREEN, "square"), (PURPLE, "up"))
Plots = Mapping[str, Mapping[str, Sequence[str]]]
"""Heading of a plot -> line -> the value of each series."""


def value_of(model: PrintedModel, name: str) -> Value | None:
    """The value of a model; None without a number."""
    value = model.values.get(name)
    return value if value is not None and value.value is not None else None


def read_dots(file: Path, read: Callable[[PrintedModel, str], Value | None]) -> Iterator[PaperFigure]:
    """The figures `dots` of a `paper.toml`: fields of `dot_figure`; the ends in `lines` replace `*` in `plots`."""
    for figure in tomllib.loads(file.read_text(encoding="utf-8"))["dots"]:
        lines, plots = figure.pop("lines"), figure.pop("plots")
        of_lines = {
            heading: {line: [name.replace("*", end) for name in names] for line, end in lines.items()}
            for heading, names in plots.items()
        }
        yield dot_figure(plots=of_lines, read=read, **figure)


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
    read: Callable[[PrintedModel, str], Value | None] = value_of,
) -> PaperFigure:
    """A figure with a plot for each heading and own model; the paper prints no numbers of its models here.

    `ends` and `title` are of the axis, all numbers' ends if left out; `references`: line -> number to compare with, and
    its text; `read`: a model and a name -> its value.
    """

    def draw(models: Sequence[PrintedModel]) -> Svg:
        own_models = [model for model in models if model.own]
        names = {name for lines in plots.values() for each in lines.values() for name in each}
        values = [value for model in own_models for name in names if (value := read(model, name)) is not None]
        axis = ends or span([end for v in values for end in (v.value or 0.0, *(v.interval or ()))], zero=True)

        def dot(model: PrintedModel, name: str, place: int) -> Dot | None:
            value = read(model, name)
            if value is None or value.value is None:
                return None
            ends = "" if value.interval is None else " ({} to {})".format(*map(_digits, value.interval))
            shown = _digits(value.value)
            text = f"{model.name}, {series[place]}: {shown}{ends}"
            return Dot(value.value, text, shown, "", *_LOOKS[place], value.interval)

        drawn = []
        for model, (heading, of_lines) in product(own_models, plots.items()):
            lines = [
                DotLine(line, [dot(model, each, at) for at, each in enumerate(names)], reference=references.get(line))
                for line, names in of_lines.items()
            ]
            above = ": ".join(filter(None, (model.name if len(own_models) > 1 else "", heading)))
            drawn.append(DotPlot(lines, axis, title, levels, above))
        keys = {name: _LOOKS[place] for place, name in enumerate(series)} if len(series) > 1 else {}
        if references:
            keys["official statistics"] = (INK, "tick")
        return dot_plots(820, label, drawn, keys, columns)

    needed = [[name.partition(":")[0] for name in each] for lines in plots.values() for each in lines.values()]
    return PaperFigure(label, caption, draw, needed)
