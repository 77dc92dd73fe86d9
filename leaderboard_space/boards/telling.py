"""Words for a number that all pages share: its state, its bounds, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable

from fairspace.submissions.benchmarks.adjustment import LEFT_OUT, is_left_out
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value

PROVENANCES = {
    "published": "published",
    "self-reported": "self-reported labels or judge",
    "recomputed": "recomputed here",
    "rerun": "rerun by maintainers",
    "baseline": "baseline",
}
"""Word in the address -> `Row.visibility`, or that it is a baseline; files and the API have these words."""
EVIDENCE = PROVENANCES | {"recomputed": "scored here"}
"""Word in the address -> the evidence for a row's figures, as pages name it."""
_NAMES = {words: name for name, words in PROVENANCES.items()}
COMPUTED = "computed from printed values"
NOT_AVAILABLE = "not available"
"""How a reason begins that says why printed figures do not give a number under a standard."""


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


def is_computed(value: Value | None, published: bool) -> bool:
    """Whether the number of a printed row is computed rather than printed."""
    return published and value is not None and value.value is not None and "printed" not in value.evidence


def value_text(value: Value | None, digits: int = 2, scale: float = 1.0, published: bool = False) -> str:
    """A value with its bounds as text, or its state in words.

    Args:
        value: None where a row has no such value.
        digits: decimals, at most as many as are printed.
        scale: what every number is multiplied by.
        published: whether the row is a printed one.
    """
    if value is None or value.value is None:
        return lacking(value, published)
    printed = value.evidence.get("printed")
    if isinstance(printed, str):
        digits = min(digits, len(printed.removesuffix("%").strip().partition(".")[2]))
    text = number(scale * value.value, digits)
    if value.low is None or value.high is None:
        return text
    low, high = number(scale * value.low, digits), number(scale * value.high, digits)
    return text if low == high else f"{text} [{low}, {high}]"


def provenance_of(row: Row) -> str:
    """The evidence for a row's figures, as a key of `PROVENANCES`."""
    return "baseline" if row.provenance == "baseline" else _NAMES[row.visibility]


def visibility(row: Row) -> str:
    """The evidence for a row's figures, as pages name it."""
    return EVIDENCE[provenance_of(row)]


def behind(row: Row, values: Iterable[Value | None]) -> str:
    """The evidence for some values of a row: as `visibility`, but a printed row may have computed values."""
    published = row.provenance == "published"
    with_number = [value for value in values if value is not None and value.value is not None]
    computed = [value.name for value in with_number if is_computed(value, published)]
    if not computed:
        return visibility(row)
    return COMPUTED if len(computed) == len(with_number) else f"published; {COMPUTED}: {', '.join(computed)}"


def drawn(about: Uncertainty) -> str:
    """How an interval was computed: units, draws, method and notes."""
    if about.clusters:
        thin = "\N{NARROW NO-BREAK SPACE}"
        units = f"{about.clusters:,} × {about.unit}".replace(",", thin)
        draws = f"{units}, drawn {about.resamples:,} times".replace(",000", f"{thin}000")
    else:
        draws = f"{about.unit}, {about.resamples} kept draws"
    lost = f"; {about.undefined} of these without a number" if about.undefined else ""
    return plain(f"{draws}{lost}; {_METHODS[about.method]}" + (f"; {about.note}" if about.note else ""))


_METHODS = {
    "bca": "bias-corrected and accelerated",
    "percentile": "percentiles",
    "basic": "basic interval",
    "normal": "normal interval about the debiased value",
    "bracket": "normal interval, widened by the largest bias that the value can have",
}
