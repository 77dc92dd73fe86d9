"""The sets of columns that a board's page offers: scores, uncertainty, profile, coverage, about the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import quantiles
from typing import Any

from fairspace.leaderboard_space.boards.tables import intervals
from fairspace.leaderboard_space.boards.tables.columns import BoardColumn, Cell, Notes, bounds, score_column, worst_case
from fairspace.leaderboard_space.boards.tables.fields import SUBMITTED
from fairspace.leaderboard_space.boards.tables.intervals import interval, strip
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

LONGEST_TEXT = 60


def column_sets(
    view: View, part: Slice, rows: Sequence[Row], notes: Notes, state: State
) -> dict[str, tuple[BoardColumn, ...]]:
    """Column set -> its columns, to the right of rank and model.

    Args:
        view: of the benchmark.
        part: the table.
        rows: that it can show, for scales and colours.
        notes: (entry, score) -> number of the footnote.
        state: knows who handed a row in.
    """
    part = replace(part, columns=(*part.columns, *_further(view, rows)))
    up = find_benchmark(view.benchmark).higher_is_better
    total = _total(part.total, rows, notes, up)
    kinds = [_text("cohort", view.cohort, lambda row: row.cohort)] if view.cohort else []
    if len({row.protocol for row in rows}) > 1:
        kinds.append(_text("protocol", "Protocol", lambda row: row.protocol))
    figures = BoardColumn("provenance", "Evidence", provenance_of, _behind(part))
    remarks_column = _text("remarks", "Remarks", remarks)
    scores = tuple(score_column(column, rows, notes, up) for column in part.columns)
    labels = tuple(_label(name, header, notes) for name, header in view.labels.items())
    parts = tuple(_coverage(column, up) for column in (part.total, *part.columns))
    sets = {
        "scores": (total, *kinds, figures, *scores, remarks_column),
        "uncertainty": (total, *_uncertainty(part.total, up)),
        "profile": (total, figures, *labels),
        "coverage": (total, _worst(part.total, up), *parts, remarks_column),
        "about": (total, figures, *_about(state)),
    }
    return {name: columns for name, columns in sets.items() if labels or name != "profile"}


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
    plain_column = score_column(column, rows, notes, up)
    values = [value for row in rows if row.provenance != "baseline" and (value := column.of(row)) is not None]
    least, most = scale([value.value for value in values if value.value is not None])

    def cell(row: Row) -> Cell:
        plain_cell = plain_column.cell(row)
        return replace(plain_cell, strength=0, strip=strip(column.of(row), least, most))

    return BoardColumn(
        column.score,
        column.header,
        column.number,
        cell,
        True,
        up,
        True,
        "higher is better" if up else "lower is better",
    )


def scale(numbers: Sequence[float]) -> tuple[float, float]:
    """The scale of a column's lines: 0 and the numbers; outliers are drawn at its end.

    Far out is Tukey's outer fence, three times the middle half's width away from it.
    """
    if len(numbers) < 2:
        return 0.0, max(numbers, default=0.0)
    lower, _, upper = quantiles(numbers, n=4, method="inclusive")
    reach = 3 * (upper - lower)
    return min(0.0, max(min(numbers), lower - reach)), max(0.0, min(max(numbers), upper + reach))


def _uncertainty(column: Column, up: bool) -> tuple[BoardColumn, ...]:
    """Columns for the uncertainty of the total."""

    def format_of(of: Callable[[Row], float | None]) -> Callable[[Row], Cell]:
        return lambda row: Cell(column.format(of(row)))

    def interval_cell(row: Row) -> Cell:
        return Cell(interval(column, row) or "–")

    def could(row: Row) -> Cell:
        value, ends = column.of(row), bounds(column, row)
        return Cell(ends or "–", f"from {coverage(value)}" if ends and value is not None else "")

    low = intervals.error_of(column, lambda about: about.low)
    error = intervals.error_of(column, lambda about: about.error)
    debiased = intervals.error_of(column, lambda about: about.debiased)
    best = intervals.best_rank
    return (
        BoardColumn("interval", "95 % interval", low, interval_cell, True, up, errors=True),
        BoardColumn("error", "Standard error", error, format_of(error), True, errors=True),
        BoardColumn("debiased", "Debiased", debiased, format_of(debiased), True, up, errors=True),
        BoardColumn(
            "bounds",
            "With missing answers",
            lambda row: worst_case(column, row, up) if bounds(column, row) else None,
            could,
            True,
            up,
            hint="best case to worst case",
            optional=True,
        ),
        BoardColumn("ranks", "Possible ranks", best, lambda row: Cell(intervals.ranks(row) or "–"), True),
    )


def _worst(column: Column, up: bool) -> BoardColumn:
    def cell(row: Row) -> Cell:
        if row.provenance == "published" and row.ranked is not None:
            return Cell("printed", missing=True)
        return Cell(column.format(worst_case(column, row, up)))

    return BoardColumn("worst", "Worst case", lambda row: worst_case(column, row, up), cell, True, up)


def _coverage(column: Column, up: bool) -> BoardColumn:
    """The share of valid samples of a score, and its worst case."""

    def share(row: Row) -> float | None:
        value = column.of(row)
        return None if value is None else value.coverage

    def cell(row: Row) -> Cell:
        value, worst = column.of(row), worst_case(column, row, up)
        if value is None or value.coverage is None:
            return Cell("–")
        below = "" if worst is None else f"worst {column.format(worst)}"
        counted = coverage(value)
        return Cell(counted[counted.index("(") + 1 : -1], below)

    return BoardColumn(f"coverage:{column.score}", column.header, share, cell, True, hint="valid answers")


def _label(name: str, header: str, notes: Notes) -> BoardColumn:
    """A profile code with the name of its archetype."""

    def cell(row: Row) -> Cell:
        code = row.labels.get(name)
        if not code:
            return Cell("–")
        sure = intervals.chance(row, name)
        return Cell(plain(code), ARCHETYPES.get(code, ""), notes.get((row.entry, name)), sure=sure)

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
        _text("time", "On the board since", lambda row: submitted("since")(row)[:10]),
        _field("source"),
    )


def _field(name: str, words: Callable[[Any], str] = str) -> BoardColumn:
    """A field of the row as text."""
    field = ROW_FIELDS[name]
    return _text(name, field.header, lambda row: words(field.of(row)))
