"""The headline of a result: its score with interval and chance, place beside printed models, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.ideal import Ideal
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.board import published_rows, ranking_of, scored_row
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import Show, ThreeNumbers, could_be, lacking, three_numbers
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Standing:
    """Where a result would stand among the printed rows of its cohort, of whose errors nothing is known.

    Args:
        best, worst: its place by the favourable and by the unfavourable end of its score, from 1.
        models: all of them, itself included.
        other_protocol: whether any of them was measured by another protocol.
    """

    best: int
    worst: int
    models: int
    other_protocol: bool

    @property
    def text(self) -> str:
        """'2 to 3 of 4 beside the printed models'."""
        place = str(self.best) if self.best == self.worst else f"{self.best} to {self.worst}"
        note = ", measured by another protocol" if self.other_protocol else ""
        return f"{place} of {self.models} beside the printed models{note}"


@dataclass(frozen=True)
class Headline:
    """What a reader wants to know of a result first.

    Args:
        score: name of the score that ranks go by.
        words: what it is.
        direction: which way is better, and the ideal.
        three: its numbers.
        standing: its place among printed models; None where none has such a number.
        missing: how much of what the protocol asks for is missing, and what that costs.
        unranked: every reason why there is no rank.
    """

    score: str
    words: str
    direction: str
    three: ThreeNumbers
    standing: Standing | None
    missing: str
    unranked: tuple[str, ...]


def headline(result: Result, show: Show) -> Headline:
    """The headline of a result; `show` makes texts of its numbers."""
    bench, name = find_benchmark(result.benchmark), result.scored.ranking
    total, ideal = result.scored.scores.get(name), bench.ideal(name, result.standard)
    return Headline(
        name,
        bench.about().describe(name),
        direction(bench, ideal, is_score=True),
        three_numbers(total, ideal, show, values=result.values),
        standing(result),
        missing(total, bench.higher_is_better, show),
        result.scored.unranked,
    )


def direction(bench: Benchmark, ideal: Ideal | None, *, is_score: bool = False) -> str:
    """Which way a value is better, and its ideal; '' of a raw value without one, which describes the model."""
    if ideal is None:
        return "" if not is_score else "higher is better" if bench.higher_is_better else "lower is better"
    number = "what chance gives" if ideal.number is None else f"{ideal.number:g}"
    side = {"above": "lower is better, ", "below": "higher is better, ", "either": ""}[ideal.worse]
    return f"{side}{number} is ideal"


def standing(result: Result) -> Standing | None:
    """Where a result would stand among the printed rows of its cohort; None where none has such a number."""
    bench, name = find_benchmark(result.benchmark), result.scored.ranking
    total = result.scored.scores.get(name)
    if total is None or total.value is None:
        return None
    group, printed = scored_row(result, result.standard).group, printed_like(result)
    if not printed:
        return None
    about = total.uncertainty
    known = [total.value, total.low, total.high, *(() if about is None else (about.low, about.high))]
    ends = [number for number in known if number is not None]
    best, worst = (max(ends), min(ends)) if bench.higher_is_better else (min(ends), max(ends))
    sign = 1 if bench.higher_is_better else -1
    numbers = [number for _, number in printed]
    places = [1 + sum(sign * number > sign * end for number in numbers) for end in (best, worst)]
    return Standing(places[0], places[1], len(printed) + 1, any(row.group != group for row, _ in printed))


def printed_like(result: Result) -> list[tuple[Row, float]]:
    """The printed rows of a result's cohort that have a number of the score that it is ranked by, and that number."""
    bench, name = find_benchmark(result.benchmark), result.scored.ranking
    cohort = scored_row(result, result.standard).cohort
    return [
        (row, number)
        for row in published_rows(result.benchmark, result.standard)
        if row.cohort == cohort and ranking_of(row, bench, result.standard) == name
        if (number := row.scores[name].value) is not None
    ]


def missing(total: Value | None, higher_is_better: bool, show: Show) -> str:
    """What the missing samples of a score could make of it, and what that costs."""
    if total is None or total.value is None:
        reason = "" if total is None else total.reason
        return f"{lacking(total, False)}: {reason}" if reason else lacking(total, False)
    words, worst = could_be(total, show), total.low if higher_is_better else total.high
    if not words:
        return "nothing that could change the score"
    return words if worst is None else f"{words}; ranks use {show(worst)}"
