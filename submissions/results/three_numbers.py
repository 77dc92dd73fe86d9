"""The three numbers that every row, page and line of the terminal shows of a value.

1. The effect: the value less its bias of few samples, where that is known, with its 95 % interval.
2. The excess over a fair model of the same size, or that the value cannot be told from fair: it is not beyond what 95 %
   of fair models stay within, or its interval holds the ideal.
3. The range of ranks that the row could have.

All else that is known of a value is folded away (`folded_facts`). A value without a number never shows one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from fairspace.submissions.benchmarks.adjustment import LEFT_OUT, is_left_out
from fairspace.submissions.benchmarks.ideal import NEAR, Ideal
from fairspace.submissions.benchmarks.published import PAPER_PRINTS
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value

LIKE_FAIR = "cannot be told from fair"
NOTHING = "–"
NOT_AVAILABLE = "not available"
"""How a reason begins that says why printed figures do not give a number under a standard."""
Show = Callable[[float], str]
"""A number in the unit and with the digits of the place that shows it."""


@dataclass(frozen=True)
class ThreeNumbers:
    """The three numbers of a value, and the texts that show them.

    Args:
        effect: the debiased value, or the value where no bias is known; None without a number.
        interval: its 95 % interval; None without one.
        excess: how far the value is beyond the mean of fair models; None where it is not, or where nobody can say.
        like_fair: whether the value cannot be told from fair.
        ranks: the best and the worst rank that the row could have; None where nobody can say.
        effect_text: the number, or the state in words.
        interval_text: the ends, or a word that says why there is none.
        excess_text: the number, `LIKE_FAIR`, or a dash; `why_no_excess` says why.
        ranks_text: the ranks, or a word that says why there are none; '' for a value that no ranks go by.
    """

    effect: float | None
    interval: tuple[float, float] | None
    excess: float | None
    like_fair: bool
    ranks: tuple[int, int] | None
    effect_text: str
    interval_text: str
    excess_text: str
    ranks_text: str = ""

    @property
    def cell_text(self) -> str:
        """Effect and interval in one cell, such as '0.12 [0.10 to 0.14]'."""
        return self.effect_text if self.interval is None else f"{self.effect_text} [{self.interval_text}]"


def three_numbers(
    value: Value | None, ideal: Ideal | None, show: Show, *, published: bool = False, row: Row | None = None
) -> ThreeNumbers:
    """The three numbers of a value.

    Args:
        value: None where a row has no such value at all.
        ideal: as the benchmark declares it (`Benchmark.ideal`).
        show: number -> text.
        published: whether it stands in a printed row.
        row: whose ranks go by the value; None if they do not.
    """
    ranks = None if row is None else row.rank_range
    ranks_text = "" if row is None else text_of_ranks(row)
    if value is None or value.value is None:
        return ThreeNumbers(None, None, None, False, ranks, lacking(value, published), NOTHING, NOTHING, ranks_text)
    about = value.uncertainty
    effect = effect_of(value)
    interval = None if about is None else (about.low, about.high)
    like_fair = about is not None and ideal is not None and _is_like_fair(value.value, about, ideal)
    excess = None
    if about is not None and ideal is not None and not like_fair and about.fair is not None:
        excess = _excess(value.value, about.fair, ideal)
    return ThreeNumbers(
        effect,
        interval,
        excess,
        like_fair,
        ranks,
        show(effect) + near_threshold(value, None if ideal is None else ideal.threshold),
        why_no_interval(value, published) if interval is None else _between(*map(show, interval)),
        LIKE_FAIR if like_fair else NOTHING if excess is None else _signed(excess, show),
        ranks_text,
    )


def near_threshold(value: Value, threshold: float | None) -> str:
    """The sign ' ≈ 60' of a score that cannot be told from the threshold 60 by its error; else ''."""
    about = value.uncertainty
    inside = about is not None and threshold is not None and about.low <= threshold <= about.high
    sign = f"{threshold:g}" if inside else value.evidence.get(NEAR, "")
    return f" ≈ {sign}" if sign else ""


def _between(low: str, high: str) -> str:
    """Ends that differ less than their digits show are no interval without width."""
    return f"{low} to {high}" if low != high else f"rounds to {low}"


def ideal_of(row: Row, name: str) -> Ideal | None:
    """The ideal of a value of a row; None for a printed row, of which no fair model is stated."""
    return None if row.result is None else benchmark(row.result.benchmark).ideal(name, row.result.standard)


def effect_of(value: Value) -> float:
    """The debiased value, or the value where no bias is known. ValueError without a number."""
    if value.value is None:
        raise ValueError(f"{value.name} is {value.state}: it has no effect")
    about = value.uncertainty
    return value.value if about is None or about.debiased is None else about.debiased


def _is_like_fair(number: float, about: Uncertainty, ideal: Ideal) -> bool:
    """Whether the interval reaches the ideal, or the number is not beyond what 95 % of fair models stay within."""
    target = about.fair if ideal.number is None else ideal.number
    low_reaches = target is not None and about.low <= target
    high_reaches = target is not None and about.high >= target
    ends = [end for end in (about.fair, about.fair_high) if end is not None]
    if ideal.worse == "above":
        return low_reaches or any(number <= end for end in ends)
    if ideal.worse == "below":
        return high_reaches or any(number >= end for end in ends)
    return (low_reaches and high_reaches) or any(abs(number) <= end for end in ends)


def _excess(number: float, fair: float, ideal: Ideal) -> float:
    return math.copysign(abs(number) - fair, number) if ideal.worse == "either" else number - fair


def _signed(number: float, show: Show) -> str:
    text = show(number)
    return text if number <= 0 or text.startswith("+") else f"+{text}"


def why_no_excess(value: Value, ideal: Ideal | None, published: bool = False) -> str:
    """Why nobody can say how far a value is beyond a fair model."""
    if published:
        return "none: printed figures come without samples"
    if value.uncertainty is None:
        return "none: the value was not resampled"
    if ideal is None:
        return "none: the value describes the model, and no number of it is fair"
    return "none: what a fair model of this size shows is not known for this value"


def why_no_interval(value: Value, published: bool) -> str:
    """In a word or two why a value has no interval."""
    if not published:
        return "not resampled"
    if "printed" in value.evidence:
        return "printed"
    beside = value.evidence.get(PAPER_PRINTS)
    return f"computed here; {beside} printed" if beside else "computed here"


def text_of_ranks(row: Row) -> str:
    """'2 to 5', the ranks that a row could have, or in a word why nobody can say."""
    if row.rank_range is not None:
        best, worst = row.rank_range
        return str(best) if best == worst else f"{best} to {worst}"
    if row.provenance != "scored here":
        return {"published": "unknown", "baseline": "baseline"}[row.provenance]
    if row.rank is None:
        return "not ranked"
    return "not resampled" if row.tier is None else "too many rows"


def lacking(value: Value | None, published: bool) -> str:
    """The reason for a missing number, in words.

    Args:
        value: that has no number; None where a row has no such value at all.
        published: whether the row is a printed one, of which nothing was run here.
    """
    if value is not None and is_left_out(value):
        return LEFT_OUT
    if value is not None and value.state == "undefined":
        return "undefined"
    if not published:
        return "not run"
    return NOT_AVAILABLE if value is not None and value.reason.startswith(NOT_AVAILABLE) else "not printed"
