"""Dot plots of results' first values, or of differences between results.

Values with an ideal and limits share one scale, from 0 (the ideal) to 1 (the worst that the score can be). Others have
scales of their own, because units differ.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, log

from fairspace.submissions.benchmarks.benchmark import Benchmark, Ideal
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.drawing.dots import Dot, DotLine, DotPlot, dot_plots
from fairspace.submissions.drawing.svg import Svg, span
from fairspace.submissions.plotting import BLUE, GREY, INK, ORANGE, digits, interval_text
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import BIASED, NO_BIAS_SHOWN
from fairspace.submissions.show.headline import numbers_of, score_limits
from fairspace.submissions.values import Value

_WIDTH = 720.0
_DWARFED = 12.0
"""Longest common scale, in lengths of the shortest own scale."""
_COLOURS = {BIASED: ORANGE, NO_BIAS_SHOWN: GREY, "": BLUE}
"""Verdict on a value -> its colour."""
SCALE = (
    "Dots are values, lines their 95 % intervals, from 0 (even, or all right) to 1 (the worst that the score can be; "
    "in IRIS on a logarithmic scale); values without such limits have a scale of their own. The numbers are the values."
)
_COMMON = (0.0, 1.0)
Keys = dict[str, tuple[str, str]]
Ends = tuple[float, float]
Labels = Mapping[str, str]
Drawn = tuple[DotLine, Sequence[float]]
"""A line, and the numbers that its scale must hold; none without a number, `_COMMON` on the common scale."""


def strips(
    results: Sequence[Result],
    shown: Sequence[Mapping[str, Value]],
    labels: Sequence[str] = (),
    printed: Sequence[tuple[Row, float]] = (),
) -> Svg:
    """Values of a result; one without a number says so, and what was not run is left out.

    A dot is the value and its line the 95 % interval; a diamond is the mean of fair models, and the tick the ideal.
    With `labels` of the models, each value has a plot with a line for each model, the first one also for `printed` rows
    with their numbers of it.
    """
    keys: Keys = {}
    title, model = benchmark(results[0].benchmark).title, str(results[0].meta.get("model", ""))
    if not labels:
        values = {name: value for name, value in shown[0].items() if value.state != "not_run"} or shown[0]
        lines = [_value(results[0], name, value, keys) for name, value in values.items()]
        return _figure(title if model in ("", "not stated") else f"{model} on {title}", lines, keys)
    lead = next(iter(shown[0]), "")
    beside = [_printed(row, n, keys, _place(results[0], lead)) for row, n in sorted(printed, key=lambda p: p[1])]
    plots = []
    for name in dict.fromkeys(name for values in shown for name in values):
        lines = [
            _value(result, name, values[name], keys, label)
            for result, values, label in zip(results, shown, labels, strict=True)
            if name in values and values[name].state == "value"
        ]
        if lines:
            plots.append(_plot([*lines, *(beside if name == lead else ())], name))
    return dot_plots(_WIDTH, title, plots, keys)


def _place(result: Result, name: str) -> Callable[[float], float] | None:
    return from_ideal(benchmark(result.benchmark), result.standard, name, result.scored.labels)


def _printed(row: Row, number: float, keys: Keys, place: Callable[[float], float] | None) -> Drawn:
    keys["printed in the paper, interval unknown"] = (GREY, "circle-open")
    text = f"{row.model}, printed: {digits(number)}"
    at = number if place is None else place(number)
    line = DotLine(row.model, [Dot(at, text, digits(number), colour=GREY, symbol="circle-open")])
    return line, [number] if place is None else _COMMON


def difference_strips(differences: Sequence[tuple[str, float, Ends, bool, str]], title: str) -> Svg:
    """Differences (name, value, interval, whether it is a ratio, verdict); the tick is no difference."""
    keys: Keys = {}
    lines: list[Drawn] = []
    for name, value, ends, ratio, verdict in differences:
        same, kind, open_ = float(ratio), "ratio" if ratio else "difference", verdict == "not significant"
        colour = GREY if open_ else ORANGE
        text = f"{name}: {kind} {digits(value)}, {interval_text(ends)}: {verdict}"
        dot = Dot(value, text, digits(value), colour=colour, interval=ends)
        keys[f"{kind}, 95 % interval" + (", not significant" if open_ else "")] = (colour, "circle")
        lines.append((DotLine(name, [dot], reference=(same, f"no {kind}")), [value, *ends, same]))
    return _figure(title, lines, keys)


def _value(result: Result, name: str, value: Value, keys: Keys, label: str = "") -> Drawn:
    """A value as a line named `label`, or by its own name; adds its kinds of marks to `keys`."""
    three, ideal = numbers_of(result, value), benchmark(result.benchmark).ideal(name, result.standard)
    if three.value is None:
        return DotLine(f"{name}: {three.value_text}", []), []
    text = f"{label or name}: {three.cell_text}; by chance {three.chance_words}"
    place = _place(result, name)
    at, interval = three.value, three.interval
    if place is not None:
        at, interval = place(three.value), ends_from_ideal(place, ideal, interval)
    dots = [Dot(at, text, three.value_text, colour=_COLOURS[three.verdict], interval=interval)]
    keys[f"{three.verdict or 'value'}, 95 % interval"] = (_COLOURS[three.verdict], "circle")
    fair = None if value.uncertainty is None else value.uncertainty.fair
    if fair is not None:
        both = ideal is not None and ideal.worse == "either"  # a mean over both sides is one of magnitudes
        words = f"{name}: fair models, mean {'±' if both else ''}{digits(fair)}"
        ats = [place(fair)] if place is not None else [-fair, fair] if both else [fair]
        dots += [Dot(at, words, colour=GREY, symbol="diamond-open") for at in ats]
        keys["fair models, mean"] = (GREY, "diamond-open")
    reference = None
    if ideal is not None and ideal.number is not None:
        reference = (ideal.number if place is None else 0.0, f"{name}: ideal {digits(ideal.number)}")
        keys["ideal"] = (INK, "tick")
    if place is not None:
        return DotLine(label or name, dots, reference=reference), _COMMON
    limits = score_limits(benchmark(result.benchmark), result.standard, name, result.scored.labels)
    ends = [end for end in limits if isfinite(end)]
    numbers = [*(dot.value for dot in dots), *(three.interval or ()), *ends, *(reference or ())[:1]]
    return DotLine(label or name, dots, reference=reference), [
        number for number in numbers if isinstance(number, float)
    ]


def from_ideal(bench: Benchmark, standard: str, name: str, labels: Labels) -> Callable[[float], float] | None:
    """Distance of a number from the ideal, over the largest possible one, in [0, 1]; None without limits.

    `labels`: those of the scores, which tell what was asked.
    """
    ideal, (low, high) = bench.ideal(name, standard), score_limits(bench, standard, name, labels)
    if ideal is not None and ideal.worse == "below" and ideal.number is not None:
        low, high = max(low, 0.0), ideal.number
    best = (high if bench.higher_is_better else low) if ideal is None else ideal.number
    if best is None or not (isfinite(low) and isfinite(high)) or low == high:
        return None
    if bench.scoring.logarithmic:
        return lambda number: 1 - log(max(number, 1.0)) / log(best)
    worst = max(best - low, high - best)
    return lambda number: min(abs(number - best) / worst, 1.0)


def ends_from_ideal(place: Callable[[float], float], ideal: Ideal | None, interval: Ends | None) -> Ends | None:
    """An interval on the scale of `from_ideal`, from 0 on where it holds the ideal; None without one."""
    if interval is None:
        return None
    first, last = sorted(map(place, interval))
    holds = ideal is not None and ideal.number is not None and interval[0] <= ideal.number <= interval[1]
    return 0.0 if holds else first, last


def _figure(title: str, lines: Sequence[Drawn], keys: Keys) -> Svg:
    common, lines = [[each for each in lines if (each[1] is _COMMON) is kind] for kind in (True, False)]
    numbers = [number for _, needed in lines for number in needed]
    spans = [max(needed) - min(needed) for _, needed in lines if needed and max(needed) > min(needed)]
    shared = bool(spans) and max(numbers) - min(numbers) <= _DWARFED * min(spans)
    parts = [part for part in (common, *([lines] if shared else [[line] for line in lines])) if part]
    return dot_plots(_WIDTH, title, [_plot(part, "" if row else title) for row, part in enumerate(parts)], keys)


def _plot(lines: Sequence[Drawn], heading: str) -> DotPlot:
    drawn, common = [line for line, _ in lines], all(needed is _COMMON for _, needed in lines)
    if common:
        return DotPlot(drawn, _COMMON, levels={0.0: "even", 1.0: "worst"}, heading=heading)
    return DotPlot(drawn, span(number for _, needed in lines for number in needed), heading=heading)
