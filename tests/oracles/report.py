"""A verification in 80 columns, the same on every machine."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from fairspace.submissions.verifying import DIFFERS, EQUAL, ROUNDED
from tests.oracles.comparison import PARTS, Comparison, Verification

WIDTH = 80
_NOISE = 1e-10
"""Smaller differences are rounding, and depend on the processor."""


def lines(verification: Verification) -> list[str]:
    text = []
    for part, title in PARTS.items():
        rows = [row for row in verification.comparisons if row.part == part]
        if rows:
            text += ["", title, "=" * len(title), *_groups(rows)]
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


def _groups(rows: Sequence[Comparison]) -> Iterator[str]:
    """Agreeing scorers by data, and departures with their largest difference, per benchmark and source."""
    order = [*dict.fromkeys((row.benchmark, row.source) for row in rows)]
    rows = sorted(rows, key=lambda row: order.index((row.benchmark, row.source)))
    for (benchmark, source), group in groupby(rows, key=lambda row: (row.benchmark, row.source)):
        yield from ("", f"{benchmark} against {source}")
        agreed: dict[str, dict[str, list[Comparison]]] = {EQUAL: {}, ROUNDED: {}}
        differing: dict[str, list[str]] = {}
        for row in group:
            if row.verdict in agreed:
                agreed[row.verdict].setdefault(row.scorer, []).append(row)
            else:
                off = number(row.difference) if row.difference else f"({row.count} numbers)"
                differing.setdefault(row.verdict, []).append(f"{row.scorer}, {row.data} {off}")
        for verdict, of_scorers in agreed.items():
            for data, scorers in _by_data(of_scorers).items():
                alike = [row for scorer in scorers for row in of_scorers[scorer]]
                undefined = sum(row.undefined for row in alike)
                text = f"{verdict}, {', '.join(data)}: {'; '.join(scorers)} ({sum(row.count for row in alike)} numbers"
                text += f", {undefined} undefined on both sides)" if undefined else ")"
                yield from wrap(text, WIDTH, subsequent_indent="  ")
        for verdict, told in differing.items():
            yield from wrap(f"{verdict}: {'; '.join(told)}", WIDTH, subsequent_indent="  ")


def _by_data(agreed: dict[str, list[Comparison]]) -> dict[tuple[str, ...], list[str]]:
    scorers: dict[tuple[str, ...], list[str]] = {}
    for scorer, rows in agreed.items():
        scorers.setdefault(tuple(row.data for row in rows), []).append(scorer)
    return scorers


def number(value: float) -> str:
    """Two significant digits; `<1e-10` for rounding, `one side` where one side alone has no number."""
    if math.isinf(value):
        return "one side"
    return "<1e-10" if value < _NOISE else f"{value:.2g}"


def _conclusion(verification: Verification) -> list[str]:
    count = sum(row.count for row in verification.comparisons)
    rows = len(verification.comparisons)
    departures = sorted({row.departure for row in verification.comparisons if row.verdict == row.departure != ""})
    kinds = Counter(row.verdict.partition(":")[0] for row in verification.comparisons if row.verdict != row.departure)
    text = f"{count:,} numbers in {rows} comparisons: {', '.join(f'{n} {name}' for name, n in kinds.most_common())}."
    if departures:
        text += f" Listed departures: {', '.join(departures)}; cards/errata.md has those that begin with E-."
    for row in verification.unlisted:
        text += f" {DIFFERS}: {row.benchmark}, {row.scorer}, {row.data}, against {row.source}."
    if not verification.unlisted:
        text += " Nothing else differs by more than its bound."
    return wrap(text, WIDTH)


def document(verification: Verification) -> str:
    head = (
        "# Verification\n\n"
        "What agrees with printed tables, independent oracles and the authors' own code, and how far the rest is off.\n"
        "*equal*: within 1e-9, or in all printed digits; *within rounding*: within what the printed digits allow.\n"
        "Do not edit: written by `python -m tests.oracles --out cards/verification.md`.\n"
    )
    return f"{head}\n```text\n" + "\n".join(lines(verification)) + "\n```\n"
