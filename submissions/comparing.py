"""Comparison of results: differences to the first one with intervals, and significance corrected for all of them.

The interval of a difference spans those of the scores and of their debiased estimates, widened by 1.96 standard errors
of the pairs. The test of one pair (1.96 errors from 0) asks nothing about bias, because equal models have equal biases.
Where two models did not answer the same questions, both begin at the bounds over the missing answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from fairspace.metrics.columns import Floats
from fairspace.metrics.intervals import Z
from fairspace.metrics.resampling import MOST_UNDEFINED
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.errors import UsageError, harmless, web
from fairspace.submissions.plotting import NOTHING, digits, interval_text
from fairspace.submissions.results.draws import WITHOUT, Draws, ScoreDraws, many_score_draws
from fairspace.submissions.results.draws import Drawn as ScoresDrawn
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard, limits_of, rescore
from fairspace.submissions.results.three_numbers import could_be
from fairspace.submissions.results.tiers import FEWEST_DRAWS
from fairspace.submissions.show.headline import caption, first_values, model_names, named_lines, no_rank
from fairspace.submissions.show.table import Table, wrapped
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    import pandas as pd

    from fairspace.submissions.drawing.svg import Svg

Verdict = Literal["significant", "significant if their biases are alike", "not significant"]
SIGNIFICANT = 0.05
"""Level of a p that is corrected for all lines of a comparison."""

LARGEST = 1e9
"""Finite stand-in for infinitely many standard errors, which JSON has no number for."""

_HOW = "Paired on common items; p is corrected for all lines by Holm's method."
_UNDRAWN = "nobody knows whether these differences are real, as there are no answers to resample."
_UNKNOWN = (math.nan, math.nan)
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


def differences(
    benchmark: str, results: Sequence[Result], standard: str, values: Collection[str] = ()
) -> list[dict[str, Difference]]:
    """For each result, score -> difference to the first result, for scores with draws in both.

    `values`: raw values compared as well, never as ratios.
    """
    bench = find_benchmark(benchmark)
    limits = bench.scoring.table(find_standard(bench, standard), AS_RELEASED).limits
    first, *others = drawn_scores(benchmark, results, standard, values)
    by_row: list[dict[str, Difference]] = [{}]
    for result, other in zip(results[1:], others, strict=True):
        same = same_questions(results[0], result)
        by_score = {
            name: difference(
                other[name].of_whole() if same else other[name],
                first[name].of_whole() if same else first[name],
                limits.get(name, WITHOUT),
                bench.scoring.logarithmic and name not in values,
            )
            for name in other
            if name in first
        }
        by_row.append({name: between for name, between in by_score.items() if between is not None})
    return by_row


def drawn_scores(
    benchmark: str, results: Sequence[Result], standard: str, values: Collection[str] = ()
) -> list[dict[str, DrawnScore]]:
    """For each result, its scores and those raw `values` that have draws, by name."""
    bench = find_benchmark(benchmark)
    drawn = [ScoresDrawn(result.scored, result.values, result.draws) for result in results if result.draws is not None]
    score_draws = iter(many_score_draws(bench, drawn, find_standard(bench, standard)))
    return [
        {} if result.draws is None else _raw(result, result.draws, values) | _drawn(result.scored, next(score_draws))
        for result in results
    ]


def same_questions(first: Result, other: Result) -> bool:
    """Whether two results answered the same questions; False for results without proofs."""
    keys = [{task: held.keys for task, held in result.consistency.items()} for result in (first, other)]
    return bool(keys[0]) and keys[0] == keys[1]


def remarks(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """Sentences on the compared answers, where a result is of a part of the benchmark, or lacks answers."""
    sentences = named_lines(results, lambda result: [*(f"{mark}." for mark in limits_of(result)), *no_rank(result)])
    counts = [
        (sum(held.answers for held in proof), sum(held.expected for held in proof))
        for proof in ([*result.consistency.values()] for result in results)
    ]
    for result, name, (answers, expected) in zip(results[1:], names[1:], counts[1:], strict=True):
        lacks = any(value.valid < value.expected for r in (results[0], result) for value in r.values.values())
        if same_questions(results[0], result) and answers < expected:
            sentences.append(f"{names[0]} and {name} answered the same {answers:,} of {expected:,} questions.")
        elif lacks and not same_questions(results[0], result):
            note = f" ({counts[0][0]:,} and {answers:,} of {expected:,})" if expected else ""
            sentences.append(
                f"{names[0]} and {name} did not answer the same questions{note}: a difference that the missing answers "
                "could explain is not significant, and its interval allows for them."
            )
    return sentences


def corrected(by_row: Sequence[Mapping[str, Difference]]) -> list[dict[str, float]]:
    """For each row, score -> two-sided p of its difference, corrected for all differences of all rows.

    Holm's step-down procedure: at most 5 % of tables of equal models have a p below 0.05, under any dependence.
    """
    keys = [(place, name) for place, row in enumerate(by_row) for name in row]
    p = holm([2 * float(ndtr(-by_row[place][name].errors)) for place, name in keys])
    by_key = dict(zip(keys, p, strict=True))
    return [{name: by_key[place, name] for name in row} for place, row in enumerate(by_row)]


def holm(single: Sequence[float]) -> list[float]:
    """The p-values, corrected for all of them."""
    order = np.argsort(single, kind="stable")
    steps = np.minimum(1.0, (len(single) - np.arange(len(single))) * np.asarray(single)[order])
    corrected_p = np.empty(len(single))
    corrected_p[order] = np.maximum.accumulate(steps)
    return [float(p) for p in corrected_p]


class DrawnScore(NamedTuple):
    """A score of one model with (k,) draws, nan where one has no number.

    `bounds`: smallest and largest score that missing answers allow; None where none is missing.
    """

    value: float
    debiased: float
    draws: Floats
    bounds: tuple[float, float] | None = None

    def of_whole(self) -> DrawnScore:
        """The score without bounds, as if the missing questions had not been asked."""
        return self._replace(bounds=None)


def bounds_of(value: Value) -> tuple[float, float] | None:
    """Smallest and largest number that missing answers allow, nan where unknown; None where none is missing."""
    low, high = (math.nan if end is None else end for end in (value.low, value.high))
    return (low, high) if value.valid < value.expected else None


def _drawn(scored: Scored, draws: ScoreDraws) -> dict[str, DrawnScore]:
    by_name = {}
    for name, column in draws.replicates.items():
        score = scored.shown.get(name)
        if score is not None and score.value is not None and np.isnan(column).mean() <= MOST_UNDEFINED:
            by_name[name] = DrawnScore(score.value, float(draws.points[name][0]), column, bounds_of(score))
    return by_name


def _raw(result: Result, draws: Draws, names: Collection[str]) -> dict[str, DrawnScore]:
    by_name = {}
    for name, column in draws.columns().items():
        value = result.values[name]
        if name in names and value.value is not None and np.isnan(column).mean() <= MOST_UNDEFINED:
            debiased = None if value.uncertainty is None else value.uncertainty.debiased
            by_name[name] = DrawnScore(
                value.value, value.value if debiased is None else debiased, column, bounds_of(value)
            )
    return by_name


def difference(
    other: DrawnScore, first: DrawnScore, limits: tuple[float, float], logarithmic: bool
) -> Difference | None:
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


@dataclass(frozen=True)
class ComparedValue:
    """One value of one further result, compared with the first result.

    Args:
        first, other: the two values; None without a number.
        difference: other minus first, or their ratio; None without common draws.
        p: two-sided p-value, corrected for all lines of the comparison; None without a difference.
        missing: possible effect of missing answers on both values, in words; '' if none.
        quality: even (a value with an ideal), right (a score of facts), '' (the ranked score, a description).
        better: 1 if the first is nearer to the ideal whatever its missing answers are, -1 if the other is, else 0.
        is_clear: whether a significant difference is one of the distances from the ideal.
    """

    model: str
    name: str
    first: float | None
    other: float | None
    difference: Difference | None
    p: float | None
    missing: str
    title: str
    quality: str
    better: int
    is_clear: bool

    @property
    def verdict(self) -> str:
        """Whether the two differ, at 5 % for all lines together."""
        if self.difference is None or self.p is None:
            return "not known"
        return "not significant" if self.p >= SIGNIFICANT else self.difference.verdict

    @property
    def size(self) -> float:
        """The difference in the unit of shares, or of larger values as a part of the larger one."""
        first, other = self.first or 0.0, self.other or 0.0
        return abs(other - first) / max(1.0, abs(first), abs(other))

    @property
    def sentence(self) -> str:
        """The line in words, as in 'Evenness: 0.388 against 0.955, less even (difference -0.567, ...)'."""
        _, first, other, change, interval, *_ = self.texts()
        change = change if self.difference and self.difference.ratio else f"difference {change}"
        fairer = self.quality and self.better and self.is_clear
        words = f", {'less' if self.better > 0 else 'more'} {self.quality}" if fairer else ""
        title = f"{self.title[:1].upper()}{self.title[1:]}"
        return f"{title}: {other} against {first}{words} ({change}, 95 %: {interval})."

    def to_json(self) -> dict[str, Any]:
        """JSON data of a line with a difference; infinitely many standard errors are `LARGEST`."""
        between = {} if self.difference is None else vars(self.difference)
        about = {"score": self.name, "model": self.model, **between, "errors": min(between["errors"], LARGEST)}
        return about | {"p": self.p, "verdict": self.verdict}

    def texts(self) -> tuple[str, ...]:
        """The cells of the line: value, first, other, difference, interval, p, verdict."""
        between, shown = self.difference, (NOTHING, NOTHING, NOTHING)
        if between is not None and self.p is not None:
            sign = "ratio " if between.ratio else "+" if between.value > 0 else ""
            p = "< 0.001" if self.p < 0.001 else f"{self.p:.3f}"
            shown = (sign + digits(between.value), interval_text((between.low, between.high)), p)
        return (self.title, digits(self.first), digits(self.other), *shown, self.verdict)


class Comparison:
    """Differences of results to the first one, value by value.

    A difference uses the same resampled items for both results if both answered the same (a paired error); where scores
    multiply, as in IRIS, it is a ratio. Its interval allows for the bias of few samples. Significance is
    at 5 % for all lines together, by Holm's procedure; *significant if their biases are alike* means that the interval
    contains no difference although the test finds one. `remarks` describes missing answers; a difference that they
    could explain is not significant.
    """

    def __init__(self, results: Sequence[Result]):
        """Compare the first values of results of one benchmark under one standard with those of the first result."""
        self.results, self.model_names = results, model_names(results)
        self.remarks = remarks(results, self.model_names)
        shown = [first_values(result) for result in results]
        raw = [name for name in shown[0] if name not in results[0].scored.scores]
        by_result = [
            {name: between for name, between in compared.items() if name in shown[0]}
            for compared in differences(results[0].benchmark, results, results[0].standard, raw)
        ]
        self.lines: list[ComparedValue] = []
        bench, base = find_benchmark(results[0].benchmark), results[0]
        self.remarks += named_lines(results, lambda of: [*bench.reporting.mixed(of.values, of.scored, of.standard)])
        each = zip(results, self.model_names, shown, by_result, corrected(by_result), strict=True)
        for result, model, values, between, p in each:
            for name, value in shown[0].items():
                other = values.get(name)
                if values is shown[0] or other is None or "not_run" in (value.state, other.state):
                    continue
                both = ((self.model_names[0], could_be(value, digits)), (model, could_be(other, digits)))
                missing = "; ".join(f"{of} {words}" for of, words in both if words)
                ideal, is_right = bench.ideal(name, base.standard), name not in raw and bench.higher_is_better
                best = math.inf if ideal is None and is_right else None if ideal is None else ideal.number
                has_best = best is not None and name != base.scored.ranking and not (ideal and ideal.mixed)
                quality = "" if not has_best else "right" if ideal is None else "even"
                better, clear = _nearer(value, other, best, same_questions(base, result))
                numbers = (value.value, other.value, between.get(name), p.get(name))
                title = bench.describe(name) or name
                self.lines.append(ComparedValue(model, name, *numbers, missing, title, quality, better, clear))

    @property
    def sentences(self) -> list[str]:
        """The answer: the sure differences of each model to the first one, by name and number, biggest first.

        Missing answers or numbers that leave a difference open are counted.
        """
        sentences, first = [], self.model_names[0]
        for model in self.model_names[1:]:
            lines = [line for line in self.lines if line.model == model]
            sure = sorted((line for line in lines if line.verdict == "significant"), key=lambda line: -line.size)
            none = "no difference is sure." if any(line.difference for line in lines) else _UNDRAWN
            if sure or any(None not in (line.first, line.other) for line in lines):
                sentences.append(f"{model} against {first}: {'sure differences, the biggest first:' if sure else none}")
            sentences += [line.sentence for line in sure]
            if lacking := sum(x not in sure and (bool(x.missing) or None in (x.first, x.other)) for x in lines):
                sentences.append(f"{lacking} of {len(lines)} values are open: numbers or answers are missing.")
        return sentences

    @property
    def known(self) -> list[ComparedValue]:
        """The lines with a difference."""
        return [line for line in self.lines if line.difference is not None]

    def to_frame(self) -> pd.DataFrame:
        """One row for each value and further result.

        Columns: `model`, `name`, `first` and `other` (values as measured), `difference` (a ratio where `ratio` is true)
        with `interval_low` and `interval_high` (95 %), `p` (two-sided, corrected for all rows), `verdict`, `missing`
        (possible effect of missing answers on both values, in words). NaN for unknown numbers.
        """
        import pandas as pd

        rows = []
        for line in self.lines:
            between = line.difference
            ends = (None, None, None) if between is None else (between.value, between.low, between.high)
            row = {"model": line.model, "name": line.name, "first": line.first, "other": line.other}
            row |= dict(zip(("difference", "interval_low", "interval_high"), ends, strict=True))
            row |= {"ratio": bool(between and between.ratio), "p": line.p, "verdict": line.verdict}
            rows.append(row | {"missing": line.missing})
        numbers = ("first", "other", "difference", "interval_low", "interval_high", "p")
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, float))

    def to_csv(self) -> str:
        """`to_frame` as CSV, safe for spreadsheets."""
        cells = self.to_frame().map(lambda cell: harmless(cell) if isinstance(cell, str) else cell)
        text: str = cells.to_csv(index=False, lineterminator="\n")
        return text

    def table(self) -> Table:
        """The lines as texts; its note says how they were compared, and what missing answers could explain."""
        several = len(self.results) > 2
        first, *others = self.model_names
        columns = ("value", first, "other" if several else others[0], "difference", "95 % interval", "p, corrected")
        rows = [(line.model, *line.texts()) if several else line.texts() for line in self.lines]
        note = " ".join([_HOW, *self.remarks])
        heading = f"{'Differences' if several else others[0]} against {first}"
        return Table((*(("model",) if several else ()), *columns, "verdict"), rows, heading, note, "differences")

    def to_latex(self) -> str:
        r"""The comparison as a LaTeX table (booktabs), for `\input`."""
        text = f"{caption(self.results)} Differences to {self.model_names[0]}; p corrected by Holm's procedure."
        note = " ".join([*(f"{remark}." for remark in self._missing()), *self.remarks])
        name = f"{self.results[0].benchmark}-differences"
        return replace(self.table(), name=name, heading=text, note=note).to_latex()

    def plot(self) -> Svg:
        """Each difference with its interval as an SVG figure; 0 is no difference."""
        from fairspace.submissions.show.figure import difference_strips

        values = [
            (self._named(line), between.value, (between.low, between.high), between.ratio, line.verdict)
            for line in self.lines
            if (between := line.difference) is not None
        ]
        return difference_strips(values, f"Differences to {self.model_names[0]}")

    def _named(self, line: ComparedValue) -> str:
        return f"{line.title}, {line.model}" if len(self.results) > 2 else line.title

    def _missing(self) -> list[str]:
        return [f"{self._named(line)}: {line.missing}" for line in self.lines if line.missing]

    def __repr__(self) -> str:
        """The answer, the remarks and the lines in 80 columns."""
        rows = []
        for line in self.lines:
            _, *numbers, interval, p, _ = line.texts()
            sure = f"95 %: {interval}; {line.verdict}, p {p}" if line.difference else line.verdict
            rows.append((self._named(line), *numbers, sure))
        names = (self.model_names[0], "other" if len(self.results) > 2 else self.model_names[1])
        columns = ("value", *(f"{name:.24}" for name in names), "difference", "note")
        shown = Table(columns, rows).to_text()
        above, below = (
            [*map(wrapped, texts)] for texts in ((*self.sentences, *self.remarks), (*self._missing(), _HOW))
        )
        return "\n".join([*above, "", shown, "", *below])

    def _repr_html_(self) -> str:
        remarks = "".join(f"<li>{web(text)}</li>" for text in (*self._missing(), *self.remarks))
        answer = "".join(f"<p>{web(text)}</p>" for text in self.sentences)
        return f"{answer}{self.table().html}<ul>{remarks}</ul>"


def _nearer(first: Value, other: Value, best: float | None, same: bool) -> tuple[int, bool]:
    """1 where the first value is nearer to `best` whatever the missing answers are, or -1, else 0; whether it is clear.

    Of numbers on both sides of `best`, which differ and can be alike uneven, the intervals must say the same. Missing
    questions that are the `same` for both favour neither. No `best`: 0; inf: the higher the better.
    """
    x, y = first.value, other.value
    if best is None or x is None or y is None:
        return 0, False
    bounds = (None, None) if same else (bounds_of(first), bounds_of(other))
    better = _side((bounds[0] or (x, x), bounds[1] or (y, y)), best)
    crossed = (x - best) * (y - best) < 0
    return better, not crossed or better == _side([value.interval or _UNKNOWN for value in (first, other)], best)


def _side(ranges: Sequence[tuple[float, float]], best: float) -> int:
    (near, far), (other_near, other_far) = (_distances(*ends, best) for ends in ranges)
    return int(far < other_near) - int(other_far < near)


def _distances(low: float, high: float, best: float) -> tuple[float, float]:
    if math.isinf(best):
        return -high, -low
    ends = sorted((abs(low - best), abs(high - best)))
    return 0.0 if low < best < high else ends[0], ends[1]


def compare(first: Result, *others: Result, standard: str = "") -> Comparison:
    """Compare the first values of results with those of `first`, as the board does; the standard of `first` for ''.

    Errors: UsageError for different benchmarks or dataset revisions, or no other result.
    """
    if not others:
        raise UsageError("Name two results or more: fs.compare(first, other).")
    kinds = {(result.benchmark, result.signature.get("dataset_revision")) for result in (first, *others)}
    if len(kinds) > 1:
        of = " and of ".join(f"{name} {revision}" for name, revision in sorted(kinds, key=str))
        raise UsageError(f"The results are of {of}; they answer different questions.")
    compared = Comparison([rescore(result, standard or first.standard) for result in (first, *others)])
    under = list(dict.fromkeys([compared.results[0].standard, *(result.standard for result in (first, *others))]))
    compared.remarks += [f"All are scored under {under[0]} here, not {' or '.join(under[1:])}."] if under[1:] else []
    return compared
