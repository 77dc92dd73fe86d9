"""A result's first values as a figure: one strip for each, with its interval, fair models and ideal.

A strip holds every number that its score can be, such as 0 to 1. Strips have one scale where that shows all of them
well, else each has its own, because units differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.drawing.plotly_look import finish, plot
from fairspace.submissions.plotting import BLUE, GREY, ORANGE, digits
from fairspace.submissions.report.differences import Difference
from fairspace.submissions.report.first_values import limits_of, numbers_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.three_numbers import BIASED, NO_BIAS_SHOWN
from fairspace.submissions.values import Value

STRIP, MARGIN = 58, 130
"""Pixels of a strip, and above and below all of them."""
_ROOM = 0.12
"""Of a strip's span, on either side of what it shows."""
_DWARFED = 12.0
"""One scale holds all strips if it is at most so many times as long as the shortest of them."""
_COLOURS = {BIASED: ORANGE, NO_BIAS_SHOWN: GREY, "": BLUE}
"""Verdict on a value -> its colour."""


def strips(result: Result, shown: Mapping[str, Value]) -> go.Figure:
    """Values of a result; what has no number says so, and what was not run is left out.

    A dot is the value and its line the 95 % interval; a diamond is the mean of fair models, and the
    dashed line the ideal.
    """
    values = {name: value for name, value in shown.items() if value.state != "not_run"} or shown
    model, title = str(result.meta.get("model", "")), benchmark(result.benchmark).title
    figure = _figure(len(values), title if model in ("", "not stated") else f"{plot(model)} on {title}")
    _scale(figure, [_strip(figure, row, result, name, value) for row, (name, value) in enumerate(values.items(), 1)])
    return figure


def difference_strips(lines: Sequence[tuple[str, Difference, str]], title: str) -> go.Figure:
    """Differences with their intervals; the dashed line is no difference.

    Args:
        lines: name, difference and what is said of it.
        title: what they are differences to.
    """
    figure = _figure(len(lines), plot(title))
    extents: list[Sequence[float]] = []
    for row, (name, between, verdict) in enumerate(lines, 1):
        same = 1.0 if between.ratio else 0.0
        ends = (between.low, between.high)
        _name(figure, row, name, same)
        extents.append([between.value, *ends, same])
        colour = GREY if verdict == "not significant" else ORANGE
        kind = "ratio" if between.ratio else "difference"
        hover = f"{plot(name)}: {kind} {digits(between.value)}, {digits(ends[0])} to {digits(ends[1])}: {verdict}"
        legend = f"{kind}, 95 % interval" + (", not significant" if colour == GREY else "")
        _add(figure, row, legend, [between.value], _interval(between.value, ends, colour), hover)
    _scale(figure, extents)
    return figure


def _figure(rows: int, title: str) -> go.Figure:
    figure = make_subplots(rows=max(1, rows), cols=1, vertical_spacing=0)
    finish(figure, MARGIN + STRIP * max(1, rows))
    figure.update_layout(
        title={"text": title, "x": 0.01, "y": 0.99, "yanchor": "top"}, margin={"l": 190, "t": 84, "b": 24}
    )
    figure.update_yaxes(range=[-1, 1], showgrid=False, zeroline=False, fixedrange=True)
    figure.update_xaxes(zeroline=False, nticks=5, tickfont={"size": 10})
    return figure


def _name(figure: go.Figure, row: int, name: str, line: float | None) -> None:
    """Name a strip and draw its dashed line."""
    figure.update_yaxes(tickvals=[0], ticktext=[plot(name)], row=row, col=1)
    if line is not None:
        look = {"color": GREY, "dash": "dash", "width": 1.5}
        figure.add_vline(x=line, line=look, row=row, col=1, exclude_empty_subplots=False)


def _scale(figure: go.Figure, extents: Sequence[Sequence[float]]) -> None:
    """Give the strips one scale, or each its own; a strip without numbers has none."""
    ends = [(min(numbers), max(numbers)) if numbers else None for numbers in extents]
    spans = [high - low for low, high in filter(None, ends) if high > low]
    whole = (
        (min(low for low, _ in filter(None, ends)), max(high for _, high in filter(None, ends))) if spans else (0, 0)
    )
    shared = bool(spans) and whole[1] - whole[0] <= _DWARFED * min(spans)
    for row, limits in enumerate(ends, 1):
        low, high = whole if shared else limits or (0.0, 1.0)
        room = _ROOM * ((high - low) or 1.0)
        shown = (limits is not None and not shared) or (shared and row == len(ends))
        figure.update_xaxes(range=[low - room, high + room], showticklabels=shown, row=row, col=1)


def _interval(middle: float, ends: tuple[float, float] | None, colour: str) -> dict[str, object]:
    about: dict[str, object] = {"marker": {"size": 10, "color": colour}}
    if ends is None:
        return about
    error = {"array": [ends[1] - middle], "arrayminus": [middle - ends[0]], "symmetric": False}
    return {**about, "error_x": error}


def _strip(figure: go.Figure, row: int, result: Result, name: str, value: Value) -> list[float]:
    """Draw a value; the numbers that its scale must hold."""
    three, ideal = numbers_of(result, value), benchmark(result.benchmark).ideal(name, result.standard)
    target = None if ideal is None else ideal.number
    _name(figure, row, name, None if three.value is None else target)
    if three.value is None:
        reason = plot(f"{three.value_text}: {value.reason}"[:120])
        about = {"x": 0.5, "xref": f"x{row if row > 1 else ''} domain", "y": 0, "yref": f"y{row if row > 1 else ''}"}
        figure.add_annotation(text=plot(three.value_text), hovertext=reason, showarrow=False, **about)
        return []
    fair = None if value.uncertainty is None else value.uncertainty.fair
    places: list[float] = []
    if fair is not None:
        marker = {"symbol": "diamond-open", "size": 9, "color": GREY}
        places = [-fair, fair] if ideal is not None and ideal.worse == "either" else [fair]  # of both sides: magnitudes
        hover = f"fair models {' and '.join(map(digits, places))}"
        _add(figure, row, "fair models, mean", places, {"marker": marker}, hover)
    hover = plot(f"{name}: {three.cell_text}; by chance {three.chance_words}")
    legend = f"{three.verdict or 'value'}, 95 % interval"
    _add(figure, row, legend, [three.value], _interval(three.value, three.interval, _COLOURS[three.verdict]), hover)
    ends = [end for end in limits_of(result, name) if isfinite(end)]
    return [three.value, *(three.interval or ()), *places, *ends, *([] if target is None else [target])]


def _add(
    figure: go.Figure, row: int, legend: str, places: Sequence[float], look: Mapping[str, object], hover: str
) -> None:
    """Add marks to a strip; the legend has each kind of mark once."""
    first = not any(trace.name == legend for trace in figure.data)
    figure.add_scatter(
        x=places, y=[0] * len(places), mode="markers", name=legend, legendgroup=legend, showlegend=first,
        hovertext=hover, hoverinfo="text", row=row, col=1, **look,
    )  # fmt: skip
