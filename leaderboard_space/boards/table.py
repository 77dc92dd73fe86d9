"""A board's table, prepared once for its rows: columns, cells, and the keys by which `board.js` sorts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from fairspace.leaderboard_space.boards.view import Column, Slice, View, remarks
from fairspace.leaderboard_space.boards.views import VIEWS, check_choice
from fairspace.leaderboard_space.boards.words import provenance_of, shortened
from fairspace.leaderboard_space.state import State
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import NOTHING, number
from fairspace.submissions.results.row import ORDER, Row, RowClass, marks_of
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import BIASED, ThreeNumbers, folded_facts, ideal_of, numbers_in_row
from fairspace.submissions.values import Value

Notes = Mapping[tuple[str, str], int]
Key = float | str | None


@dataclass(frozen=True)
class TableCell:
    """Content of a cell, as plain text.

    Args:
        text: the number, or the state in words if it is `missing`.
        below: quiet words after the interval in `sure`.
        note: number of the footnote.
        strength: colour of a signed number, from -100 to 100.
        biased: whether the number is beyond what fair models show by chance.
    """

    text: str
    below: str = ""
    note: int | None = None
    strength: int = 0
    strip: Strip | None = None
    missing: bool = False
    sure: str = ""
    biased: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BoardColumn:
    """One column.

    Args:
        sort_by: sort key of a row; None for rows that stand last either way.
        falling: whether the largest number stands first at the first sort.
        words: meaning of its numbers; `hint` has the details.
        marks: row -> further things that its cell depends on.
    """

    key: str
    header: str
    sort_by: Callable[[Row], Key]
    cell: Callable[[Row], TableCell]
    numeric: bool = False
    falling: bool = False
    total: bool = False
    hint: str = ""
    words: str = ""
    marks: Callable[[Row], Hashable] = lambda row: None


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table, right of rank and model; `first` has the keys of the optional ones shown by default."""

    fixed: tuple[BoardColumn, ...]
    optional: tuple[BoardColumn, ...]
    first: tuple[str, ...]

    def shown(self, wide: bool, rows: Sequence[Row]) -> tuple[BoardColumn, ...]:
        """The columns with content in some row: all, or those shown by default, else the first three with numbers."""
        total, *further = (*self.fixed, *self.optional)
        filled = [column for column in further if any(column.sort_by(row) is not None for row in rows)]
        first = [column for column in filled if column.key in self.first] or [c for c in filled if c.words][:3]
        return (total, *(column for column in filled if wide or column in first or column in self.fixed))


RANK = BoardColumn("rank", "Rank", lambda row: None, lambda row: TableCell(number(row.rank, 0)), True)
"""The rank; `board.js` sorts by the board's order."""
MODEL = BoardColumn("model", "Model", lambda row: plain(row.model).casefold(), lambda row: TableCell(plain(row.model)))


def numbers_of(column: Column, row: Row, ranked: bool = False) -> ThreeNumbers:
    """The three numbers of a row's value in the column's unit; `ranked`: whether ranks go by it."""
    return numbers_in_row(row, column.score, column.of(row), column.show, ranked=ranked)


def facts_of(column: Column, row: Row) -> dict[str, str]:
    """The folded facts of a row's ranked value."""
    published = row.provenance == "published"
    return folded_facts(column.of(row), ideal_of(row, column.score), column.show, published=published, row=row)


def score_column(column: Column, rows: Sequence[Row], notes: Notes, up: bool, words: str) -> BoardColumn:
    """A score with its interval, or with the number that a paper prints for it; `words`: its meaning."""
    numbers = (column.number(row) for row in rows) if column.signed else ()
    largest = max((abs(n) for n in numbers if n is not None), default=0.0)

    def cell(row: Row) -> TableCell:
        three = numbers_of(column, row)
        strength = 0
        if column.signed and three.value is not None and largest:
            strength = round(100 * max(-1.0, min(1.0, three.value / largest)))
        printed = row.provenance == "published" and three.interval_text not in ("printed", NOTHING)
        word = three.interval_text if printed else ""
        return TableCell(
            three.value_text,
            three.missing_text.rpartition(": ")[2] or word,
            notes.get((row.entry, column.score)),
            strength,
            missing=three.value is None,
            sure="" if three.interval is None else three.interval_text,
            biased=three.verdict == BIASED,
        )

    return BoardColumn(
        column.score, column.header, column.number, cell, True, up, words=words, marks=lambda row: largest
    )


