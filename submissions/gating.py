"""A gate for builds: is a model shown to be less fair than another one, or than a limit?

Compared are distances from the ideal, so a value with two unfair sides counts alike on both. A build fails on what is
shown for all its checks together (one-sided, Holm 1979) at the level of the board's tiers, with which at most 5 % of
equal models fail in simulations; or on what cannot be known: undefined never passes. Nothing is
shown that missing answers could explain, nor, where two models did not answer the same questions, the bias of few
samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from fairspace.submissions.benchmarks.benchmark import Ideal
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.comparing import Score, difference, drawn_scores, holm, same_questions
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.headline import Table
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.tiers import LEVEL
from fairspace.submissions.uncertainty.scores import WITHOUT

Verdict = Literal["better", "worse", "no difference shown", "measured", "not enough data"]
FAILED = 3
"""Exit code of a command whose gate does not open."""


@dataclass(frozen=True)
class Check:
    """One value of the tested model.

    Args:
        name: name of the value.
        direction: the fairer way, in words.
        tested: its number; None without one.
        against: number of the base model, or the limit; None without one.
        p: one-sided p that the distance from the ideal is larger by more than the margin, corrected for all checks.
    """

    name: str
    direction: str
    tested: float | None
    against: float | None
    p: float | None
    verdict: Verdict

    @property
    def passes(self) -> bool:
        """Whether it is neither worse nor unknown."""
        return self.verdict not in ("worse", "not enough data")


@dataclass(frozen=True)
class Gate:
    """Checks of a model; `passes` if every one does. `margin`: the loss that passes."""

    checks: tuple[Check, ...]
    margin: float

    @property
    def passes(self) -> bool:
        """Whether the build may go on."""
        return all(check.passes for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        return {"passes": self.passes, "margin": self.margin, "checks": [vars(check) for check in self.checks]}

    def table(self) -> Table:
        """The checks as texts."""
        rows = [
            (check.name, check.direction, digits(check.tested), digits(check.against), check.verdict)
            for check in self.checks
        ]
        note = f"Of equal models 5 % fail at most. Margin: {digits(self.margin)}. Undefined never passes."
        heading = f"Gate: {'passes' if self.passes else 'fails'}"
        return Table("gate", heading, ("value", "fairer", "tested", "against", "verdict"), rows, note)

    def __repr__(self) -> str:
        return self.table().to_text()


def gate(
    tested: Result,
    base: Result | None = None,
    *,
    scores: Sequence[str] = (),
    margin: float = 0.0,
    most: float | None = None,
) -> Gate:
    """Test a model against a base model, or against a limit.

    Args:
        tested: result of the model to test.
        base: result of the same benchmark and dataset revision; None tests against `most`.
        scores: names of values; the one that ranks go by if left out.
        margin: larger distance from the ideal, in the value's unit, that still passes; 0 or more.
        most: largest distance from the ideal that passes; None asks for a number alone.

    Errors: UsageError for results that answer different questions, an unknown value, one that no direction is fairer
        of, a negative margin, or both `base` and `most`.
    """
    if margin < 0 or (base is not None and most is not None):
        raise UsageError("A gate has a base or a limit (most=), and a margin of 0 or more.")
    if base is not None:
        of = [(result.benchmark, result.signature.get("dataset_revision")) for result in (base, tested)]
        if of[0] != of[1]:
            raise UsageError(f"The results are of {of[0]} and of {of[1]}; they answer different questions.")
        base = rescore(base, tested.standard)
    names = list(dict.fromkeys(scores)) or [tested.scored.ranking]
    ideals = [_ideal(tested, name) for name in names]
    by_result = drawn_scores(tested.benchmark, [tested, base or tested], tested.standard, names)
    same = base is None or same_questions(base, tested)
    found: list[tuple[float, float] | None] = []
    for name, ideal in zip(names, ideals, strict=True):
        ours, theirs = (_away(scores[name], ideal) if name in scores else None for scores in by_result)
        if base is None:
            theirs = None if most is None or ours is None else Score(most, most, np.full(len(ours.draws), most))
        elif same and ours and theirs:
            ours, theirs = ours.of_whole(), theirs.of_whole()
        found.append(_chances(ours, theirs, margin, same) if ours and theirs else None)
    corrected = [iter(holm([each[side] for each in found if each])) for side in (0, 1)]
    checks = []
    for name, ideal, each in zip(names, ideals, found, strict=True):
        numbers = _number(tested, name), _limit(ideal, most) if base is None else _number(base, name)
        worse, better = (None if each is None else next(p) for p in corrected)
        verdict: Verdict = "measured" if base is None and most is None and numbers[0] is not None else "not enough data"
        if worse is not None and better is not None:
            is_worse, is_better = worse < LEVEL, better < LEVEL
            verdict = "worse" if is_worse else "better" if is_better else "no difference shown"
        checks.append(Check(name, _fairer(ideal), *numbers, worse, verdict))
    return Gate(tuple(checks), margin)


def _ideal(result: Result, name: str) -> Ideal:
    known = {**result.values, **result.scored.shown}
    if name not in known:
        raise UsageError(f"{result.benchmark} has no value {name!r}{did_you_mean(name, known)}.")
    bench = find_benchmark(result.benchmark)
    ideal = bench.ideal(name, result.standard)
    if ideal is None and name in result.scored.shown:
        return Ideal(None, "below" if bench.higher_is_better else "above")
    if ideal is None or (ideal.number is None and ideal.worse == "either"):
        raise UsageError(f"{name} has no fairer direction; name another value, such as {result.scored.ranking}.")
    return ideal


def _fairer(ideal: Ideal) -> str:
    return f"nearer to {digits(ideal.number)}" if ideal.worse == "either" else _DIRECTIONS[ideal.worse]


_DIRECTIONS = {"above": "lower", "below": "higher"}


def _limit(ideal: Ideal, most: float | None) -> float | None:
    """The value at the largest distance that passes; of two unfair sides the distance itself."""
    if most is None or ideal.worse == "either":
        return most
    return (ideal.number or 0.0) + (-most if ideal.worse == "below" else most)


def _away(score: Score, ideal: Ideal) -> Score:
    """The score's distance from its ideal, negative beyond a one-sided one."""
    number = ideal.number or 0.0
    sign = -1.0 if ideal.worse == "below" else 1.0

    def away(x: Any) -> Any:
        return abs(x - number) if ideal.worse == "either" else sign * (x - number)

    bounds = None
    if score.bounds is not None:
        ends = [float(away(end)) for end in score.bounds]
        crosses = ideal.worse == "either" and score.bounds[0] <= number <= score.bounds[1]
        bounds = (0.0 if crosses else min(ends), max(ends))
    return Score(float(away(score.value)), float(away(score.debiased)), away(score.draws), bounds)


def _chances(ours: Score, theirs: Score, margin: float, same: bool) -> tuple[float, float] | None:
    """One-sided p-values that our distance is larger by more than the margin, and that it is smaller."""
    low, high = theirs.bounds or (theirs.value, theirs.value)
    allowed = Score(
        theirs.value + margin, theirs.debiased + margin, theirs.draws + margin, (low + margin, high + margin)
    )
    larger, smaller = (difference(ours, each, WITHOUT, logarithmic=False) for each in (allowed, theirs))
    if larger is None or smaller is None:
        return None
    is_larger = larger.value > 0 and (same or larger.low > 0)
    is_smaller = smaller.value < 0 and (same or smaller.high < 0)
    return float(ndtr(-larger.errors)) if is_larger else 1.0, float(ndtr(-smaller.errors)) if is_smaller else 1.0


def _number(result: Result, name: str) -> float | None:
    value = result.scored.shown.get(name) or result.values.get(name)
    return None if value is None else value.value
