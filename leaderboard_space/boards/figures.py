"""Figures: declared in a benchmark's `View`, served by `pages.figures`, placed by the macro `figure`."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from fairspace.leaderboard_space.boards.words import EVIDENCE, behind, row_address, shortened, value_text, visibility
from fairspace.leaderboard_space.state import Board, State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import Dot, DotLine, DotPlot, Ends, dot_plots
from fairspace.submissions.drawing.svg import Svg, cut, span, wrapped
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE, COLOURS, GREY, number
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.show.table import Table as Table
from fairspace.submissions.values import Value, number_of

Place = Literal["board", "model", "models"]


@dataclass(frozen=True)
class DrawnFigure:
    """A figure's numbers, and its drawing function of the width in pixels; None with a `note` if it is empty."""

    draw: Callable[[float], Svg] | None
    table: Table
    note: str = ""


@dataclass(frozen=True)
class FigureInput:
    """Input of a figure: a board or one of its tables, and at most four chosen models."""

    state: State
    benchmark: str
    standard: str
    rows: Board
    chosen: tuple[Row, ...] = ()

    def href(self, row: Row) -> str:
        """The page of a row under this standard."""
        return row_address(self.benchmark, row.entry, self.standard)

    def some(self, most: int, what: str, has: Callable[[Row], bool]) -> tuple[list[Row], str]:
        """At most `most` rows that have (`has`) a figure's values `what`, in board order, and a note on the others.

        Priority: selected rows, then verified and printed rows and baselines, then the others by rank.
        """

        def fit() -> tuple[dict[str, int], list[Row], list[Row]]:
            places = {row.entry: place for place, row in enumerate(self.rows) if has(row)}
            order = [row for row in self.rows if row.entry in places]
            order.sort(key=lambda row: (row.row_class == "submitted", math.inf if row.rank is None else row.rank))
            return places, order, [row for row in self.rows if row.entry not in places]

        places, order, without = self.rows.get_or_make(("fit", what), fit)
        kept = {row.entry: row for row in self.chosen if row.entry in places}
        for row in order:
            if len(kept) >= most:
                break
            kept[row.entry] = row
        parts = []
        if len(kept) < len(order):
            which = "verified and printed ones, baselines, the best of the others"
            parts.append(f"The figure shows {len(kept)} of {len(order)} models: {which}.")
        if without and order:
            parts.append(f"Without a number: {names_of(without)}.")
        return sorted(kept.values(), key=lambda row: places[row.entry]), " ".join(parts)

    def full(self, row: Row) -> Result | None:
        """A row's result with its evidence; None for a printed row, and for what this version cannot read."""
        return self.state.readable(row.entry) if row.provenance != "published" else None


@dataclass(frozen=True)
class Figure:
    """A figure of a benchmark, explained in our Markdown.

    `needs`: minimum number of chosen models; `reads`: raw values of all rows of a board that it shows.
    """

    name: str
    title: str
    how_to_read: str
    draw: Callable[[FigureInput], DrawnFigure]
    places: tuple[Place, ...] = ("board",)
    needs: int = 0
    reads: Sequence[str] = ()


def value_of(row: Row, name: str) -> Value | None:
    """A row's score or raw value; None if it has neither."""
    return row.scores.get(name) or row.values.get(name)


def has_number(row: Row, *names: str) -> bool:
    """Whether a row's values of these names all have numbers."""
    return all(number_of(row.scores if name in row.scores else row.values, name) is not None for name in names)


def values_table(rows: Sequence[Row], names: dict[str, str], digits: int = 2) -> Table:
    """One line per model with each value and its bounds. `names`: value -> heading."""
    lines = []
    for row in rows:
        values = [value_of(row, name) for name in names]
        lines.append([plain(row.model), behind(row, values), *(cell(row, value, digits) for value in values)])
    return Table(["Model", "Evidence", *names.values()], lines)


def cell(row: Row, value: Value | None, digits: int = 2, scale: float = 1.0) -> str:
    """A row's value with its bounds as text, or its state in words."""
    return value_text(value, digits, scale, row.provenance == "published")