FAR = 3.0
"""Multiple of the largest verified or printed number above which a number does not stretch a scale."""
OUTSIDE = 7.0
"""Multiple above which a line is not on the scale: IRIS' total has 283 645 as its ideal in the paper."""


@dataclass(frozen=True)
class ColumnScale:
    """The scale of a column's lines, or of a small chart."""

    least: float
    most: float

    @classmethod
    def of(cls, numbers: Mapping[str, float], rows: Iterable[Row], *lines: float | None) -> ColumnScale:
        """The range of the numbers (entry -> number) and lines; baselines and outliers do not count."""
        rows = [row for row in rows if row.entry in numbers]
        rows = [row for row in rows if row.row_class != "baseline"] or rows
        sure = [row for row in rows if row.row_class != "submitted"] or rows
        far = FAR * max((abs(numbers[row.entry]) for row in sure), default=0.0)
        near = [numbers[row.entry] for row in rows if abs(numbers[row.entry]) <= far]
        ends = [*near, *(line for line in lines if line is not None and (not near or abs(line) <= OUTSIDE * far))]
        return cls(min(ends, default=0.0), max(ends, default=0.0))

    def holds(self, number: float) -> bool:
        """Whether the number is on the scale."""
        return self.least <= number <= self.most

    def place(self, number: float) -> float:
        """Place of a number in percent; numbers outside stand at the rim."""
        if self.most == self.least:
            return 0.0
        return round(100 * (min(max(number, self.least), self.most) - self.least) / (self.most - self.least), 1)


@dataclass(frozen=True)
class Strip:
    """A value in percent of its scale, its missing samples, and its 95 % interval `sure`; `cut`: an end is outside."""

    low: float
    at: float
    high: float
    sure: tuple[float, float] | None = None
    beyond: bool = False
    cut: bool = False


def strip(value: Value | None, scale: ColumnScale) -> Strip | None:
    """The value on a scale; None without a number."""
    if value is None or value.value is None or scale.most == scale.least:
        return None
    low, high = (value.value if end is None else end for end in (value.low, value.high))
    sure = () if value.uncertainty is None else (value.uncertainty.low, value.uncertainty.high)
    least, at, most = map(scale.place, (low, value.value, high))
    between = (scale.place(sure[0]), scale.place(sure[1])) if sure else None
    return Strip(least, at, most, between, not scale.holds(value.value), not all(map(scale.holds, (low, high, *sure))))


LONGEST_TEXT = 60
OPEN = {True: "yes", False: "no", None: ""}


def column_sets(view: View, part: Slice, rows: Sequence[Row], notes: Notes) -> TableColumns:
    """The columns of a table, scaled and coloured by its rows. `notes`: (entry, score) -> number of the footnote."""
    part = replace(part, columns=(*part.columns, *_further(view, rows)))
    bench = find_benchmark(view.benchmark)
    up, words = bench.higher_is_better, bench.describe
    kinds = [_text("cohort", view.cohort, lambda row: row.cohort)] if view.cohort else []
    if len({row.protocol for row in rows}) > 1:
        kinds.append(_text("protocol", "Protocol", lambda row: bench.protocol_title(row.protocol)))
    optional = (
        *(score_column(column, rows, notes, up, words(column.score)) for column in part.columns),
        *(_label(name, head, notes) for name, head in view.labels.items()),
        *(*kinds, *_about(), _text("remarks", "Remarks", remarks)),
    )
    return TableColumns((_total(part.total, rows, notes, up), _chance(part.total, up)), optional, part.first)


def _further(view: View, rows: Sequence[Row]) -> tuple[Column, ...]:
    on_page = {column.score for part in view.slices.values() for column in (part.total, *part.columns)}
    standards = find_benchmark(view.benchmark).standards.values()
    sectors = dict.fromkeys(
        sector for standard in standards for sector in getattr(standard, "sectors", ()) if sector not in on_page
    )
    return tuple(Column(name, name.replace("_", " ")) for name in sectors if any(name in row.scores for row in rows))


