"""What other instruments would have measured, as the command prints it: judges, thresholds, exchanged names.

Labels that were corrected have a table of their own (`submissions/commands/show/results.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairspace.submissions.plotting import digits
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.variant_scores import variant_scores
from fairspace.submissions.uncertainty.variant import Kind, Variant, ranges

INSTRUMENTS: Mapping[Kind, str] = {
    "occupation_threshold": "threshold of tier 2",
    "judge": "another judge",
    "name_swap": "one parse alone",
    "repeated_evaluations": "repeated evaluations",
    "reading_errors": "errors of reading",
    "authors_reading": "the authors' reading",
}
HEADERS = ("name", "measured", "smallest", "largest", "by")
Row = tuple[str, ...]


def tier_2_share(result: Result) -> str:
    """How many answers of IRIS tier 2 decided, 0 included; '' where no occupation was asked for."""
    for value in result.values.values():
        if "tier_2_share" in value.evidence:
            share = value.evidence["tier_2_share"]
            return f"{share:.1%}".replace("%", " %") + (
                " of the answers to the occupation question were decided by tier 2 (embedding)."
            )
    return ""


def other_instruments(result: Result) -> tuple[list[Row], list[str]]:
    """Rows of `HEADERS` for all raw values and scores that another instrument moves; lines about each instrument."""
    shown = [kind for kind in INSTRUMENTS if any(variant.kind == kind for variant in result.variants)]
    scores = variant_scores(result, result.standard) if shown else {}
    rows: list[Row] = []
    notes: list[str] = []
    for kind in shown:
        variants = [variant for variant in result.variants if variant.kind == kind]
        rows += _values(kind, variants, result) if kind != "reading_errors" else ()  # they move nearly every value
        measured = {name: score.value for name, score in result.scored.scores.items()}
        moved = {name: ends for name, ends in scores.get(kind, {}).items() if ends[0] < ends[1]}
        rows += [
            (f"score {name}", digits(measured.get(name)), *map(digits, ends), INSTRUMENTS[kind])
            for name, ends in moved.items()
        ]
        notes += _notes(kind, variants, len(scores.get(kind, {})) - len(moved))
    return rows, notes


def _values(kind: Kind, variants: list[Variant], result: Result) -> Iterator[Row]:
    """The raw values that a kind of variant changes."""
    for name, (low, high) in ranges(variants, kind).items():
        raw = result.values[name].value if name in result.values else None
        if raw is None or low == high == raw:
            continue
        yield (name, digits(raw), digits(low), digits(high), INSTRUMENTS[kind])


def _notes(kind: Kind, variants: list[Variant], still: int) -> Iterator[str]:
    """By what was changed, how, and how many scores stay."""
    notes = dict.fromkeys(variant.note for variant in variants if variant.note)
    if len(notes) > 1:
        text = "; ".join(f"{variant.name}: {variant.note}" for variant in variants)
    else:
        text = ". ".join([", ".join(variant.name for variant in variants), *notes])
    yield (
        f"{INSTRUMENTS[kind].capitalize()}: {text.rstrip('.')}. The range of a score holds the measured one; "
        f"{still} scores stay as they are."
    )
