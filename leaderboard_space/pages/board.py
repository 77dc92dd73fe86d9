"""The board of a benchmark, at `/`: leaders of all boards, and the rows, which `board.js` searches and sorts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.table import (
    FAR,
    BoardTable,
    Scale,
    board_table,
    check_models,
    numbers_of,
    slug,
)
from fairspace.leaderboard_space.boards.view import View, total_of
from fairspace.leaderboard_space.boards.views import TABS, VIEWS, BoardQuery
from fairspace.leaderboard_space.boards.words import EVIDENCE, is_computed, provenance_of
from fairspace.leaderboard_space.pages.figures import place_figures
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.published import COMPUTED
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import CLASSES, LEADING, Row, RowClass, none_verified
from fairspace.submissions.results.row_errors import with_errors

router = APIRouter(include_in_schema=False)
PAGE = 100
"""Rows per page."""
GONE = 50
"""Maximum withdrawn rows in the list, the newest."""


@dataclass(frozen=True)
class Part:
    """Rows under one heading, of one class and rank group. `means`: ends of its bars; of the first also its class."""

    title: str
    means: str
    rows: Sequence[Row]
    row_class: RowClass

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows)


@router.get("/")
def board(request: Request) -> Response:
    """The page of a board."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params)
    name, table = board_table(state, query)
    withdrawn = check_models(state, query)
    view = VIEWS[query.benchmark]
    selected, columns = table.of_tab(query)
    models = [row for row in selected if row.row_class != "baseline"]
    pages = max(1, -(-len(models) // PAGE))
    number = min(query.page, pages)
    begin = PAGE * (number - 1)
    shown = with_errors(models[begin : begin + PAGE], query.standard)
    baselines = [row for row in selected if row.row_class == "baseline"][:PAGE] if number == 1 else []
    entries = {row.entry for row in (*shown, *baselines)}
    keys = {column.key for column in columns}
    parts = _parts(shown, view.cohort, table)
    evidence = {provenance_of(row) for row in selected}
    placed_figures = place_figures(state, query.benchmark, query.standard, "board", table=name)
    marked = {note for (entry, key), note in table.numbers.items() if entry in entries and key in keys}
    about = find_benchmark(query.benchmark)
    return page(
        request,
        "board.html.jinja",
        view=view,
        fronts=fronts(state),
        query=query,
        about=about,
        standard=about.standards[query.standard],
        name=name,
        tables={title: slug(title) for title in view.slices},
        front=table.front,
        columns=columns,
        protocols=list(dict.fromkeys(row.protocol for row in selected)),
        parts=[part for part in parts if part.row_class != "handed in"],
        submitted=[part for part in parts if part.row_class == "handed in"],
        baselines=_parts(with_errors(baselines, query.standard), view.cohort, table),
        tabs={key: sum(row.row_class != "baseline" for row in rows) for key, rows in table.tabs.items()},
        tab_titles=TABS,
        tab="" if query.models else query.tab or table.tab,
        classes={key: about for key, about in CLASSES.items() if key in table.classes},
        none_verified=none_verified(table.classes),
        count=len(models),
        first=begin + 1,
        last=begin + len(shown),
        number=number,
        pages=pages,
        notes=[note for note in table.notes if note.number in marked],
        withdrawn=withdrawn,
        gone=state.withdrawn(query.benchmark)[:GONE],
        default_standard=about.default,
        elsewhere=_elsewhere(view, query, table),
        figures=[placed for placed in placed_figures if placed.drawing.draw is not None],
        provenances={key: words for key, words in EVIDENCE.items() if key in evidence},
    )


def _parts(rows: Sequence[Row], cohorts: str, table: BoardTable) -> list[Part]:
    def key(row: Row) -> tuple[RowClass, bool, str, str]:
        return row.row_class, row.rank is not None, row.cohort, row.group

    grouped = [(about, list(members)) for about, members in groupby(rows, key)]
    groups = {row_class: {key[3] for key, _ in grouped if key[0] == row_class} for row_class in CLASSES}
    parts: list[Part] = []
    for place, ((row_class, ranked, cohort, group), members) in enumerate(grouped):
        about = CLASSES[row_class]
        title = about.title if ranked or row_class == "baseline" else f"{about.title}, unranked"
        if cohorts and cohort:
            title = f"{title} · {cohorts.lower()} {cohort}"
        if len(groups[row_class]) > 1 and group:
            title = f"{title} · {group}"
        means = about.means if place == 0 or grouped[place - 1][0][0] != row_class else ""
        parts.append(Part(title, f"{table.span_of(members)} {means}", members, row_class))
    return parts


def _elsewhere(view: View, query: BoardQuery, table: BoardTable) -> int:
    """Number of named rows that only other tables of the benchmark have."""
    if not query.models or len(view.slices) == 1:
        return 0
    here = {row.entry for row in table.rows}
    return len(set(query.models) - here)


MOST = 5
"""Models in a small chart; one more if classes and cohorts divide them."""
RankedWith = tuple[RowClass, str, str]
CHANCE = "baseline: random"
"""Name of the bundled baseline whose score is the chance level."""


@dataclass(frozen=True)
class Line:
    """One model of a small chart; places are in percent of its width.

    Args:
        cohort: cohort of its rank, for benchmarks with several.
        mark: evidence, a key of `PROVENANCES`.
        sure: 95 % interval in words, or why there is none.
        leads: whether it is the first of its kind and cohort.
    """

    model: str
    cohort: str
    mark: str
    text: str
    sure: str
    at: float
    interval: tuple[float, float] | None
    chance: float | None
    beyond: bool
    leads: bool


@dataclass(frozen=True)
class Front:
    """A small chart of a benchmark's best models by kind and cohort; `words` tell the leaders and their certainty."""

    view: View
    higher: bool
    lines: Sequence[Line]
    ideal: float | None
    words: str

    @property
    def chance(self) -> float | None:
        """Place of random answers on the axis."""
        return next((line.chance for line in self.lines if line.chance is not None), None)


def fronts(state: State) -> list[Front]:
    """One small chart per benchmark, under its default standard."""
    return [_front_of(state, name) for name in VIEWS]


def _front_of(state: State, name: str) -> Front:
    standard = find_benchmark(name).default
    board = state.board(name, standard)
    return board.get_or_make("front", lambda: front(VIEWS[name], standard, board))


def front(view: View, standard: str, board: Iterable[Row]) -> Front:
    """The small chart of a board whose rows are in order."""
    board = list(board)
    chosen = with_errors(_best(view, board), standard)
    numbers = {row.entry: numbers_of(total_of(view, row), row) for row in chosen}
    values = {entry: three.value for entry, three in numbers.items() if three.value is not None}
    bench = find_benchmark(view.benchmark)
    ideals = (bench.ideal(total_of(view, row).score, standard) for row in chosen)
    ideal = next((known.number for known in ideals if known is not None), None)
    chances = {row.cohort: number for row in board if (number := _chance(view, row)) is not None}
    scale = Scale.of(values, chosen, ideal)
    far = FAR * max(abs(scale.least), abs(scale.most))
    scale = Scale.of(values, chosen, ideal, *(number for number in chances.values() if abs(number) <= far))
    lines: list[Line] = []
    seen = set()
    for row in chosen:
        three, chance = numbers[row.entry], chances.get(row.cohort)
        ends = three.interval
        lines.append(
            Line(
                plain(row.model),
                row.cohort,
                provenance_of(row),
                three.value_text,
                f"95 % interval {three.interval_text}" if ends else f"{three.interval_text}, no interval",
                scale.place(values[row.entry]),
                None if ends is None else (scale.place(ends[0]), scale.place(ends[1])),
                scale.place(chance) if chance is not None and abs(chance) <= far else None,
                not scale.holds(values[row.entry]),
                row.ranked_with not in seen,
            )
        )
        seen.add(row.ranked_with)
    leaders = [row for row, line in zip(chosen, lines, strict=True) if line.leads]
    ranked = Counter(row.ranked_with for row in board if row.rank is not None)
    words = _words(view, leaders, ranked, bench.higher_is_better)
    groups = {row.group for row in chosen}
    others = dict.fromkeys(row.group for row in board if _chance(view, row) is not None and row.group not in groups)
    if others:
        words += f" Random answers were measured by another protocol ({', '.join(others)})."
    at = None if ideal is None or not scale.holds(ideal) else scale.place(ideal)
    return Front(view, bench.higher_is_better, lines, at, words)


def _best(view: View, board: Iterable[Row]) -> list[Row]:
    """The verified and printed rows of a small chart; unranked ones only if printed."""
    leading = (row for row in board if row.row_class in LEADING and _score(view, row) is not None)
    fit = (row for row in leading if row.rank is not None or row.row_class == "printed")
    groups = [list(members) for _, members in groupby(fit, lambda row: row.ranked_with)]
    most = -(-MOST // max(1, len(groups)))
    return [row for rows in groups for row in rows[:most]]


def _score(view: View, row: Row) -> float | None:
    value = total_of(view, row).of(row)
    return None if value is None else value.value


def _chance(view: View, row: Row) -> float | None:
    return _score(view, row) if row.provenance == "baseline" and row.model == CHANCE else None


def _words(view: View, leaders: Sequence[Row], ranked: Mapping[RankedWith, int], higher: bool) -> str:
    """The leaders of each kind and cohort, and how certain their lead is; `ranked`: number of ranked rows."""
    parts = []
    for row_class, members in groupby(leaders, lambda row: row.row_class):
        rows = list(members)
        names = list(dict.fromkeys(plain(row.model) for row in rows))
        if all(ranked[row.ranked_with] == 1 for row in rows):
            parts.append(f"{CLASSES[row_class].title}: only {' and '.join(names)}.")
            continue
        if rows[0].rank is None:
            who = f"{names[0]} has the {'highest' if higher else 'lowest'} score, without a rank"
        elif len(names) == 1:
            who = f"{names[0]} leads" + (f" with each {view.cohort.lower()}" if len(rows) > 1 and view.cohort else "")
        else:
            who = " and ".join(f"{plain(row.model)} ({row.cohort})" if row.cohort else plain(row.model) for row in rows)
            who = f"{who} lead"
        parts.append(f"{CLASSES[row_class].title}: {who}, {_how_sure(view, rows)}.")
    return " ".join(parts)


def _how_sure(view: View, rows: Sequence[Row]) -> str:
    worst = max((row.rank_range[1] for row in rows if row.rank_range is not None), default=0)
    if rows[0].row_class == "printed":
        value = total_of(view, rows[0]).of(rows[0])
        return f"{COMPUTED if is_computed(value, published=True) else 'printed'}, without an interval"
    if not worst:
        return "how sure is not known"
    return "clearly ahead of all others (95 %)" if worst == 1 else f"but could be rank {worst}"
