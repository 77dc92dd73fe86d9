"""A verification in 80 columns, the same on every machine: what agrees by name, what differs with its difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from fairspace.submissions.verifying import DIFFERS
from tests.oracles.comparison import PARTS, Comparison, Verification

WIDTH = 80
_NOISE = 1e-10
"""Below this a difference is rounding, and depends on the processor."""
_COLUMNS = (
    ("scorer", 24),
    ("data", 12),
    ("n", 4),
    ("undef", 5),
    ("difference", 10),
    ("bound", 7),
    ("verdict", 12),
)
"""`undef`: numbers that are undefined on both sides."""
_LEFT = 2
"""So many columns stand left; the last one too."""


def lines(verification: Verification) -> list[str]:
    """The whole report."""
    text = []
    for part, title in PARTS.items():
        rows = [row for row in verification.comparisons if row.part == part]
        if rows:
            text += ["", title, "=" * len(title), *_tables(rows)]
    for name, reason in verification.skipped.items():
        text += ["", *wrap(f"Not run: {name}: {reason}.", WIDTH)]
    for name, changes in verification.patches.items():
        text += ["", *wrap(f"Changed in {name} so that it runs, in a temporary copy:", WIDTH)]
        text += [
            line for change in changes for line in wrap(change, WIDTH, initial_indent="- ", subsequent_indent="  ")
        ]
    named = {row.departure for row in verification.comparisons if row.verdict == row.departure}
    if known := [f"{name}: {about}" for name, about in verification.departures.items() if name in named]:
        text += ["", "Departures from the authors' code:"]
        text += [line for each in known for line in wrap(each, WIDTH, initial_indent="- ", subsequent_indent="  ")]
    for name, values in verification.without_oracle.items():
        if values:
            text += ["", *wrap(f"{name}, values without an oracle: {', '.join(values)}.", WIDTH)]
    return [*text[1:], "", *_conclusion(verification)]


def _tables(rows: Sequence[Comparison]) -> Iterator[str]:
    """What agrees, by data, and below it a table of what does not: per benchmark and source."""
    for (benchmark, source), group in groupby(rows, key=lambda row: (row.benchmark, row.source)):
        yield from ("", f"{benchmark} against {source}")
        apart: list[Comparison] = []
        equal: dict[str, list[Comparison]] = {}
        for row in group:
            if row.verdict == "ok":
                equal.setdefault(row.scorer, []).append(row)
            else:
                apart.append(row)
        for data, scorers in _by_data(equal).items():
            alike = [row for scorer in scorers for row in equal[scorer]]
            undefined = sum(row.undefined for row in alike)
            text = f"agree, {', '.join(data)}: {'; '.join(scorers)} ({sum(row.count for row in alike)} numbers"
            text += f", {undefined} undefined on both sides)" if undefined else ")"
            yield from wrap(text, WIDTH, subsequent_indent="  ")
        if apart:
            yield _row([name for name, _ in _COLUMNS])
            yield _row(["-" * width for _, width in _COLUMNS])
        for row in apart:
            counts = str(row.count), str(row.undefined) if row.undefined else ""
            numbers = number(row.difference), number(row.bound) if row.bound else "0"
            yield _row([row.scorer, row.data, *counts, *numbers, row.verdict])


def _by_data(equal: dict[str, list[Comparison]]) -> dict[tuple[str, ...], list[str]]:
    """The data that scorers agree on -> these scorers."""
    scorers: dict[tuple[str, ...], list[str]] = {}
    for scorer, rows in equal.items():
        scorers.setdefault(tuple(row.data for row in rows), []).append(scorer)
    return scorers


def _row(cells: Sequence[str]) -> str:
    aligned = [
        f"{cell:<{width}}" if place < _LEFT or place == len(_COLUMNS) - 1 else f"{cell:>{width}}"
        for place, (cell, (_, width)) in enumerate(zip(cells, _COLUMNS, strict=True))
    ]
    return " ".join(aligned).rstrip()


def number(value: float) -> str:
    """Two significant digits; `<1e-10` for rounding, `one side` where one side alone has no number."""
    if math.isinf(value):
        return "one side"
    return "<1e-10" if value < _NOISE else f"{value:.2g}"


def _conclusion(verification: Verification) -> list[str]:
    count = sum(row.count for row in verification.comparisons)
    rows = len(verification.comparisons)
    departures = sorted({row.departure for row in verification.comparisons if row.verdict == row.departure != ""})
    text = f"{count:,} numbers in {rows} comparisons."
    if departures:
        text += f" Listed departures: {', '.join(departures)}; cards/errata.md has those that begin with E-."
    for row in verification.unlisted:
        text += f" {DIFFERS}: {row.benchmark}, {row.scorer}, {row.data}, against {row.source}."
    if not verification.unlisted:
        text += " Nothing else differs by more than its bound."
    return wrap(text, WIDTH)


def document(verification: Verification) -> str:
    """The report as the Markdown page that is published with a release."""
    head = (
        "# Verification\n\n"
        "Every score's largest difference from printed tables, independent oracles and the authors' own code.\n"
        "*agree* is a difference within the bound: 1e-9, or what the printed digits allow. Do not edit: written by\n"
        "`python -m tests.oracles --out cards/verification.md`.\n"
    )
    return f"{head}\n```text\n" + "\n".join(lines(verification)) + "\n```\n"
