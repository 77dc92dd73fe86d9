"""Output of `fairspace leaderboard show`: a table for each cohort of a board, or its rows as JSON data."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show.tables import OUT, cell, new_table
from fairspace.submissions.commands.show.values import CHANCE, WIDTH, chance_lines
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.headline import direction
from fairspace.submissions.results.board import ranking_of
from fairspace.submissions.results.row import CLASSES, Row, none_verified
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.row_fields import ROW_FIELDS
from fairspace.submissions.results.three_numbers import NOTHING, numbers_in_row

_ROW = (
    *("rank", "tier", "rank_range", "no_tier", "model", "organisation", "provenance", "row_class", "source"),
    *("claim", "copy_of"),
    *("cohort", "protocol", "group"),
    *("ranked", "unranked", "remarks", "labels", "chances"),
)
"""Fields of a row in JSON, before its scores."""


def show_board(name: str, standard: str, rows: Sequence[Row]) -> None:
    """Print the board of one benchmark, a table for each kind of rows that have ranks in common.

    Args:
        name: Benchmark.
        standard: Standard of the board.
        rows: Rows in its order.
    """
    bench = benchmark(name)
    if lacking := none_verified([row.row_class for row in rows]):
        _sentence(lacking)
    for total in filter(None, dict.fromkeys(ranking_of(row, bench, standard) for row in rows)):
        way = direction(bench, bench.ideal(total, standard), is_score=True)
        _sentence(f"{total}: {'; '.join(filter(None, (bench.about().describe(total), way)))}.")
    for ranked_with in dict.fromkeys(row.ranked_with for row in rows):
        row_class, cohort, group = ranked_with
        shown = with_errors([row for row in rows if row.ranked_with == ranked_with], standard)
        of = ", ".join(filter(None, (CLASSES[row_class].title.lower(), cohort, group and f"protocol {group}")))
        title = f"{bench.title}, standard {standard}: {of}"
        _three_numbers(title, shown, bench, standard)
        _sentence(CLASSES[row_class].means)
        for protocol in dict.fromkeys(row.protocol for row in shown if row.protocol):
            _sentence(f"{protocol}: {bench.protocol_text(protocol)}")


def _sentence(text: str) -> None:
    for line in textwrap.wrap(text, WIDTH):
        OUT.print(cell(line), style="dim")


def _three_numbers(title: str, rows: Sequence[Row], bench: Benchmark, standard: str) -> None:
    """Rank, model, and the three numbers of the score that ranks go by, in 80 columns."""
    totals = [ranking_of(row, bench, standard) for row in rows]
    shown = [
        numbers_in_row(row, total, row.scores.get(total), digits, ranked=True)
        for row, total in zip(rows, totals, strict=True)
    ]
    header = next(iter(dict.fromkeys(totals)), "").replace("_", " ")
    columns = {
        "rank": [str(row.rank or "–") for row in rows],
        "could be": [three.ranks_text for three in shown],
        "model": [
            "; ".join(filter(None, (r.model, r.copy_of, r.claim, *r.remarks, s.missing_text)))
            for r, s in zip(rows, shown, strict=True)
        ],
        header: [three.value_text for three in shown],
        "95 % interval": [three.interval_text for three in shown],
        "by chance": [chance_lines(three) for three in shown],
    }
    if set(columns["by chance"]) == {NOTHING}:
        del columns["by chance"]
    table = new_table(title)
    for name in columns:
        table.add_column(
            name,
            justify="left" if name == "model" else "right",
            overflow="fold",
            no_wrap=name in ("rank", "could be"),
            max_width=CHANCE if name == "by chance" else None,
        )
    for line in zip(*columns.values(), strict=True):
        table.add_row(
            *(Text(text) if name == "by chance" else cell(text) for name, text in zip(columns, line, strict=True))
        )
    OUT.print(table, width=WIDTH)


def row_json(row: Row) -> Mapping[str, Any]:
    """One row of a board as JSON data."""
    fields = {name: ROW_FIELDS[name].of(row) for name in _ROW}
    scores = {name: value.to_json() for name, value in row.scores.items()}
    return {**fields, "scores": scores, "footnotes": ROW_FIELDS["footnotes"].of(row)}