def names_of(rows: Sequence[Row], most: int = 6) -> str:
    """The models' names with their cohorts, at most `most`."""
    names = [f"{shortened(plain(row.model), 40)} ({row.cohort})" if row.cohort else plain(row.model) for row in rows]
    names = [shortened(name, 60) for name in names[:most]]
    return ", ".join(names) + (f" and {len(rows) - most} more" if len(rows) > most else "")


MARKERS = ("circle", "diamond", "square", "right")
"""Shapes of chosen models, in the order of `COLOURS`."""
SYMBOLS = dict(zip(EVIDENCE.values(), ("circle", "diamond-open", "diamond", "square", "cross"), strict=True))
"""Marker by `words.visibility`."""
SIGNS = ", ".join(f"{sign} {words}" for sign, words in zip("●◇◆■✕", EVIDENCE.values(), strict=True)) + "."
_POINT = 1e-9
"""Largest distance of ends that count as one number."""


def bounds_of(value: Value, scale: float = 1.0) -> Ends:
    """The range that the missing samples allow; None if nothing is missing."""
    if value.low is None or value.high is None or value.high - value.low <= _POINT:
        return None
    return scale * value.low, scale * value.high


def interval_of(value: Value, scale: float = 1.0) -> Ends:
    """The 95 % interval; None without resampling."""
    about = value.uncertainty
    return None if about is None else (scale * about.low, scale * about.high)


def told(row: Row, value: Value | None, digits: int, scale: float = 1.0) -> str:
    """A value in words: the number with its bounds and its 95 % interval."""
    text = value_text(value, digits, scale, row.provenance == "published")
    about = None if value is None else interval_of(value, scale)
    if about is None:
        return text
    return f"{text}, 95 % interval {number(about[0], digits)} to {number(about[1], digits)}"


def dot(
    source: FigureInput,
    row: Row,
    value: Value | None,
    digits: int = 2,
    scale: float = 1.0,
    what: str = "",
    colour: str = BLUE,
    symbol: str = "",
) -> Dot | None:
    """A row's value as a dot linked to the row's page; None without a number.

    `what` names the value if a figure has several per row; `symbol` defaults to that of the row's evidence.
    """
    if value is None or value.value is None:
        return None
    name = shortened(plain(row.model), 60) or "(no name)"
    text = f"{name}{', ' if what else ''}{what}: {told(row, value, digits, scale)}"
    shown = number(scale * value.value, 0 if abs(value.value) >= 10_000 else digits)
    ends = (interval_of(value, scale), bounds_of(value, scale))
    return Dot(scale * value.value, text, shown, source.href(row), colour, symbol or SYMBOLS[visibility(row)], *ends)