def _total(column: Column, rows: Sequence[Row], notes: Notes, up: bool) -> BoardColumn:
    scales = scales_of(column, rows)

    def cell(row: Row) -> TableCell:
        three = numbers_of(column, row, ranked=True)
        facts = {"Source": plain(row.source)} if row.result is None else facts_of(column, row)
        return TableCell(
            three.value_text,
            three.missing_text.rpartition(": ")[2],
            note=notes.get((row.entry, column.score)),
            missing=three.value is None,
            sure="" if three.value is None else three.interval_text,
            strip=strip(column.of(row), scales[row.cohort, row.group]),
            facts=facts if row.rank is not None else {"No rank": remarks(row)} | facts,
        )

    return BoardColumn(
        column.score,
        column.header,
        column.number,
        cell,
        True,
        up,
        True,
        words="higher is better" if up else "lower is better",
        marks=lambda row: scales[row.cohort, row.group],
    )


def scales_of(column: Column, rows: Sequence[Row]) -> dict[tuple[str, str], ColumnScale]:
    """Cohort and group -> the scale of its lines; numbers of different protocols do not compare."""
    numbers = {row.entry: number for row in rows if (number := column.number(row)) is not None}
    ideal = next((ideal.number for row in rows if (ideal := ideal_of(row, column.score))), None)
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((row.cohort, row.group), []).append(row)
    return {key: ColumnScale.of(numbers, members, 0.0, ideal) for key, members in parts.items()}


def _chance(column: Column, up: bool) -> BoardColumn:
    """The end of what fair models show by chance, and the verdict."""

    def cell(row: Row) -> TableCell:
        three = numbers_of(column, row)
        return TableCell(three.chance_limit.rstrip("*?"), three.verdict.removesuffix(" with this many answers"))

    def key(row: Row) -> float | None:
        value = column.of(row)
        return None if value is None or value.value is None or value.uncertainty is None else value.uncertainty.fair

    return BoardColumn("chance", "By chance", key, cell, True, not up, words="95 % of fair models stay within it")


def _label(name: str, header: str, notes: Notes) -> BoardColumn:
    def cell(row: Row) -> TableCell:
        code = row.labels.get(name)
        if not code:
            return TableCell("–")
        return TableCell(plain(code), ARCHETYPES.get(code, ""), notes.get((row.entry, name)))

    return BoardColumn(name, header, lambda row: row.labels.get(name) or None, cell)


def _text(key: str, header: str, of: Callable[[Row], str]) -> BoardColumn:
    def text(row: Row) -> str:
        return plain(of(row)).strip()

    return BoardColumn(key, header, lambda row: text(row).casefold() or None, lambda row: TableCell(text(row) or "–"))


def _about() -> tuple[BoardColumn, ...]:
    def size(row: Row) -> TableCell:
        return TableCell("–" if row.facts.parameters is None else f"{row.facts.parameters:g}")

    return (
        BoardColumn("parameters", "Parameters, 10⁹", lambda row: row.facts.parameters, size, True, True),
        _text("architecture", "Architecture", lambda row: shortened(row.facts.architecture, LONGEST_TEXT)),
        _text("licence", "Licence", lambda row: shortened(row.facts.licence, LONGEST_TEXT)),
        _text("open_weights", "Open weights", lambda row: OPEN[row.facts.open_weights]),
    )


@dataclass(frozen=True)
class Note:
    """A footnote: a printed number that contradicts its own formula."""

    number: int
    erratum: str
    text: str


FEW = 100
"""Rows whose chance level decides whether its column is shown: resampling all of a long board would take seconds."""
Section = Literal["scored", "waiting", "unscored", "baseline"]
SECTIONS: Mapping[Section, str] = {
    "scored": "Scored",
    "waiting": "Waiting for a check",
    "unscored": "Not scored",
    "baseline": "Baselines",
}
"""Parts of a table, in order: what somebody submitted waits, with its number, until a maintainer has looked at it."""


