"""Dot plots of a result's first values, or of its differences to another: intervals, fair models and the ideal.

Values share one scale where that shows all of them well, else each has its own, because units differ. A scale covers
the score's range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.drawing.dots import Dot, DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import Svg, span
from fairspace.submissions.plotting import BLUE, GREY, INK, ORANGE, digits
from fairspace.submissions.report.differences import Difference
from fairspace.submissions.report.first_values import limits_of, numbers_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.three_numbers import BIASED, NO_BIAS_SHOWN
from fairspace.submissions.values import Value

_WIDTH = 720.0
_DWARFED = 12.0
"""Longest common scale, in lengths of the shortest own scale."""
_COLOURS = {BIASED: ORANGE, NO_BIAS_SHOWN: GREY, "": BLUE}
"""Verdict on a value -> its colour."""
Keys = dict[str, tuple[str, str]]
Drawn = tuple[Line, Sequence[float]]
"""A line, and the numbers that its scale must hold; none without a number."""


def strips(result: Result, shown: Mapping[str, Value]) -> Svg:
    """Values of a result; one without a number says so, and what was not run is left out.

    A dot is the value and its line the 95 % interval; a diamond is the mean of fair models, and the tick the ideal.
    """
    values = {name: value for name, value in shown.items() if value.state != "not_run"} or shown
    model, title = str(result.meta.get("model", "")), benchmark(result.benchmark).title
    keys: Keys = {}
    lines = [_value(result, name, value, keys) for name, value in values.items()]
    return _figure(title if model in ("", "not stated") else f"{model} on {title}", lines, keys)


def difference_strips(differences: Sequence[tuple[str, Difference, str]], title: str) -> Svg:
    """Differences (name, difference, verdict) with their intervals; the tick is no difference."""
    keys: Keys = {}
    lines: list[Drawn] = []
    for name, between, verdict in differences:
        same, ends = 1.0 if between.ratio else 0.0, (between.low, between.high)
        kind, open_ = "ratio" if between.ratio else "difference", verdict == "not significant"
        colour = GREY if open_ else ORANGE
        text = f"{name}: {kind} {digits(between.value)}, {digits(ends[0])} to {digits(ends[1])}: {verdict}"
        dot = Dot(between.value, text, digits(between.value), colour=colour, interval=ends)
        keys[f"{kind}, 95 % interval" + (", not significant" if open_ else "")] = (colour, "circle")
        lines.append((Line(name, [dot], reference=(same, f"no {kind}")), [between.value, *ends, same]))
    return _figure(title, lines, keys)


def _value(result: Result, name: str, value: Value, keys: Keys) -> Drawn:
    """A value as a line; adds its kinds of marks to `keys`."""
    three, ideal = numbers_of(result, value), benchmark(result.benchmark).ideal(name, result.standard)
    if three.value is None:
        return Line(f"{name}: {three.value_text}", []), []
    text = f"{name}: {three.cell_text}; by chance {three.chance_words}"
    dots = [Dot(three.value, text, three.value_text, colour=_COLOURS[three.verdict], interval=three.interval)]
    keys[f"{three.verdict or 'value'}, 95 % interval"] = (_COLOURS[three.verdict], "circle")
    fair = None if value.uncertainty is None else value.uncertainty.fair
    if fair is not None:
        both = ideal is not None and ideal.worse == "either"  # a mean over both sides is one of magnitudes
        words = f"{name}: fair models, mean {'±' if both else ''}{digits(fair)}"
        dots += [
            Dot(place, words, colour=GREY, symbol="diamond-open") for place in ((-fair, fair) if both else (fair,))
        ]
        keys["fair models, mean"] = (GREY, "diamond-open")
    reference = None
    if ideal is not None and ideal.number is not None:
        reference = (ideal.number, f"{name}: ideal {digits(ideal.number)}")
        keys["ideal"] = (INK, "tick")
    ends = [end for end in limits_of(result, name) if isfinite(end)]
    numbers = [*(dot.value for dot in dots), *(three.interval or ()), *ends, *(reference or ())[:1]]
    return Line(name, dots, reference=reference), [number for number in numbers if isinstance(number, float)]


def _figure(title: str, lines: Sequence[Drawn], keys: Keys) -> Svg:
    numbers = [number for _, needed in lines for number in needed]
    spans = [max(needed) - min(needed) for _, needed in lines if needed and max(needed) > min(needed)]
    shared = bool(spans) and max(numbers) - min(numbers) <= _DWARFED * min(spans)
    whole = [line for line, _ in lines]
    parts = [(whole, numbers)] if shared else [([line], needed) for line, needed in lines]
    plots = [DotPlot(part, span(needed), heading="" if row else title) for row, (part, needed) in enumerate(parts)]
    return dot_plots(_WIDTH, title, plots, keys)
