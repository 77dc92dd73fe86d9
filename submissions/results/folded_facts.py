"""Details of a value beside its three numbers: the same facts in the same order everywhere, collapsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairspace.submissions.benchmarks.ideal import Ideal
from fairspace.submissions.benchmarks.published import COMPUTED, PAPER_PRINTS
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import (
    NOTHING,
    Show,
    chance_text,
    could_be,
    lacking,
    state_of,
    why_no_chance,
)
from fairspace.submissions.results.tiers import why_no_tier
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value

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
    "other instruments": "The smallest and largest value that other judges, thresholds or corrected labels give.",
}
"""Fact -> explanation, in display order."""
_METHODS = {
    "bca": "bias-corrected and accelerated",
    "percentile": "percentiles",
    "basic": "basic interval",
    "normal": "normal interval about the value less its bias of few samples",
    "size": "from the cross-fitted estimate to the value, and 1.96 errors on either side",
    "exact": "exact interval of a share of clustered answers",
    "score": "from the most to the least favourable values within their intervals, and the draws about both",
    "bracket": "normal interval, widened by the largest bias that the value can have",
}


@dataclass(frozen=True)
class Fact:
    """One fact of a value: its name and what is known."""

    name: str
    text: str

    @property
    def sentence(self) -> str:
        """Explanation of the fact."""
        return SENTENCES[self.name]


def folded_facts(
    value: Value | None,
    ideal: Ideal | None,
    show: Show,
    *,
    published: bool = False,
    row: Row | None = None,
    instruments: tuple[float, float] | None = None,
) -> list[Fact]:
    """The facts of a value in the order of `SENTENCES`; without a number its counts and its state alone.

    `instruments`: its range by other instruments, None without any; `row`: the row that it ranks, whose tier and
    chances are facts, too; others as in `three_numbers`.
    """
    texts: dict[str, str] = {}
    if value is not None and value.value is not None:
        about = value.uncertainty
        texts["standard error"] = NOTHING if about is None else show(about.error)
        texts["interval by"] = why_no_chance(value, ideal, published) if about is None else drawn(about)
        chance = chance_text(value, ideal, show)
        texts["by chance"] = why_no_chance(value, ideal, published) if chance == NOTHING else chance
        if about is not None and about.debiased is not None:
            texts[DEBIASED] = show(about.debiased)
        texts["missing"] = could_be(value, show) or "nothing that could change the value"
    texts["coverage"] = NOTHING if value is None else _coverage(value)
    texts["state"] = _state(value, published)
    if row is not None:
        texts["tier"] = f"none: {why_no_tier(row)}" if row.tier is None else str(row.tier)
        if row.chances:
            texts["chances"] = ", ".join(f"{plain(name)} {probability(share)}" for name, share in row.chances.items())
    if instruments is not None:
        texts["other instruments"] = f"{show(instruments[0])} to {show(instruments[1])}"
    return [Fact(name, texts[name]) for name in SENTENCES if name in texts]


def probability(chance: float) -> str:
    """'= 0.93', and never a certainty that some hundred draws cannot give."""
    return "> 0.99" if chance > 0.995 else "< 0.01" if chance < 0.005 else f"= {chance:.2f}"


def drawn(about: Uncertainty) -> str:
    """Method of an interval in words: units, draws, method and notes."""
    if about.clusters:
        draws = f"{about.clusters:,} × {about.unit}, drawn {about.resamples:,} times"
    else:
        draws = f"{about.unit}, {about.resamples} kept draws"
    lost = f"; {about.undefined} of these without a number" if about.undefined else ""
    return plain(f"{draws}{lost}; {_METHODS[about.method]}" + (f"; {about.note}" if about.note else ""))


def _coverage(value: Value) -> str:
    """'1,433 of 1,440 (99.5 %)'; never 100 % unless complete."""
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
