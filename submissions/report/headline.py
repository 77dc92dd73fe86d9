"""The headline of a result: its score with interval and chance, place beside printed models, and missing answers."""

from __future__ import annotations

from dataclasses import dataclass

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.ideal import Ideal
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.board import published_rows, ranking_of, scored_row
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import Show, ThreeNumbers, could_be, lacking, three_numbers
from fairspace.submissions.values import Value, number_of


@dataclass(frozen=True)
class Standing:
    """Place, from 1, of a result by both ends of its score among the `models` printed rows and itself.

    `other_protocol`: whether any of them was measured by another protocol.
    """

    best: int
    worst: int
    models: int
    other_protocol: bool

    @property
    def text(self) -> str:
        """'would be 2nd to 3rd beside 6 models of the paper'."""
        best, worst = _ordinal(self.best), _ordinal(self.worst)
        place = best if best == worst else f"{best} {'or' if self.worst == self.best + 1 else 'to'} {worst}"
        others = self.models - 1
        note = ", which answered other questions" if self.other_protocol else ""
        return f"would be {place} beside {others} model{'s' * (others > 1)} of the paper{note}"


def _ordinal(place: int) -> str:
    ending = "th" if place // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


@dataclass(frozen=True)
class Headline:
    """The headline of a result; `sentences` is empty where the benchmark has no plain words.

    `score`: name of the first of the benchmark's leading values, in `words` and with its better `direction`; `place`:
    among the paper's models, or the reason for none; `missing`: missing answers, and their consequence; `unranked`:
    every reason.
    """

    sentences: tuple[str, ...]
    score: str
    words: str
    direction: str
    three: ThreeNumbers
    place: str
    missing: str
    unranked: tuple[str, ...]


def sentences_of(result: Result) -> tuple[str, ...]:
    """The benchmark's plain sentences on a result, for the top of every report; () where it has none."""
    return find_benchmark(result.benchmark).reporting.sentences(result.values, result.scored, result.standard)


def headline(result: Result, show: Show) -> Headline:
    """The headline of a result; `show` formats its numbers."""
    bench, scored, standard = find_benchmark(result.benchmark), result.scored, result.standard
    name, ranking = bench.reporting.leading(scored, standard)[0], scored.shown.get(scored.ranking)
    ideal = bench.ideal(name, standard)
    return Headline(
        sentences_of(result),
        name,
        bench.about().describe(name),
        direction(bench, ideal, is_score=True),
        three_numbers(scored.shown.get(name), ideal, show, values=result.values),
        _place(result, "" if name == scored.ranking else f"by {scored.ranking}, "),
        missing(ranking, bench.higher_is_better, show),
        scored.unranked,
    )


def _place(result: Result, by: str) -> str:
    bench, scored = find_benchmark(result.benchmark), result.scored
    if scored.unranked:
        return "none"
    if result.meta.get("baseline"):
        return "none: a baseline is no model"
    if blind := bench.reporting.leaning(result.values, scored, result.standard):
        return f"none beside printed models: {blind}"
    place = standing(result)
    return "no printed model has this score" if place is None else by + place.text


def direction(bench: Benchmark, ideal: Ideal | None, *, is_score: bool = False) -> str:
    """The better direction of a value, and its ideal; '' for a raw value without one, which describes the model."""
    if ideal is None:
        return "" if not is_score else "higher is better" if bench.higher_is_better else "lower is better"
    number = "what chance gives" if ideal.number is None else f"{ideal.number:g}"
    side = {"above": "lower is better, ", "below": "higher is better, ", "either": ""}[ideal.worse]
    return f"{side}{number} is ideal"


def standing(result: Result) -> Standing | None:
    """The place of a result among the printed rows of its cohort; None where none has such a number."""
    bench, name = find_benchmark(result.benchmark), result.scored.ranking
    total = result.scored.scores.get(name)
    if total is None or total.value is None:
        return None
    group, printed = scored_row(result, result.standard).group, printed_like(result, name)
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


def printed_like(result: Result, name: str) -> list[tuple[Row, float]]:
    """Printed rows that are ranked as a result is, with their number of a score.

    None for a baseline, or for a bias that the score does not see.
    """
    bench = find_benchmark(result.benchmark)
    if result.meta.get("baseline") or bench.reporting.leaning(result.values, result.scored, result.standard):
        return []
    cohort = scored_row(result, result.standard).cohort
    return [
        (row, number)
        for row in published_rows(result.benchmark, result.standard)
        if row.cohort == cohort and ranking_of(row, bench, result.standard) == result.scored.ranking
        if (number := number_of(row.scores, name)) is not None
    ]


def missing(total: Value | None, higher_is_better: bool, show: Show) -> str:
    """Possible effect of the missing samples on a score, and its consequence."""
    if total is None or total.value is None:
        reason = "" if total is None else total.reason
        return f"{lacking(total, False)}: {reason}" if reason else lacking(total, False)
    words, worst = could_be(total, show), total.low if higher_is_better else total.high
    if not words:
        return "nothing that could change the score"
    use = "a sample, not ranked" if total.reason else "" if worst is None else f"ranks use {show(worst)}"
    return "; ".join(filter(None, (words, use)))
