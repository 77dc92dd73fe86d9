"""Values and boards as commands print them: three numbers each in 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from rich.text import Text

from fairspace.submissions.benchmarks.benchmark import Benchmark, Ideal
from fairspace.submissions.benchmarks.genres.parse.lexicons import REMEDIES
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show.tables import OUT, WIDTH, cell, new_table, show_wrapped
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.headline import TEXTS, VALUE_COLUMNS, Table, direction, value_cells
from fairspace.submissions.results.board import ROW_FIELDS, ranking_of
from fairspace.submissions.results.row import CLASSES, Row, none_verified
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import NOTHING, numbers_in_row, three_numbers
from fairspace.submissions.values import Value

CHANCE = len("down to 0.0000")
"""Width of the column `by chance`: the mean of fair models, and below it the end."""
MORE = (
    "--details explains the values and what a rank lacks; --all has everything.",
    "--all has the component metrics and all other facts.",
)
"""Where the rest is, of the first lines and of the details."""


def show_values(
    title: str,
    values: Collection[Value],
    ideal: Callable[[str], Ideal | None] = lambda name: None,
    meanings: Mapping[str, str] = {},
    raw: Mapping[str, Value] = {},
    ways: Mapping[str, str] = {},
) -> None:
    """Print a line for each value with a number, its texts below it, and then the others by their reason.

    `meanings`, `ways`: name of a value -> its words, and text of `way`; `raw`: raw values of the same result.
    """
    rows = []
    for value in values:
        if value.state == "value":
            three = three_numbers(value, ideal(value.name), digits, values=raw)
            cells = value_cells(three, ways.get(value.name, ""))
            rows.append((value.name, *cells, meanings.get(value.name, ""), three.missing_text))
    if rows:
        columns = ("name", *VALUE_COLUMNS, *TEXTS)
        OUT.print()
        if title:
            OUT.print(cell(title), style="bold")
        OUT.print(Text(Table("", "", columns, rows).to_text()), soft_wrap=True)
    for line in without_number(values):
        show_wrapped(line.lstrip(), " " * (len(line) - len(line.lstrip())))


def without_number(rows: Iterable[Value]) -> list[str]:
    """Lines about values without a number, by reason: state and reason; names with valid/expected; the remedy."""
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


_ROW = (
    *("rank", "tier", "rank_range", "no_tier", "model", "organisation", "provenance", "row_class", "source"),
    *("claim", "copy_of"),
    *("cohort", "protocol", "group"),
    *("ranked", "unranked", "remarks", "labels", "chances"),
)
"""Fields of a row in JSON, before its scores."""


def show_board(name: str, standard: str, rows: Sequence[Row]) -> None:
    """Print the board of the benchmark `name`, a table for each kind of rows that share ranks."""
    bench = benchmark(name)
    if lacking := none_verified([row.row_class for row in rows]):
        show_wrapped(lacking, style="dim")
    for total in filter(None, dict.fromkeys(ranking_of(row, bench, standard) for row in rows)):
        way = direction(bench, bench.ideal(total, standard), is_score=True)
        show_wrapped(f"{total}: {'; '.join(filter(None, (bench.describe(total), way)))}.", style="dim")
    for ranked_with in dict.fromkeys(row.ranked_with for row in rows):
        row_class, cohort, group = ranked_with
        shown = with_errors([row for row in rows if row.ranked_with == ranked_with], standard)
        of = ", ".join(filter(None, (CLASSES[row_class].title.lower(), cohort, group and f"protocol {group}")))
        title = f"{bench.title}, standard {standard}: {of}"
        _three_numbers(title, shown, bench, standard)
        show_wrapped(CLASSES[row_class].means, style="dim")
        for protocol in dict.fromkeys(row.protocol for row in shown if row.protocol):
            show_wrapped(f"{bench.protocol_title(protocol)}: {bench.protocol_text(protocol)}", style="dim")


def _three_numbers(title: str, rows: Sequence[Row], bench: Benchmark, standard: str) -> None:
    """Print rank, model, and the three numbers of the ranking score, in 80 columns."""
    totals = [ranking_of(row, bench, standard) for row in rows]
    numbers = [
        (row, numbers_in_row(row, total, row.scores.get(total), digits, ranked=True))
        for row, total in zip(rows, totals, strict=True)
    ]
    known = any(three.chance_text != NOTHING for _, three in numbers)
    table = new_table(title)
    for name in ("rank", "could be", "model", next(iter(dict.fromkeys(totals)), "").replace("_", " "), "95 % interval"):
        justify: Literal["left", "right"] = "left" if name == "model" else "right"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name in ("rank", "could be"))
    if known:
        table.add_column("by chance", justify="right", overflow="fold", max_width=CHANCE)
    for row, three in numbers:
        model = "; ".join(filter(None, (row.model, row.copy_of, row.claim, *row.remarks, three.missing_text)))
        cells = (str(row.rank or NOTHING), three.ranks_text, model, three.value_text, three.interval_text)
        chance = "\n".join(filter(None, (three.chance_text.replace(", ", ",\n"), three.verdict)))
        table.add_row(*map(cell, cells), *([Text(chance)] if known else []))
    OUT.print(table, width=WIDTH)


def row_json(row: Row) -> Mapping[str, Any]:
    """One row of a board as JSON data."""
    fields = {name: ROW_FIELDS[name].of(row) for name in _ROW}
    scores = {name: value.to_json() for name, value in row.scores.items()}
    return {**fields, "scores": scores, "footnotes": ROW_FIELDS["footnotes"].of(row)}
