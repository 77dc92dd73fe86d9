"""The columns of a board's page: those that every table has, and those that a reader can choose, by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fairspace.leaderboard_space.boards.tables import intervals
from fairspace.leaderboard_space.boards.tables.columns import (
    BoardColumn,
    Cell,
    ColumnGroup,
    Key,
    Notes,
    TableColumns,
    bounds,
    facts_of,
    numbers_of,
    score_column,
    worst_case,
)
from fairspace.leaderboard_space.boards.tables.fields import SUBMITTED
from fairspace.leaderboard_space.boards.tables.intervals import Scale, strip
from fairspace.leaderboard_space.boards.tables.scores import Column, remarks
from fairspace.leaderboard_space.boards.telling import behind, provenance_of, visibility
from fairspace.leaderboard_space.boards.text import coverage, shortened
from fairspace.leaderboard_space.boards.view import Slice, View
from fairspace.leaderboard_space.state import State
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_fields import ROW_FIELDS
from fairspace.submissions.results.three_numbers import ideal_of

LONGEST_TEXT = 60


def column_sets(view: View, part: Slice, rows: Sequence[Row], notes: Notes, state: State) -> TableColumns:
    """The columns of a table.

    Args:
        view: of the benchmark.
        part: the table.
        rows: that it can show, for scales and colours.
        notes: (entry, score) -> number of the footnote.
        state: knows who handed a row in.
    """
    part = replace(part, columns=(*part.columns, *_further(view, rows)))
    bench = find_benchmark(view.benchmark)
    up, words = bench.higher_is_better, bench.about().describe
    kinds = [_text("cohort", view.cohort, lambda row: row.cohort)] if view.cohort else []
    if len({row.protocol for row in rows}) > 1:
        kinds.append(_text("protocol", "Protocol", lambda row: row.protocol))
    figures = BoardColumn("provenance", "Evidence", provenance_of, _behind(part))
    groups = {
        "parts": ColumnGroup(
            "Parts of the score", tuple(score_column(c, rows, notes, up, words(c.score)) for c in part.columns)
        ),
        "profile": ColumnGroup("Profile", tuple(_label(name, head, notes) for name, head in view.labels.items())),
        "coverage": ColumnGroup(
            "Valid answers and worst case", tuple(_coverage(column, up) for column in (part.total, *part.columns))
        ),
        "about": ColumnGroup("About the row", (figures, *kinds, *_about(state), _text("remarks", "Remarks", remarks))),
    }
    fixed = (_total(part.total, rows, notes, up), *_chance(part.total, rows, up))
    return TableColumns(fixed, {name: group for name, group in groups.items() if group.columns}, part.first)


def folded_columns(total: Column, up: bool) -> tuple[BoardColumn, ...]:
    """Columns that no table shows, for they would repeat what each row has; rows can be sorted by them."""
    keys: dict[str, Callable[[Row], Key]] = {
        "interval": intervals.error_of(total, lambda about: about.low),
        "error": intervals.error_of(total, lambda about: about.error),
        "debiased": intervals.error_of(total, lambda about: about.debiased),
        "bounds": lambda row: worst_case(total, row, up) if bounds(total, row) else None,
        "worst": lambda row: worst_case(total, row, up),
    }
    ranks: dict[str, Callable[[Row], Key]] = {"tier": lambda row: row.tier, "ranks": intervals.best_rank}
    folded = [BoardColumn(key, key, of, lambda row: Cell(""), True, up, errors=True) for key, of in keys.items()]
    return (*folded, *(BoardColumn(key, key, of, lambda row: Cell(""), True, up) for key, of in ranks.items()))


def _further(view: View, rows: Sequence[Row]) -> tuple[Column, ...]:
    """Columns for further sectors of a standard, if rows have a score for them."""
    on_page = {column.score for part in view.slices.values() for column in (part.total, *part.columns)}
    standards = find_benchmark(view.benchmark).standards.values()
    sectors = dict.fromkeys(
        sector for standard in standards for sector in getattr(standard, "sectors", ()) if sector not in on_page
    )
    return tuple(Column(name, name.replace("_", " ")) for name in sectors if any(name in row.scores for row in rows))


def _behind(part: Slice) -> Callable[[Row], Cell]:
    """The evidence for the scores of a row in a table."""

    def cell(row: Row) -> Cell:
        of = [column.of(row) for column in (part.total, *part.columns)]
        words = behind(row, of)
        return Cell(
            provenance_of(row), "" if words == visibility(row) else words.removeprefix("published; "), chip=True
        )

    return cell


def _total(column: Column, rows: Sequence[Row], notes: Notes, up: bool) -> BoardColumn:
    """The score with its interval; all else that is known of it is folded away below."""
    numbers = {row.entry: number for row in rows if (number := column.number(row)) is not None}
    ideal = next((ideal.number for row in rows if (ideal := ideal_of(row, column.score))), None)
    scale = Scale.of(numbers, rows, 0.0, ideal)

    def cell(row: Row) -> Cell:
        three = numbers_of(column, row, ranked=True)
        return Cell(
            three.value_text,
            three.missing_text,
            note=notes.get((row.entry, column.score)),
            missing=three.value is None,
            sure="" if three.value is None else three.interval_text,
            strip=strip(column.of(row), scale),
            facts=facts_of(column, row),
        )

    return BoardColumn(
        column.score,
        column.header,
        column.number,
        cell,
        True,
        up,
        True,
        "higher is better" if up else "lower is better",
        errors=True,
    )


def _chance(column: Column, rows: Sequence[Row], up: bool) -> list[BoardColumn]:
    """What fair models show by chance, and the verdict; no column where no row has a score from answers."""

    def cell(row: Row) -> Cell:
        three = numbers_of(column, row)
        return Cell(three.chance_text, three.verdict)

    if not any(row.result is not None and column.number(row) is not None for row in rows):
        return []
    key = intervals.error_of(column, lambda about: about.fair)
    return [BoardColumn("chance", "By chance", key, cell, True, not up, errors=True, hint="of a fair model")]


def _coverage(column: Column, up: bool) -> BoardColumn:
    """The share of valid samples of a score, and its worst case."""

    def share(row: Row) -> float | None:
        value = column.of(row)
        return None if value is None else value.coverage

    def cell(row: Row) -> Cell:
        value, worst = column.of(row), worst_case(column, row, up)
        if value is None or value.coverage is None:
            return Cell("–")
        below = "" if worst is None else f"worst {column.show(worst)}"
        counted = coverage(value)
        return Cell(counted[counted.index("(") + 1 : -1], below)

    return BoardColumn(f"coverage:{column.score}", column.header, share, cell, True, hint="valid answers")


def _label(name: str, header: str, notes: Notes) -> BoardColumn:
    """A profile code with the name of its archetype."""

    def cell(row: Row) -> Cell:
        code = row.labels.get(name)
        if not code:
            return Cell("–")
        return Cell(plain(code), ARCHETYPES.get(code, ""), notes.get((row.entry, name)))

    return BoardColumn(name, header, lambda row: row.labels.get(name) or None, cell)


def _text(key: str, header: str, of: Callable[[Row], str]) -> BoardColumn:
    def text(row: Row) -> str:
        return plain(of(row)).strip()

    return BoardColumn(
        key,
        header,
        lambda row: text(row).casefold() or None,
        lambda row: Cell(text(row) or "–"),
    )


def _about(state: State) -> tuple[BoardColumn, ...]:
    def submitted(name: str) -> Callable[[Row], str]:
        return lambda row: "" if (entry := state.entry(row.entry)) is None else SUBMITTED[name](entry)

    def size(row: Row) -> Cell:
        return Cell("–" if row.facts.parameters is None else f"{row.facts.parameters:g}")

    parameters = ROW_FIELDS["parameters"]
    return (
        BoardColumn("parameters", parameters.header, parameters.of, size, True, True),
        _field("architecture", lambda text: shortened(text, LONGEST_TEXT)),
        _field("licence", lambda text: shortened(text, LONGEST_TEXT)),
        _field("open_weights", lambda is_open: "" if is_open is None else "yes" if is_open else "no"),
        _field("tasks", lambda names: ", ".join(names).replace("_", " ")),
        _text("by", "Submitted by", submitted("by")),
        _field("owner"),
        _text("time", "On the board since", lambda row: submitted("since")(row)[:10]),
        _field("source"),
    )


def _field(name: str, words: Callable[[Any], str] = str) -> BoardColumn:
    """A field of the row as text."""
    field = ROW_FIELDS[name]
    return _text(name, field.header, lambda row: words(field.of(row)))
