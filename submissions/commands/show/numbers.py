"""Numbers as the command prints them, and what has none."""

from __future__ import annotations

from collections.abc import Iterable

from fairspace.submissions.benchmarks.genres.parse.lexicons import REMEDIES
from fairspace.submissions.values import Value


def number(value: float | None) -> str:
    """Four significant digits or two decimals, whichever says more; a dash for no number."""
    if value is None:
        return "–"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4f}"


def without_number(rows: Iterable[Value]) -> list[str]:
    """For each reason why values have no number: state and reason; the values, with valid/expected; what to do."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for value in rows:
        if value.state != "value":
            counts = f" {value.valid}/{value.expected}" if value.expected else ""
            reasons.setdefault((value.state, value.reason), []).append(value.name + counts)
    lines = []
    for (state, reason), names in reasons.items():
        lines += [f"{state.replace('_', ' ').capitalize()}: {reason}", f"  {', '.join(names)}"]
        lines += [f"  to have it: {REMEDIES[reason]}"] if reason in REMEDIES else []
    return lines
