"""The three numbers shown of a value on every row, page and line of the terminal.

1. The value as measured, with its 95 % interval; where answers are missing, the range that they allow (`could_be`).
2. Fair models of as many answers: their mean by chance, and the end that 95 % of them stay within. *No bias shown*: the
value is within that end, or its interval holds the ideal; likewise its witnesses (`Ideal.witnesses`).
3. The range of ranks that the row could have.
Other facts are collapsed (`folded_facts`). A value without a number never shows one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.benchmark import NEAR, Ideal
from fairspace.submissions.benchmarks.published import COMPUTED, PAPER_PRINTS
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import LEFT_OUT, is_left_out
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import NOTHING, Show, interval_text
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import why_no_tier
from fairspace.submissions.values import Value

NO_BIAS_SHOWN = "no bias shown with this many answers"
BIASED = "bias beyond chance"
NOT_AVAILABLE = "not available"
"""Beginning of the reason why printed figures give no number under a standard."""


@dataclass(frozen=True)
class ThreeNumbers:
    """The three numbers of a value, None if unknown, and the texts that show them or say why there are none.

    Args:
        biased: Whether it is less fair than chance explains.
        ranks: Best and worst possible rank.
        chance_text: Mean and end of fair models, or a dash; `why_no_chance` says why.
        chance_limit: The end alone and the verdict as a sign, such as '≤0.034*'; `CHANCE_SIGNS` explains it.
        verdict: `NO_BIAS_SHOWN`, `BIASED`, or '' if unknown.
        missing_text: Text of `could_be`.
        ranks_text: Ranks; '' for a value without ranks.
    """

    value: float | None
    interval: tuple[float, float] | None
    biased: bool | None
    ranks: tuple[int, int] | None
    value_text: str
    interval_text: str
    chance_text: str
    verdict: str
    missing_text: str
    ranks_text: str = ""
    chance_limit: str = NOTHING

    @property
    def cell_text(self) -> str:
        """Value, interval and missing part in one cell, such as '0.12 [0.10 to 0.14]; could be 0.05 to 0.31: ...'."""
        text = self.value_text if self.interval is None else f"{self.value_text} [{self.interval_text}]"
        return f"{text}; {self.missing_text}" if self.missing_text else text

    @property
    def chance_words(self) -> str:
        """Numbers of fair models and the verdict, or 'not known'."""
        texts = [text for text in (self.chance_text, self.verdict) if text not in ("", NOTHING)]
        return "; ".join(texts) or "not known"


def three_numbers(
    value: Value | None,
    ideal: Ideal | None,
    show: Show,
    *,
    published: bool = False,
    row: Row | None = None,
    values: Mapping[str, Value] = {},
) -> ThreeNumbers:
    """The three numbers of a value; None where a row has no such value at all.

    `published` marks a printed row; `row` is the one that the value ranks, if any; some of the raw `values` of the same
    result are witnesses of the `ideal`.
    """
    ranks = None if row is None else row.rank_range
    ranks_text = "" if row is None else text_of_ranks(row)
    if value is None or value.value is None:
        return ThreeNumbers(None, None, None, ranks, lacking(value, published), NOTHING, NOTHING, "", "", ranks_text)
    about = value.uncertainty
    interval = None if about is None else (about.low, about.high)
    shown = why_no_interval(value, published)
    if about is not None:
        shown = interval_text(interval, show, knows_low=about.knows_low)
    biased = is_biased(value, ideal, values)
    return ThreeNumbers(
        value.value,
        interval,
        biased,
        ranks,
        show(value.value) + near_threshold(value, None if ideal is None else ideal.threshold),
        shown,
        chance_text(value, ideal, show),
        {True: BIASED, False: NO_BIAS_SHOWN, None: ""}[biased],
        could_be(value, show),
        ranks_text,
        chance_limit(value, ideal, show, biased),
    )


def near_threshold(value: Value, threshold: float | None) -> str:
    """' ≈ 60' for a score that cannot be told from the threshold 60 by its error; else ''."""
    about = value.uncertainty
    inside = about is not None and threshold is not None and about.low <= threshold <= about.high
    sign = f"{threshold:g}" if inside else value.evidence.get(NEAR, "")
    return f" ≈ {sign}" if sign else ""


def numbers_in_row(row: Row, name: str, value: Value | None, show: Show, *, ranked: bool = False) -> ThreeNumbers:
    """The three numbers of a value of a row; `ranked`: its ranks go by it."""
    by, published = row if ranked else None, row.provenance == "published"
    return three_numbers(value, ideal_of(row, name), show, published=published, row=by, values=row.values)


def could_be(value: Value, show: Show) -> str:
    """'could be 0.03 to 0.50: 45 % missing', the range that missing samples allow; '' if they change nothing."""
    if value.value is None:
        return ""
    share = 1.0 if value.coverage is None else value.coverage
    why = f"{100 * (1 - share):.0f} % missing" if share <= 0.99 else "less than 1 % missing"
    if share == 1:
        why = "unusable answers at their best and worst"
    low, high = (None if end is None else show(end) for end in (value.low, value.high))
    if low is None and high is None:
        return f"{why} or unusable" if share < 1 else ""
    if low is None or high is None:
        end, words = (low, "more") if high is None else (high, "less")
        return f"could be {end} or {words}: {why}" if share < 1 else ""
    return f"could be {low} to {high}: {why}" if low != high else ""


def state_of(value: Value) -> str:
    """The state of a value in a word; of a number from a part of the samples, `incomplete`."""
    return "incomplete" if value.value is not None and (value.coverage or 1) < 1 else value.state


def chance_text(value: Value, ideal: Ideal | None, show: Show) -> str:
    """'0.021, up to 0.034', the mean and the end of fair models; a dash where they are unknown."""
    about = value.uncertainty
    if about is None or ideal is None or about.fair is None:
        return NOTHING
    sign, towards = "±" if ideal.worse == "either" else "", "down" if ideal.worse == "below" else "up"
    mean, end = (None if number is None else show(number) for number in (about.fair, about.fair_high))
    return f"{sign}{mean}" if end in (None, mean) else f"{sign}{mean}, {towards} to {end}"


CHANCE_SIGNS = (
    "By chance: 95 % of fair models with as many answers stay within it. *: bias beyond chance; ?: not known; no sign: "
    "no bias shown, which proves no fairness."
)


def chance_limit(value: Value, ideal: Ideal | None, show: Show, biased: bool | None) -> str:
    """'≤0.034*', what 95 % of fair models stay within, or '≈' their mean, with the sign of the verdict; or a dash."""
    about = value.uncertainty
    if about is None or ideal is None or about.fair is None:
        return NOTHING
    side = {"either": "±", "below": "≥", "above": "≤"}[ideal.worse]
    end = f"≈{show(about.fair)}" if about.fair_high is None else f"{side}{show(about.fair_high)}"
    return end + {True: "*", False: "", None: "?"}[biased]


def ideal_of(row: Row, name: str) -> Ideal | None:
    """The ideal of a value of a row; None for a printed row, of which no fair model is stated."""
    return None if row.result is None else benchmark(row.result.benchmark).ideal(name, row.result.standard)


def is_biased(value: Value, ideal: Ideal | None, values: Mapping[str, Value] = {}) -> bool | None:
    """Whether a value is less fair than chance explains; None if unknown.

    No bias is shown only where a fair model is known or the ideal is a number, and where no witness is biased.
    """
    about = value.uncertainty
    if ideal is None or ideal.mixed or about is None or value.value is None:
        return None
    if not _is_like_fair(value.value, about, ideal):
        return None if about.fair is None else True
    alone = replace(ideal, witnesses=())
    if all(name in values and is_biased(values[name], alone) is False for name in ideal.witnesses):
        return False
    return None


def _is_like_fair(number: float, about: Uncertainty, ideal: Ideal) -> bool:
    """Whether the interval reaches the ideal, or the number is not beyond what 95 % of fair models stay within."""
    target = about.fair if ideal.number is None else ideal.number
    low_reaches = target is not None and about.low <= target and about.knows_low
    high_reaches = target is not None and about.high >= target
    ends = [end for end in (about.fair, about.fair_high) if end is not None]
    if ideal.worse == "above":
        return low_reaches or any(number <= end for end in ends)
    if ideal.worse == "below":
        return high_reaches or any(number >= end for end in ends)
    return (low_reaches and high_reaches) or any(abs(number) <= end for end in ends)


def why_no_chance(value: Value, ideal: Ideal | None, published: bool = False) -> str:
    """The reason why the chance of a fair model is unknown."""
    if published:
        return "none: printed figures come without samples"
    if value.uncertainty is None:
        return "none: the value was not resampled"
    if ideal is None:
        return "none: the value describes the model, and no number of it is fair"
    return "none: what a fair model shows by chance is not known for this value"


def why_no_interval(value: Value, published: bool) -> str:
    """The reason in a word or two why a value has no interval."""
    if not published:
        return "not resampled"
    if "printed" in value.evidence:
        return "printed"
    beside = value.evidence.get(PAPER_PRINTS)
    return f"computed here; {beside} printed" if beside else "computed here"


def text_of_ranks(row: Row) -> str:
    """'2 to 5', the ranks that a row could have, or the reason in a word why they are unknown."""
    if row.rank_range is not None:
        best, worst = row.rank_range
        return str(best) if best == worst else f"{best} to {worst}"
    if row.provenance != "scored here":
        return {"published": "unknown", "baseline": "baseline"}[row.provenance]
    if row.rank is None:
        return "not ranked"
    return "not resampled" if row.tier is None else "too many rows"


def lacking(value: Value | None, published: bool) -> str:
    """The reason for a missing number, in words; None is a value that a row does not have at all."""
    if value is not None and is_left_out(value):
        return LEFT_OUT
    if value is not None and value.state == "undefined":
        return "undefined"
    if not published:
        return "not run"
    return NOT_AVAILABLE if value is not None and value.reason.startswith(NOT_AVAILABLE) else "not printed"


DEBIASED = "lower estimate"
SENTENCES: Mapping[str, str] = {
    "standard error": "How far the value would move, on average, with other samples of the same kind.",
    "interval by": "How the 95 % interval was made, and what it does not hold.",
    "by chance": "What perfectly fair models of as many answers show by chance: their mean, and the end that 95 % of "
    "them stay within.",
    DEBIASED: "An estimate without the bias of few samples; of a size, such as a largest gap, it is the true size at "
    "most, on average.",
    "missing": "What the missing answers could make of the value; ranks go by the worse end.",
    "coverage": "The answers that could be used, of those that the protocol asks for.",
    "state": "Whether there is a number, and of all answers or of some; what has none never counts as 0.",
    "tier": "Models of one tier are not significantly worse than the best of that tier.",
    "chances": "How probable it is, given the sampling error, that a label is right or a threshold is reached.",
    "sensitivity analysis": "The smallest and largest value that other judges, thresholds or corrected labels give.",
}
"""Fact -> explanation, in display order."""
_METHODS = {
    "bca": "bias-corrected and accelerated",
    "percentile": "percentiles",
    "basic": "basic interval",
    "normal": "1.96 standard errors on either side of the value without the bias of few samples",
    "size": "from the cross-fitted estimate to the value, and 1.96 errors on either side",
    "exact": "exact interval of a share of clustered answers",
    "score": "from the most to the least favourable values within their intervals, and the draws about both",
    "bracket": "normal interval, widened by the largest bias that the value can have",
}


def folded_facts(
    value: Value | None,
    ideal: Ideal | None,
    show: Show,
    *,
    published: bool = False,
    row: Row | None = None,
    instruments: tuple[float, float] | None = None,
) -> dict[str, str]:
    """Facts of a value by name, in the order of `SENTENCES`; without a number its counts and its state alone.

    `instruments`: its range in the sensitivity analysis, None without any; `row`: the row that it ranks, whose tier and
    chances are facts, too; others as in `three_numbers`.
    """
    texts: dict[str, str] = {}
    if value is not None and value.value is not None:
        about = value.uncertainty
        if about is None or about.shown_error is not None:
            texts["standard error"] = NOTHING if about is None else show(about.error)
        texts["interval by"] = why_no_chance(value, ideal, published) if about is None else drawn(about)
        chance = chance_text(value, ideal, show)
        texts["by chance"] = why_no_chance(value, ideal, published) if chance == NOTHING else chance
        if about is not None and about.debiased is not None:
            texts[DEBIASED] = show(about.debiased)
        texts["missing"] = could_be(value, show) or "nothing that could change the value"
    texts["coverage"] = NOTHING if value is None else coverage(value)
    texts["state"] = _state(value, published)
    if row is not None:
        texts["tier"] = f"none: {why_no_tier(row)}" if row.tier is None else str(row.tier)
        if row.chances:
            texts["chances"] = ", ".join(f"{plain(name)} {probability(share)}" for name, share in row.chances.items())
    if instruments is not None:
        texts["sensitivity analysis"] = interval_text(instruments, show)
    return {name: texts[name] for name in SENTENCES if name in texts}


def probability(chance: float) -> str:
    """'= 0.93', and never a certainty that some hundred draws cannot give."""
    return "> 0.99" if chance > 0.995 else "< 0.01" if chance < 0.005 else f"= {chance:.2f}"


def drawn(about: Uncertainty) -> str:
    """Method of an interval in words: units, draws, method and notes."""
    if about.clusters:
        draws = f"{about.resamples:,} resamples of {about.clusters:,} units, each one {about.unit}"
    else:
        draws = f"{about.unit}, {about.resamples} kept draws"
    lost = f"; {about.undefined} of these without a number" if about.undefined else ""
    return plain(f"{draws}{lost}; {_METHODS[about.method]}" + (f"; {about.note}" if about.note else ""))


def coverage(value: Value) -> str:
    """'1,433 of 1,440 (99.5 %)', a dash if nothing is expected; never 100 % unless complete."""
    if value.coverage is None:
        return NOTHING
    percent = 100 * value.coverage if value.valid == value.expected else min(100 * value.coverage, 99.9)
    return f"{value.valid:,} of {value.expected:,} ({percent:.1f} %)"


def _state(value: Value | None, published: bool) -> str:
    if value is None or value.value is None:
        reason = "" if value is None else plain(value.reason)
        words = lacking(value, published)
        return f"{words}: {reason}" if reason and not reason.startswith(words) else reason or words
    if published:
        beside = value.evidence.get(PAPER_PRINTS)
        computed = COMPUTED + (f"; the paper prints {beside}, by its own standard" if beside else "")
        return "printed" if "printed" in value.evidence else computed
    return state_of(value)