def keys_of(rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Legend of chosen models: name -> colour and shape."""
    names = [plain(row.model) or "(no name)" for row in rows]
    names = [f"{name} ({row.cohort})" if names.count(name) > 1 else name for name, row in zip(names, rows, strict=True)]
    names = [f"{name} [{place}]" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
    return dict(zip(names, zip(COLOURS, MARKERS, strict=True), strict=False))


def by_category(
    source: FigureInput,
    titles: Sequence[str],
    values: Sequence[Sequence[Value | None]],
    digits: int = 2,
    scale: float = 1.0,
    prefix: str = "",
) -> list[DotLine]:
    """One line per category, one dot per chosen model; `values`: per model, in the order of the titles."""
    looks = list(zip(source.chosen, values, COLOURS, MARKERS, strict=False))
    return [
        DotLine(
            title,
            [
                dot(source, row, of_row[place], digits, scale, f"{prefix}{title}", colour=colour, symbol=symbol)
                for row, of_row, colour, symbol in looks
            ],
        )
        for place, title in enumerate(titles)
    ]


def ends_of(lines: Sequence[DotLine], most: float = math.inf, *, zero: bool = False) -> tuple[float, float]:
    """Ends of an axis for all dots, intervals and bounds within `most` from 0."""
    numbers = [
        end
        for line in lines
        for dot in line.dots
        if dot is not None
        for end in (dot.value, *(dot.interval or ()), *(dot.bounds or ()))
        if abs(end) <= most
    ]
    return span(numbers, zero=zero)


def draw_chosen(source: FigureInput, title: str, plot: DotPlot, table: Table, note: str = "") -> DrawnFigure:
    """The dot plot of chosen models, empty where none of them has a number."""
    if not any(dot is not None for line in plot.lines for dot in line.dots):
        return DrawnFigure(None, table, note or "None of these values has a number.")
    plots = [replace(plot, share=0.34)]
    return DrawnFigure(partial(dot_plots, title=title, plots=plots, keys=keys_of(source.chosen)), table, note)


def note(text: str, width: float) -> Svg:
    """An image without data that shows the reason."""
    svg = Svg(width, text)
    lines = wrapped(text, width - 16)
    for place, line in enumerate(lines):
        svg.text(8, 16 + 18 * place, line, colour=GREY)
    svg.height = 24 + 18 * len(lines)
    return svg


FAR = 3.0
"""Multiple of the largest ranked number above which a mark stands at the end of the axis. Unverified submissions set
the scale only if no verified or printed row is ranked."""


def ranking(
    score: Callable[[Row], str], title: str, scale: float = 1.0, digits: int = 2, most: int = 30, cohort: str = ""
) -> Callable[[FigureInput], DrawnFigure]:
    """A figure of at most `most` models' ranked numbers: by class, and best first within a class.

    `score`: row -> name of its ranked score; `scale`: 100 for percent; `cohort`: header of the cohorts, '' for none.
    """

    def draw(source: FigureInput) -> DrawnFigure:
        some, note = source.some(most, f"ranking {title}", lambda row: has_number(row, score(row)))
        rows = with_errors(some, source.standard)
        numbers = {row.entry: row.scores[score(row)] for row in rows}
        lines = []
        for row in rows:
            value = numbers[row.entry]
            of = [plain(row.model), *([row.cohort or "not known"] if cohort else [])]
            of += [CLASSES[row.row_class].title.lower(), str(row.rank or "–")]
            lines.append([*of, behind(row, [value]), cell(row, value, 3, scale)])
        table = Table(["Model", *filter(None, [cohort]), "Class", "Rank", "Evidence", title], lines)
        if not rows:
            return DrawnFigure(None, table, "No model has this number under this standard.")
        top = scale * FAR * largest([row for row in rows if row.rank is not None], numbers)
        better = "higher" if find_benchmark(source.benchmark).higher_is_better else "lower"
        grouped = sorted(rows, key=lambda row: list(CLASSES).index(row.row_class))
        if cohort:
            order = list(dict.fromkeys((row.row_class, row.cohort) for row in grouped))
            grouped.sort(key=lambda row: order.index((row.row_class, row.cohort)))
        note = f"{note} Protocol: {rows[0].group}.".strip() if rows[0].group else note
        dots = []
        for place, row in enumerate(grouped):
            head = CLASSES[row.row_class].title + (f" ({row.cohort or 'not known'})" if cohort else "")
            above = grouped[place - 1] if place else None
            new = above is None or above.ranked_with != row.ranked_with
            colour = GREY if row.row_class == "baseline" else BLUE
            mark = dot(source, row, numbers[row.entry], digits, scale, colour=colour)
            dots.append(DotLine(plain(row.model) or "(no name)", [mark], head if new else ""))
        plot = DotPlot(dots, ends_of(dots, top), f"{title}; {better} is better")
        return DrawnFigure(partial(dot_plots, title=title, plots=[plot]), table, note)

    return draw


def largest(ranked: Sequence[Row], numbers: Mapping[str, Value]) -> float:
    """The largest number of the ranked rows that are verified or printed, else of all ranked rows; inf without rows."""
    sure = [row for row in ranked if row.row_class != "submitted"] or ranked
    return max((numbers[row.entry].value or 0.0 for row in sure), default=math.inf)


MOST = 40
"""Models in the figure, the best first."""


def _draw(source: FigureInput) -> DrawnFigure:
    rows = [row for row in source.rows if row.tier is not None]
    shown = with_errors(rows[:MOST], source.standard)
    lines = []
    for row in shown:
        best, worst = row.rank_range or (None, None)
        ranks = "–" if best is None else f"{number(best, 0)} to {number(worst, 0)}"
        value = _ranked(row)
        about = None if value is None else value.uncertainty
        ends = "–" if about is None else f"{number(about.low, 4)} to {number(about.high, 4)}"
        of = [plain(row.model), row.row_class, plain(row.cohort) or "–", str(row.tier), str(row.rank), ranks]
        lines.append([*of, cell(row, value, 4), ends])
    headers = ["Model", "Class", "Cohort", "Tier", "Rank", "Possible ranks", "Score", "95 % interval"]
    note = f"The figure shows the best {MOST} of {len(rows)} models." if len(rows) > MOST else ""
    if not shown:
        return DrawnFigure(None, Table(headers, lines), "No model on this board was scored here with resampling yet.")
    return DrawnFigure(partial(_tiers_image, source, shown), Table(headers, lines), note)


def _ranked(row: Row) -> Value | None:
    return None if row.result is None else row.scores.get(row.result.scored.ranking)


def _tiers_image(source: FigureInput, rows: Sequence[Row], width: float) -> Svg:
    lines = []
    for place, row in enumerate(rows):
        new = not place or _band(row) != _band(rows[place - 1])
        head = f"Tier {row.tier}, {CLASSES[row.row_class].title.lower()}{f', {row.cohort}' if row.cohort else ''}"
        mark = dot(source, row, _ranked(row), 4, what=f"tier {row.tier}", symbol="tick")
        lines.append(DotLine(plain(row.model) or "(no name)", [mark], head if new else ""))
    return dot_plots(width, TIERS.title, [DotPlot(lines, ends_of(lines), "score")])


def _band(row: Row) -> tuple[tuple[str, ...], int | None]:
    return row.ranked_with, row.tier


TIERS = Figure(
    "tiers",
    "Which differences between models are significant",
    "One line per model that was scored here, the best at the top: the score, its 95 % interval (thick), and the best "
    "to the worst case of the missing answers (thin), whose worse end decides. A tier is its best model and those not "
    "significantly worse, tested on the items that both answered and corrected for the number of pairs.",
    _draw,
)


SIDE = 46.0
"""Largest side of a cell in pixels."""
_LOW, _MIDDLE, _HIGH = (29, 74, 115), (241, 242, 239), (138, 59, 10)


@dataclass(frozen=True)
class Matrix:
    """Shares from 0 to 1, one list per row; None without a number."""

    title: str
    model: str
    href: str
    shares: Sequence[Sequence[float | None]]


def matrices(groups: Sequence[str], tables: Sequence[Matrix], title: str, width: float) -> Svg:
    """Square tables, two beside each other if there is room; a cell without a number stays empty."""
    svg = Svg(width, title)
    columns = 2 if width >= 560 else 1
    room = (width - 16) / columns
    left = 86.0
    side = min(SIDE, (room - left - 12) / len(groups))
    height = 70 + side * len(groups)
    for place, table in enumerate(tables):
        x, y = 4 + place % columns * room, 4 + place // columns * height
        svg.text(x, y + 10, cut(f"{table.model}: {table.title}", room - 12), bold=True)
        for column, group in enumerate(groups):
            svg.text(x + left + (column + 0.5) * side, y + 34, cut(group, side - 2, 11), size=11, anchor="middle")
        for line, (group, shares) in enumerate(zip(groups, table.shares, strict=True)):
            top = y + 44 + line * side
            svg.text(x + left - 8, top + side / 2, cut(group, left - 8, 11), size=11, anchor="end", colour=GREY)
            for column, share in enumerate(shares):
                if share is None:
                    continue
                text = f"{table.model}, {table.title}: {group} picked over {groups[column]}: {number(100 * share, 1)} %"
                with svg.mark(text, table.href):
                    svg.box(x + left + column * side + 1, top + 1, side - 2, side - 2, _colour(share))
                    ink = "#fffffe" if abs(share - 0.5) > 0.2 else "#1c2128"
                    middle = x + left + (column + 0.5) * side
                    svg.text(middle, top + side / 2, number(100 * share, 0), colour=ink, size=11.5, anchor="middle")
    svg.height = 8 + height * -(-len(tables) // columns)
    return svg


def _colour(share: float) -> str:
    """Blue below one half, orange above; the same in light and dark mode, like its text."""
    end = _LOW if share < 0.5 else _HIGH
    depth = min(1.0, abs(share - 0.5) / 0.5)
    parts = [round(middle + depth * (value - middle)) for middle, value in zip(_MIDDLE, end, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in parts)