class BoardTable:
    """One table of a board under one standard, made of the whole board's rows in order."""

    def __init__(self, view: View, part: Slice, rows: Sequence[Row], standard: str) -> None:
        self.rows, self.part, self.standard = [row for row in rows if part.keep(row)], part, standard
        self.notes, numbers = _footnotes(view, part, self.rows)
        self.columns = column_sets(view, part, self.rows, numbers)
        ordered = sorted(self.rows, key=lambda row: (ORDER[row.row_class], part.total.number(row) is None))
        self.sections: dict[Section, list[Row]] = {name: [] for name in SECTIONS}
        for row in ordered:
            self.sections[self.section_of(row)].append(row)
        self.total, self.scales = part.total, scales_of(part.total, self.rows)
        self.numbers: dict[str, dict[str, int]] = {}
        for (entry, key), note in numbers.items():
            self.numbers.setdefault(entry, {})[key] = note
        self.classes: Counter[RowClass] = Counter(row.row_class for row in self.rows)
        self._shown: dict[bool, Sequence[BoardColumn]] = {}

    @cached_property
    def models(self) -> list[Row]:
        """The rows in the order of the page, without baselines."""
        return [row for name in SECTIONS if name != "baseline" for row in self.sections[name]]

    @cached_property
    def provenances(self) -> set[str]:
        """The evidence of its rows' numbers, as keys of `EVIDENCE`."""
        return {provenance_of(row) for row in self.rows}

    @cached_property
    def protocols(self) -> list[str]:
        """The protocols of its rows."""
        return list(dict.fromkeys(row.protocol for row in self.rows))

    def section_of(self, row: Row) -> Section:
        """The part of the table in which a row stands."""
        if row.row_class == "baseline":
            return "baseline"
        if self.part.total.number(row) is None:
            return "unscored"
        return "waiting" if row.row_class == "submitted" and row.rank is None else "scored"

    def shown(self, wide: bool) -> Sequence[BoardColumn]:
        """The columns: all with content, or those shown by default."""
        if wide not in self._shown:
            models = self.models or self.rows
            with_intervals = [*with_errors(models[:FEW], self.standard), *models[FEW:]]
            self._shown[wide] = self.columns.shown(wide, with_intervals)
        return self._shown[wide]

    def marks(self, row: Row, columns: Iterable[BoardColumn]) -> Hashable:
        """All that a row's line depends on."""
        notes = tuple(self.numbers.get(row.entry, {}).items())
        return marks_of(row), notes, tuple([(column.key, column.marks(row)) for column in columns])

    def span_of(self, rows: Sequence[Row]) -> str:
        """The ends of the bars of rows of one cohort and group; '' without bars."""
        scale, show = self.scales[rows[0].cohort, rows[0].group], self.total.show
        drawn = scale.least < scale.most and any(self.total.number(row) is not None for row in rows)
        return f"Bars from {show(scale.least)} to {show(scale.most)}." if drawn else ""


def _footnotes(view: View, part: Slice, rows: Sequence[Row]) -> tuple[list[Note], dict[tuple[str, str], int]]:
    """The notes on the table's scores and labels; notes with the same text share a number."""
    shown = {column.score for column in (part.total, *part.columns)} | set(view.labels)
    texts: dict[tuple[str, str], int] = {}
    numbers = {
        (row.entry, note.score): texts.setdefault((note.erratum, note.text), len(texts) + 1)
        for row in rows
        for note in row.footnotes
        if note.score in shown
    }
    return [Note(number, erratum, text) for (erratum, text), number in texts.items()], numbers


def board_table(state: State, benchmark: str, standard: str, table: str) -> tuple[str, BoardTable]:
    """A table of a board, the first for '', and its name in addresses. SpaceError BAD_PARAMETER: unknown table."""
    view = VIEWS[benchmark]
    names = {slug(name): part for name, part in view.slices.items()}
    name = check_choice("table", table, names)
    board = state.board(benchmark, standard)
    return name, board.get_or_make(("table", name), lambda: BoardTable(view, names[name], board, standard))


def slug(name: str) -> str:
    """Name of a table in addresses."""
    return name.lower().replace(" ", "-")
