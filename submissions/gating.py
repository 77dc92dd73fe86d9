"""A gate for builds: is a model shown to be less fair than another one, or than a limit?

Without named values those that a result begins with are tested: all that have a fairer direction or an even point, such
as S_E and the share of men. Facts, and means of facts and fairness, are tested only by name.
Compared are distances from the ideal, so a value with two unfair sides counts alike on both, and like with like alone.
A build fails on what is shown for all its checks together (one-sided, Holm 1979) at the level of the board's tiers, by
which at most 5 % of equal models fail in simulations; or on what cannot be known: undefined never passes, nor a model
that is worse where each has its worst case, with its missing, refused and unreadable answers, or where none counts, nor
one below a floor that the other reaches (doing nothing is not fair). Nothing is shown that such answers could explain,
nor, where two models did not answer the same questions, the bias of few samples.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from fairspace.metrics.intervals import Z
from fairspace.submissions.benchmarks.benchmark import Ideal
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.comparing import DrawnScore, bounds_of, difference, drawn_scores, holm, same_questions
from fairspace.submissions.errors import UsageError, did_you_mean, markdown, plain
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.draws import WITHOUT
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard, rescore
from fairspace.submissions.results.three_numbers import could_be
from fairspace.submissions.results.tiers import FEWEST_DRAWS, LEVEL
from fairspace.submissions.show.headline import first_values, model_names
from fairspace.submissions.show.table import Table, wrapped
from fairspace.submissions.values import Value, number_of

Verdict = Literal["better", "worse", "no difference shown", "measured", "not enough data", "not counted"]
OPEN = ("not enough data", "not counted")
"""Verdicts that leave a gate undecided."""
FAILED, UNDECIDED = 3, 4
"""Exit codes of a command whose gate does not open: something is worse; nothing is, but not all could be decided."""


@dataclass(frozen=True)
class Check:
    """One value of the tested model.

    Args:
        against: number of the base model, or a statement's limit; None without one.
        distance: tested number's distance from its ideal, at most `at_most`; None for an ideal that is no number.
        p: one-sided p that the distance from the ideal is larger by more than the margin, corrected for all checks.
        reason: gap in the knowledge, or what answers lack to count; '' for a verdict that is not in `OPEN`.
        title: the value in words.
    """

    name: str
    direction: str
    tested: float | None
    against: float | None
    p: float | None
    verdict: Verdict
    reason: str = ""
    title: str = ""
    distance: float | None = None
    at_most: float | None = None

    @property
    def text(self) -> str:
        """The check in words, as in 'Evenness 0.955 -> 0.388 (worse)'."""
        from_base = "" if self.against is None else f"{digits(self.against)} -> "
        return f"{self.title or self.name} {from_base}{digits(self.tested)} ({self.verdict})"

    @property
    def figures(self) -> str:
        """The check with all its numbers, in one line of plain text."""
        numbers = {"value": self.tested, "base": self.against, "distance": self.distance, "at most": self.at_most}
        shown = [f"{name} {digits(number)}" for name, number in numbers.items() if number is not None]
        shown += [] if self.p is None else ["p < 0.001" if self.p < 0.001 else f"p {self.p:.3f}"]
        shown += [f"{self.verdict}: {self.reason}" if self.reason else self.verdict]
        return plain(f"{self.title or self.name} ({self.direction}): {', '.join(shown)}")

    @property
    def passes(self) -> bool:
        """Whether it is neither worse nor open."""
        return self.verdict not in ("worse", *OPEN)


@dataclass(frozen=True)
class Gate:
    """Checks of a model; `passes` if every one does.

    Args:
        margin: loss that passes.
        benchmark: name of the benchmark.
        models: names of the base, where there is one, and of the tested model.
    """

    checks: tuple[Check, ...]
    margin: float
    benchmark: str = ""
    models: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether the build may go on."""
        return all(check.passes for check in self.checks)

    @property
    def exit_code(self) -> int:
        """0 if it passes, `FAILED` for what is worse, `UNDECIDED` where not all could be decided."""
        worse = any(check.verdict == "worse" for check in self.checks)
        return 0 if self.passes else FAILED if worse else UNDECIDED

    @property
    def heading(self) -> str:
        """The outcome, and the checks that decide it, in one line."""
        outcome = {0: "passes", FAILED: "fails", UNDECIDED: "could not decide"}[self.exit_code]
        decided: tuple[str, ...] = {FAILED: ("worse",), UNDECIDED: OPEN}.get(self.exit_code, ())
        sentences = [f" {check.text[0].upper()}{check.text[1:]}." for check in self.checks if check.verdict in decided]
        return f"Gate: {outcome}.{''.join(sentences)}"

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        return {"passes": self.passes, "margin": self.margin, "checks": [vars(check) for check in self.checks]}

    def table(self) -> Table:
        """The checks as texts: values, and their distance from the ideal beside the largest that passes."""
        columns = ["name", "base", "value", "distance", "at most", "verdict"]
        rows = [[c.name, *map(digits, (c.against, c.tested, c.distance, c.at_most)), c.verdict] for c in self.checks]
        if all(check.against is None for check in self.checks):
            columns, rows = [*columns[:1], *columns[2:]], [[*row[:1], *row[2:]] for row in rows]
        notes = [f"Of equal models 5 % fail at most. Margin: {digits(self.margin)}. Undefined never passes."]
        for reason in dict.fromkeys((check.verdict, check.reason) for check in self.checks if check.reason):
            names = ", ".join(check.name for check in self.checks if (check.verdict, check.reason) == reason)
            notes.append(f"{names}: {': '.join(reason)}.")
        return Table(columns, rows, self.heading, " ".join(notes), "gate")

    def to_junit(self, file: str = "") -> str:
        """JUnit XML, a testcase for each value: a failure is worse, an error is open; their texts have all figures.

        `file`: path of the tested result, which systems of CI link.
        """
        from xml.etree import ElementTree as Xml

        kinds = ["" if check.passes else "failure" if check.verdict == "worse" else "error" for check in self.checks]
        counts = {f"{kind}s": str(kinds.count(kind)) for kind in ("failure", "error")}
        counts = {"tests": str(len(kinds)), **counts, "skipped": "0", "time": "0"}
        root, group = Xml.Element("testsuites", {"name": "fairspace", **counts}), f"fairspace.{self.benchmark}"
        suite = Xml.SubElement(root, "testsuite", {"name": group, **counts})
        for check, kind in zip(self.checks, kinds, strict=True):
            case = Xml.SubElement(suite, "testcase", classname=group, name=check.name, file=plain(file), time="0")
            listed = Xml.SubElement(case, "properties")
            for name, value in vars(check).items():
                Xml.SubElement(listed, "property", name=name, value=plain(str(value)))
            text = f"{' against '.join(map(plain, self.models[::-1]))}: {check.figures}, margin {digits(self.margin)}."
            Xml.SubElement(case, kind or "system-out", {"type": str(check.verdict)} if kind else {}).text = text
        Xml.indent(root)
        return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

    def to_markdown(self) -> str:
        """The outcome, the table and its notes, for the page of a job or pull request."""
        shown, title = self.table(), find_benchmark(self.benchmark).title
        texts = (f"{' against '.join(self.models[::-1])}. {shown.note}", shown.heading)
        note, heading = map(markdown, texts)
        return f"### {title}\n\n**{heading}**\n\n{shown.to_markdown()}\n\n{note}\n"

    def __repr__(self) -> str:
        shown = self.table()
        return f"{wrapped(shown.heading)}\n\n{shown.to_text()}\n\n{wrapped(shown.note)}"


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
        scores: names of values; those of `checked_values` if left out, and of a limit the first of these.
        margin: larger distance from the ideal, in the value's unit, that still passes; 0 or more, finite.
        most: distance from the ideal; what is shown to be beyond it fails. A raw value whose draws are not kept is held
            against it by its standard error. None asks for a number alone.

    Errors: UsageError for results that answer different questions, an unknown value, one that no direction is fairer
        of, a margin or limit that is negative or not finite, or both `base` and `most`.
    """
    if not all(0 <= number < math.inf for number in (margin, most or 0.0)) or (base is not None and most is not None):
        raise UsageError("A gate has a base or a limit (most=), and a margin of 0 or more; both are finite numbers.")
    if base is not None:
        of = [(result.benchmark, result.signature.get("dataset_revision")) for result in (base, tested)]
        if of[0] != of[1]:
            raise UsageError(f"The results are of {of[0]} and of {of[1]}; they answer different questions.")
        base = rescore(base, tested.standard)
        ways = [_way(result) for result in (base, tested)]
        if ways[0] != ways[1]:
            raise UsageError(f"The results were measured by {' and by '.join(ways)}; a gate compares like with like.")
    names = list(dict.fromkeys(scores)) or checked_values(tested, base)
    ideals = [_ideal(tested, name) for name in names]
    for name, ideal in zip(names, ideals, strict=True):
        for what, number in (("max", most or 0.0), ("margin", margin)):
            _check_scale(tested, name, what, number, ideal)
    raw = [name for name in names if name not in tested.scored.shown]  # an undefined score is not its raw value
    ours_of, theirs_of = (
        {name: _about_value(tested, score) if name not in raw else score for name, score in drawn.items()}
        for drawn in drawn_scores(tested.benchmark, [tested, base or tested], tested.standard, raw)
    )
    if base is None:  # a limit needs no draws beside those of another model
        kept = {name: _of_error(value) for name in raw if (value := tested.values.get(name)) and name not in ours_of}
        ours_of |= {name: score for name, score in kept.items() if score is not None}
    title = find_benchmark(tested.benchmark).describe
    same = base is None or same_questions(base, tested)
    chances: list[tuple[float, ...] | None] = []
    for name, ideal in zip(names, ideals, strict=True):
        ours = _away(ours_of[name], ideal) if name in ours_of else None
        theirs = _away(theirs_of[name], ideal) if base is not None and name in theirs_of else None
        if most is not None and ours is not None:
            theirs = DrawnScore(most, most, np.full(len(ours.draws), most))
        chances.append(_chances(ours, theirs, margin, same) if ours and theirs else None)
    corrected = zip(*map(holm, zip(*filter(None, chances), strict=True)), strict=True)
    asked_alone, checks = base is None and most is None, []
    ours_below, theirs_below = (() if asked_alone else _below(tested)), (() if base is None else _below(base))
    floors = ours_below if theirs_below is not None and len(ours_below or ()) > len(theirs_below) else ()
    for name, ideal, chance_known in zip(names, ideals, chances, strict=True):
        numbers = _number(tested, name), None if base is None else _number(base, name)
        p = next(corrected) if chance_known else None
        verdict: Verdict = "measured" if asked_alone and numbers[0] is not None else "not enough data"
        if p is not None:
            verdict = _verdict(*(chance < LEVEL for chance in p), bool(floors))
        verdict = "not counted" if verdict == "not enough data" and p is not None and floors else verdict
        reason = _unknown(name, tested, base, floors) if verdict in OPEN else ""
        bare = [None if n is None or ideal.number is None else DrawnScore(n, n, np.empty(0)) for n in numbers]
        away = [None if score is None else _away(score, ideal).value for score in bare]
        at_most, chance = most if away[1] is None else away[1] + margin, None if p is None else p[0]
        words = _fairer(ideal), title(name)
        checks.append(Check(name, words[0], *numbers, chance, verdict, reason, words[1], away[0], at_most))
    models = model_names([tested] if base is None else [base, tested])
    return Gate(tuple(checks), margin, tested.benchmark, tuple(models))


def checked_values(tested: Result, base: Result | None) -> list[str]:
    """The first values of a result that have a fairer direction or an even point, but for those not run for either.

    The ranked value is not among them where the result begins with others: it may mix facts and fairness. Without a
    `base` it is the first one alone.
    """
    bench, shown = find_benchmark(tested.benchmark), first_values(tested)
    leads = bench.reporting.leading(tested.scored, tested.standard)
    asked = [name for name in shown if any(_ran(result, name) for result in (tested, base) if result is not None)]
    fair = [name for name in asked if _has_ideal(tested, name) and (name in leads or name != tested.scored.ranking)]
    return (fair if base is not None else fair[:1]) or [tested.scored.ranking]


def _ran(result: Result, name: str) -> bool:
    """Whether a value, or every part that a score is made of, was run."""
    bench = find_benchmark(result.benchmark)
    rule = bench.table_of(result.scored, find_standard(bench, result.standard)).rules.get(name)
    values = [first_values(result).get(name), *(result.values.get(part) for part in (rule.weights if rule else ()))]
    return not any(value is not None and value.state == "not_run" for value in values)


def _has_ideal(result: Result, name: str) -> bool:
    """Whether a value has an even point, or an ideal with a fairer direction."""
    value, ideal = first_values(result)[name], find_benchmark(result.benchmark).ideal(name, result.standard)
    fairer = ideal is not None and not ideal.mixed and (ideal.number is not None or ideal.worse != "either")
    return EVEN in value.numbers() or fairer


def _verdict(worse: bool, better: bool, *open_questions: bool) -> Verdict:
    if worse:
        return "worse"
    if any(open_questions):
        return "not enough data"
    return "better" if better else "no difference shown"


def _way(result: Result) -> str:
    """Protocol, cohort and reading of a result."""
    bench, signed = find_benchmark(result.benchmark), result.signature
    parts = bench.protocol_of(signed, result.scored), bench.protocols.cohort_of(result.scored), signed.get("reading")
    return ", ".join(filter(None, parts))


def _below(result: Result) -> tuple[str, ...] | None:
    """Floors of the standard that the given answers, taken as a whole, do not reach; None without a score."""
    bench = find_benchmark(result.benchmark)
    whole = {name: replace(v, low=v.value, high=v.value, expected=v.valid) for name, v in result.values.items()}
    scored = bench.score(whole, find_standard(bench, result.standard))
    return scored.unranked if scored.scores[scored.ranking].state == "value" else None


def _unknown(name: str, tested: Result, base: Result | None, floors: Sequence[str] | None) -> str:
    """The reason for a verdict in `OPEN`."""
    reasons = list(floors or ())
    for who, result in (("the tested model", tested), *((("the base", base),) if base else ())):
        value = {**result.values, **result.scored.shown}.get(name)
        if value is None or value.value is None:
            reasons.append(f"{who}: {value.reason if value else 'no such value'}")
        elif could := "keeps no resamples; score it again" if result.draws is None else could_be(value, digits):
            reasons.append(f"{who} {could}")
    return "; ".join(reason.rstrip(".") for reason in reasons) or "too few resamples have a number"


def _ideal(result: Result, name: str) -> Ideal:
    values = {**result.values, **result.scored.shown}
    if name not in values:
        raise UsageError(f"{result.benchmark} has no value {name!r}{did_you_mean(name, values)}.")
    bench = find_benchmark(result.benchmark)
    ideal = bench.ideal(name, result.standard)
    if ideal is None and (even := values[name].numbers().get(EVEN)) is not None:
        return Ideal(even, "either")
    if ideal is None and name in result.scored.shown:
        return Ideal(None, "below" if bench.higher_is_better else "above")
    if ideal is None or ideal.mixed or (ideal.number is None and ideal.worse == "either"):
        why = f" under {result.standard}: {ideal.mixed}" if ideal and ideal.mixed else ""
        raise UsageError(f"{name} has no fairer direction{why}; name another value, such as {result.scored.ranking}.")
    return ideal


def _check_scale(result: Result, name: str, what: str, number: float, ideal: Ideal) -> None:
    """UsageError for a limit that no value of a known scale exceeds: a distance from the `ideal`, or an end."""
    bench = find_benchmark(result.benchmark)
    limits = bench.scoring.table(find_standard(bench, result.standard), AS_RELEASED).limits
    low, high = (0.0, 1.0) if name.startswith("share_") else limits.get(name, (-math.inf, math.inf))
    if what not in _ENDS:
        low, high = 0.0, max(abs(end - (ideal.number or 0.0)) for end in (low, high))
    if not low <= number <= high:
        scale = f"{digits(low)} to {digits(high)}"
        raise UsageError(f"{what} {number:g} of {name}: expected a number on its scale, {scale}.")


def _fairer(ideal: Ideal) -> str:
    return {"above": "lower", "below": "higher"}.get(ideal.worse, f"nearer to {digits(ideal.number)}")


def _away(score: DrawnScore, ideal: Ideal) -> DrawnScore:
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
    return DrawnScore(float(away(score.value)), float(away(score.debiased)), away(score.draws), bounds)


def _chances(ours: DrawnScore, theirs: DrawnScore, margin: float, same: bool) -> tuple[float, ...] | None:
    """One-sided p-values: our distance is larger by the margin, smaller, larger at both worst cases, as measured."""
    limit, whole = _moved(theirs, margin), ours.of_whole()
    pairs = (ours, limit), (theirs, ours), (_worst(ours), _worst(limit)), (whole, limit.of_whole())
    chances = []
    for score, other in pairs:
        each = difference(score, other, WITHOUT, logarithmic=False)
        if each is None:
            return None
        chances.append(float(ndtr(-each.errors)) if each.value > 0 and (same or each.low > 0) else 1.0)
    return tuple(chances)


def _about_value(result: Result, score: DrawnScore) -> DrawnScore:
    """The score with its draws about its value, on a scale where errors are a part of it; elsewhere as it is.

    Replicates of sizes near a floor are larger than the sizes, so their scores lie, and vary, at smaller numbers.
    """
    draws = score.draws[np.isfinite(score.draws)]
    if not find_benchmark(result.benchmark).scoring.logarithmic or min(score.value, *draws, 1.0) <= 0:
        return score
    return score._replace(draws=score.draws * (score.value / np.exp(np.log(draws).mean())))


def _moved(score: DrawnScore, by: float) -> DrawnScore:
    bounds = None if score.bounds is None else (score.bounds[0] + by, score.bounds[1] + by)
    return DrawnScore(score.value + by, score.debiased + by, score.draws + by, bounds)


def _worst(score: DrawnScore) -> DrawnScore:
    """The distance as large as missing answers can make it."""
    return score if score.bounds is None else _moved(score, score.bounds[1] - score.value)._replace(bounds=None)


def _number(result: Result, name: str) -> float | None:
    return number_of({**result.values, **result.scored.shown}, name)


def hold_against(tested: Result, limits: Sequence[tuple[str, str, float]]) -> list[Check]:
    """Test a model's values against limits by the gate's policy; p-values are corrected for all of them.

    A limit is a name, its kind (the largest `distance` from the ideal, the `least` or `most` number), and a number.
    Stricter than the gate: *better*, within a limit, has its whole 95 % interval within, where it has one.

    Errors: UsageError for an unknown value, or the distance of one whose ideal is no number.
    """
    values = {**tested.values, **tested.scored.shown}
    raw = [name for name, _, _ in limits if name not in tested.scored.shown]
    drawn, chances, inside = drawn_scores(tested.benchmark, [tested], tested.standard, raw)[0], [], []
    for name, kind, number in limits:
        if name not in values:
            raise UsageError(f"{tested.benchmark} has no value {name!r}{did_you_mean(name, values)}.")
        ideal = _ENDS.get(kind) or find_benchmark(tested.benchmark).ideal(name, tested.standard)
        if ideal is None or ideal.number is None:
            raise UsageError(f"{name} has no number as its ideal, so no distance; give its least or most.")
        _check_scale(tested, name, kind, number, ideal)
        score, about = drawn.get(name) or _of_error(values[name]), values[name].uncertainty
        end = -number if kind == "least" else number
        limit = None if score is None else DrawnScore(end, end, np.full(len(score.draws), end))
        chances.append(_chances(_away(score, ideal), limit, 0.0, True) if score and limit else None)
        span = None if score is None or about is None else score._replace(bounds=(about.low, about.high))
        inside.append(span is None or (_away(span, ideal).bounds or (0.0, math.inf))[1] <= end)
    corrected = zip(*map(holm, zip(*filter(None, chances), strict=True)), strict=True)
    checks = []
    for (name, kind, number), chance, within in zip(limits, chances, inside, strict=True):
        p = next(corrected) if chance else None
        verdict = "not enough data" if p is None else _verdict(*(each < LEVEL for each in p))
        verdict = "no difference shown" if verdict == "better" and not within else verdict
        checks.append(Check(name, kind, values[name].value, number, None if p is None else p[0], verdict))
    return checks


EVEN = "even"
"""Number of a share: its value for an answerer that treats all groups alike."""
_ENDS: Mapping[str, Ideal] = {"least": Ideal(0.0, "below"), "most": Ideal(0.0, "above")}
"""Ideals from which the distance is the value itself, or its negative."""


def _of_error(value: Value) -> DrawnScore | None:
    """A value of which only errors are kept: draws with the larger one of its standard error and its interval's."""
    about = value.uncertainty
    if value.value is None or about is None:
        return None
    error = max(about.error, (about.high - value.value) / Z, (value.value - about.low) / Z)
    draws = value.value + error * math.sqrt(1 - 1 / FEWEST_DRAWS) * np.array([-1.0, 1.0] * (FEWEST_DRAWS // 2))
    return DrawnScore(value.value, value.value if about.debiased is None else about.debiased, draws, bounds_of(value))
