"""Dot plots of a result's first values, or of its differences to another; and differences of models with intervals.

Values share one scale where that shows all of them well, else each has its own, because units differ. A scale covers
the score's range.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.drawing.dots import Dot, DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import Svg, span
from fairspace.submissions.plotting import BLUE, GREY, INK, ORANGE, digits
from fairspace.submissions.report.headline import limits_of, numbers_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.results.scoring import limits_of as limits_of_scoring
from fairspace.submissions.results.three_numbers import BIASED, NO_BIAS_SHOWN
from fairspace.submissions.results.tiers import FEWEST_DRAWS
from fairspace.submissions.uncertainty.bootstrap import MOST_UNDEFINED, Z
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.scores import WITHOUT, ScoreDraws, many_score_draws
from fairspace.submissions.uncertainty.scores import Drawn as ScoresDrawn
from fairspace.submissions.values import Value

# The interval of a difference spans those of the scores and of their debiased estimates, widened by 1.96 standard
# errors of the pairs; logarithmic scores have a ratio. The test of one pair (1.96 errors from 0) asks nothing about
# bias, because equal models have equal biases; `corrected` allows for all tests of a table (Holm 1979). Where two
# models did not answer the same questions, both begin at the bounds over the missing answers.

Verdict = Literal["significant", "significant if their biases are alike", "not significant"]
SIGNIFICANT = 0.05
"""Level of a p that is corrected for all lines of a comparison."""

_ENDLESS = 20.0
"""Stand-in for the logarithm of an infinite ratio: missing answers could make a score 0."""


@dataclass(frozen=True)
class Difference:
    """Difference, or `ratio`, of a score to that of the first model, with its 95 % interval.

    `errors`: standard errors from equality, for all possible missing answers; infinite where the draws do not vary.
    """

    value: float
    low: float
    high: float
    ratio: bool
    errors: float

    @property
    def verdict(self) -> Verdict:
        """Significance of this one difference, uncorrected: of many equal pairs one in twenty is significant."""
        if self.errors <= Z:
            return "not significant"
        same = 1.0 if self.ratio else 0.0
        return "significant if their biases are alike" if self.low <= same <= self.high else "significant"

    def verdict_of(self, p: float) -> Verdict:
        """Significance by a p that is corrected for all lines of a comparison."""
        return "not significant" if p >= SIGNIFICANT else self.verdict


def differences(
    benchmark: str, results: Sequence[Result | None], standard: str, values: Collection[str] = ()
) -> list[dict[str, Difference]]:
    """For each result, score -> difference to the first result, for scores with draws in both.

    A result is None for a model with printed figures alone. `values`: raw values compared as well, never as ratios.
    """
    if not results:
        return []
    bench = find_benchmark(benchmark)
    chosen = find_standard(bench, standard)
    limits = bench.scoring.table(chosen, AS_RELEASED).limits
    kept = [ScoresDrawn(r.scored, r.values, r.draws) for r in results if r is not None and r.draws is not None]
    drawn = iter(many_score_draws(bench, kept, chosen))
    raw = [_raw(result, values) for result in results]
    first, *others = [
        raw_values if r is None or r.draws is None else raw_values | _drawn(r.scored, next(drawn))
        for r, raw_values in zip(results, raw, strict=True)
    ]
    by_row: list[dict[str, Difference]] = [{}]
    for result, other in zip(results[1:], others, strict=True):
        same = result is not None and results[0] is not None and same_questions(results[0], result)
        by_score = {
            name: difference(
                other[name].of_whole() if same else other[name],
                first[name].of_whole() if same else first[name],
                limits.get(name, WITHOUT),
                bench.scoring.logarithmic and name not in raw[0],
            )
            for name in other
            if name in first
        }
        by_row.append({name: between for name, between in by_score.items() if between is not None})
    return by_row


def same_questions(first: Result, other: Result) -> bool:
    """Whether two results answered the same questions; False for results without proofs."""
    keys = [{task: held.keys for task, held in result.consistency.items()} for result in (first, other)]
    return bool(keys[0]) and keys[0] == keys[1]


def remarks(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """Sentences on the compared answers, where a result is of a part of the benchmark, or lacks answers."""
    sentences = [
        f"{name}: {mark}." for result, name in zip(results, names, strict=True) for mark in limits_of_scoring(result)
    ]
    counts = [
        (sum(held.answers for held in proof), sum(held.expected for held in proof))
        for proof in ([*result.consistency.values()] for result in results)
    ]
    for result, name, (answers, expected) in zip(results[1:], names[1:], counts[1:], strict=True):
        lacks = any(value.valid < value.expected for r in (results[0], result) for value in r.values.values())
        if same_questions(results[0], result) and answers < expected:
            sentences.append(f"{names[0]} and {name} answered the same {answers:,} of {expected:,} questions.")
        elif lacks and not same_questions(results[0], result):
            told = f" ({counts[0][0]:,} and {answers:,} of {expected:,})" if expected else ""
            sentences.append(
                f"{names[0]} and {name} did not answer the same questions{told}: a difference that the missing answers "
                "could explain is not significant, and its interval allows for them."
            )
    return sentences


def corrected(by_row: Sequence[Mapping[str, Difference]]) -> list[dict[str, float]]:
    """For each row, score -> two-sided p of its difference, corrected for all differences of all rows.

    Holm's step-down procedure: at most 5 % of tables of equal models have a p below 0.05, under any dependence.
    """
    keys = [(place, name) for place, row in enumerate(by_row) for name in row]
    single = {(place, name): 2 * float(ndtr(-by_row[place][name].errors)) for place, name in keys}
    holm: list[dict[str, float]] = [{} for _ in by_row]
    largest = 0.0
    for number, (place, name) in enumerate(sorted(keys, key=lambda key: single[key])):
        largest = max(largest, min(1.0, (len(keys) - number) * single[place, name]))
        holm[place][name] = largest
    return [{name: p[name] for name in row} for row, p in zip(by_row, holm, strict=True)]


class Score(NamedTuple):
    """A score of one model with (k,) draws, nan where one has no number.

    `bounds`: smallest and largest score that missing answers allow; None where none is missing.
    """

    value: float
    debiased: float
    draws: Floats
    bounds: tuple[float, float] | None = None

    def of_whole(self) -> Score:
        """The score without bounds, as if the missing questions had not been asked."""
        return self._replace(bounds=None)


def _bounds(value: Value) -> tuple[float, float] | None:
    low, high = (math.nan if end is None else end for end in (value.low, value.high))
    return (low, high) if value.valid < value.expected else None


def _drawn(scored: Scored, draws: ScoreDraws) -> dict[str, Score]:
    by_name = {}
    for name, column in draws.replicates.items():
        score = scored.shown.get(name)
        if score is not None and score.value is not None and np.isnan(column).mean() <= MOST_UNDEFINED:
            by_name[name] = Score(score.value, float(draws.points[name][0]), column, _bounds(score))
    return by_name


def _raw(result: Result | None, names: Collection[str]) -> dict[str, Score]:
    if result is None or result.draws is None:
        return {}
    return {
        name: Score(
            value,
            value if about is None or about.debiased is None else about.debiased,
            column,
            _bounds(result.values[name]),
        )
        for name, column in result.draws.columns().items()
        if name in names and (value := result.values[name].value) is not None
        for about in [result.values[name].uncertainty]
        if np.isnan(column).mean() <= MOST_UNDEFINED
    }


def difference(other: Score, first: Score, limits: tuple[float, float], logarithmic: bool) -> Difference | None:
    """Difference of one score, or ratio if `logarithmic` and all numbers are above 0.

    None with too few common draws, or unbounded effects of missing answers.
    """
    common = min(len(other.draws), len(first.draws))
    x, y = other.draws[:common], first.draws[:common]
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < FEWEST_DRAWS:
        return None
    x, y = x[both], y[both]
    ratio = logarithmic and min(*other[:2], *first[:2], x.min(), y.min()) > 0
    scale = np.log if ratio else np.positive
    value, debiased = (float(scale(a) - scale(b)) for a, b in zip(other[:2], first[:2], strict=True))
    (other_low, other_high), (first_low, first_high) = (score.bounds or (score.value,) * 2 for score in (other, first))
    with np.errstate(divide="ignore"):  # the logarithm of a score that may be 0
        least, most = float(scale(other_low) - scale(first_high)), float(scale(other_high) - scale(first_low))
    if math.isnan(least) or math.isnan(most):
        return None
    error = float((scale(x) - scale(y)).std(ddof=1))
    low, high = min(least, debiased) - Z * error, max(most, debiased) + Z * error
    away = max(least, -most, 0.0)
    errors = away / error if error > 0 else float("inf") if away else 0.0
    if ratio:
        value, (low, high) = other.value / first.value, np.exp(np.clip([low, high], -_ENDLESS, _ENDLESS)).tolist()
        return Difference(value, min(low, value), max(high, value), True, errors)
    widest = limits[1] - limits[0]
    return Difference(value, min(max(low, -widest), value), max(min(high, widest), value), False, errors)


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
