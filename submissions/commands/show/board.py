"""What `fairspace leaderboard show` prints: a table for each cohort of a board, or its rows as JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show.numbers import number
from fairspace.submissions.commands.show.tables import OUT, cell, chance, interval, new_table
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.row_fields import ROW_FIELDS
from fairspace.submissions.uncertainty.uncertainty import Uncertainty

_ROW = (
    *("rank", "tier", "rank_range", "no_tier", "model", "organisation", "provenance", "source"),
    *("cohort", "protocol", "group"),
    *("ranked", "unranked", "remarks", "labels", "chances"),
)
"""Fields of a row in JSON, before its scores."""


def show_board(name: str, standard: str, rows: Sequence[Row]) -> None:
    """Print the board of one benchmark, a table for each kind of rows that have ranks in common."""
    bench = benchmark(name)
    for cohort, group in dict.fromkeys(row.ranked_with for row in rows):
        shown = [row for row in rows if row.ranked_with == (cohort, group)]
        of = ", ".join(filter(None, (cohort, group and f"protocol {group}")))
        title = f"{bench.title}, standard {standard}" + (f": {of}" if of else "")
        _cohort(title, with_errors(shown, standard), bench.headline)
        for protocol in dict.fromkeys(row.protocol for row in shown if row.protocol):
            OUT.print(f"{protocol}: {bench.protocols[protocol]}", style="dim")


def _cohort(title: str, rows: Sequence[Row], headline: Sequence[str]) -> None:
    columns = dict.fromkeys(name for row in rows for name, value in row.scores.items() if value.value is not None)
    columns = {name: None for name in columns if not headline or name in headline}
    table = new_table(title)
    table.add_column("rank", justify="right", no_wrap=True)
    sure = {row.entry: about for row in rows if (about := _of_total(row)) is not None}
    if sure:
        table.add_column("tier", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold", min_width=min(24, max(len(row.model) for row in rows)))
    table.add_column("from", no_wrap=True)
    for column in columns:
        numbers = [number(row.scores[column].value) for row in rows if column in row.scores]
        width = max(len(part) for part in (*numbers, *column.split("_")))
        table.add_column(column.replace("_", " "), justify="right", min_width=width, max_width=width)
    if sure:
        table.add_column("95 % interval", justify="right", no_wrap=True)
    profiles = any(key.startswith("profile") for row in rows for key in row.labels)
    if profiles:
        table.add_column("profile", no_wrap=True)
    for row in rows:
        name = "; ".join((row.model, *row.remarks))
        cells = [str(row.rank or "–"), *([str(row.tier or "–")] if sure else [])]
        cells += [name, row.provenance.removesuffix(" here")]
        cells += [number(row.scores[c].value) if c in row.scores else "–" for c in columns]
        if sure:
            cells.append(interval(sure.get(row.entry)))
        if profiles:
            codes = [(key, text) for key, text in row.labels.items() if key.startswith("profile")]
            cells.append(" / ".join(f"{text}{chance(row.chances, key)}" for key, text in codes) or "–")
        table.add_row(*map(cell, cells))
    OUT.print(table)


def _of_total(row: Row) -> Uncertainty | None:
    """The uncertainty of the score that a row is ranked by."""
    value = None if row.result is None else row.scores.get(row.result.scored.ranking)
    return None if value is None else value.uncertainty


def row_json(row: Row) -> Mapping[str, Any]:
    """One row of a board as JSON data."""
    fields = {name: ROW_FIELDS[name].of(row) for name in _ROW}
    scores = {name: value.to_json() for name, value in row.scores.items()}
    return {**fields, "scores": scores, "footnotes": ROW_FIELDS["footnotes"].of(row)}
