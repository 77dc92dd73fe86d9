"""The front page: for each test the most even models between our random and stereotyped answers, and two findings.

Findings are chosen by a rule, never by hand. Candidates are the values with a sentence in `words.toml`, in whole runs
by us or a paper under the default standards: printed ones, and those surely beyond chance of runs with nearly all
answers read and an example. A test gives the one furthest from its ideal, what is sure before what is printed; tests
are in the same order, ties by name.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby, product
from math import inf
from string import Formatter

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.figures import FigureInput, dot, ends_of, value_of
from fairspace.leaderboard_space.boards.models import (
    BASELINES,
    KNOWN,
    STEREOTYPED,
    BoardModel,
    anchors_of,
    known_models,
    place_of,
    slug_of,
)
from fairspace.leaderboard_space.boards.table import numbers_of
from fairspace.leaderboard_space.boards.view import View, fair_of, part_of, total_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.boards.words import shortened
from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.logged import LoggedRow, baseline_of
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.pages.texts import document
from fairspace.leaderboard_space.state import Board, State
from fairspace.leaderboard_space.web.identity import site_of, space_of
from fairspace.submissions.answers.items import Item
from fairspace.submissions.answers.rows import Example
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import DotLine, DotPlot, dot_plots
from fairspace.submissions.drawing.svg import span
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE, GREY, number
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.results.three_numbers import ThreeNumbers, ideal_of, is_biased
from fairspace.submissions.show.figure import ends_from_ideal, from_ideal
from fairspace.submissions.values import Value

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request) -> Response:
    """The front page."""
    state, errata = space_of(request).state, document("cards/errata.md")
    parts = errata.html.split("<h2")[1:]
    return page(
        request,
        "front.html.jinja",
        front=front(state),
        findings=findings(state),
        slug_of=slug_of,
        classes=CLASSES,
        errata={title: part.count("<h3") for title, part in zip(errata.headings.values(), parts, strict=True)},
        address=site_of(request),
    )


LISTED, NAMED, COMPARABLE = 5, 200, 10
"""Most even models of a test; names that the search offers; models with two tests from which on a table has all."""


@dataclass(frozen=True)
class FrontCell:
    """A row, its fairness, places of that and its interval between our anchors, and its facts right as text, or ''."""

    row: Row
    three: ThreeNumbers
    at: float | None = None
    ends: Sequence[float] = ()
    facts: str = ""


@dataclass(frozen=True)
class Test:
    """A test, number of models, and those of the cohort and protocols of most models, best first.

    `cells` are the first `LISTED` of `among` such models and the last one; `leaders` the best of each kind, of so many.
    `worst` are answers that always follow the stereotype, if they are worse than every leader of their cohort; `even`
    are random ones, which are even and useless.
    """

    view: View
    models: int
    cohort: str
    group: str
    cells: Sequence[FrontCell]
    among: int
    leaders: Sequence[tuple[FrontCell, int]]
    worst: Sequence[FrontCell]
    even: Sequence[FrontCell]


@dataclass(frozen=True)
class Front:
    """The first `NAMED` models, `count` of all and of those that we `ran`, tests, our last run and its day if known.

    `grid`: models with two tests or more, and a cell for each test or None; empty below `COMPARABLE` of them.
    """

    models: Sequence[BoardModel]
    count: int
    ran: Sequence[BoardModel]
    tests: Sequence[Test]
    last: LoggedRow | None
    day: str
    grid: Sequence[tuple[BoardModel, Sequence[FrontCell | None]]]


def front(state: State) -> Front:
    """The front page under the default standards, kept until a board changes."""
    boards = [state.board(name, find_benchmark(name).default) for name in VIEWS]
    versions = tuple(board.version for board in boards)  # of what is shown, not of the log
    return boards[0].get_or_make(("front", versions), lambda: _front(state))


def _front(state: State) -> Front:
    models = [(model, {name: row for name in VIEWS if (row := model.shown(name))}) for model in known_models(state)]
    tests = [_test(state, name, sum(name in rows for _, rows in models)) for name in VIEWS]
    logged = (e for e in state.entries() if (e.verified or e.own) and not e.withdrawn and not baseline_of(e.result))
    ran = [m for m, rows in models if any(row.row_class in ("verified", "own") for row in rows.values())]
    last = max(logged, key=lambda entry: entry.time, default=None)
    shipped = {result.signature.get("submission") for result in shipped_results()}
    day = last.time[:10] if last and last.result.signature.get("submission") not in shipped else ""
    return Front([model for model, _ in models[:NAMED]], len(models), ran, tests, last, day, _grid(state, models))


def _grid(
    state: State, models: Sequence[tuple[BoardModel, Mapping[str, Row]]]
) -> list[tuple[BoardModel, list[FrontCell | None]]]:
    scored = [(m, {n: row for n, row in rows.items() if _number(row, n) is not None}) for m, rows in models]
    several = [(model, rows) for model, rows in scored if len(rows) > 1]
    grid = [(model, [_cell(state, n, rows[n]) if n in rows else None for n in VIEWS]) for model, rows in several]
    return grid if len(grid) >= COMPARABLE else []


def _number(row: Row, name: str) -> float | None:
    return fair_of(VIEWS[name], row).number(row)


def _cell(state: State, name: str, row: Row) -> FrontCell:
    standard, column, mixed = find_benchmark(name).default, fair_of(VIEWS[name], row), part_of(VIEWS[name], row).fair
    row = with_errors([row], standard)[0]
    three, share = numbers_of(column, row), mixed and mixed[1].number(row)
    facts = "" if share is None else f"{100 * share:.0f} %"
    place = place_of(state.board(name, standard), name, standard, row, column)
    if three.value is None or place is None:
        return FrontCell(row, three, facts=facts)
    ends = ends_from_ideal(place, find_benchmark(name).ideal(column.score, standard), three.interval)
    return FrontCell(row, three, place(three.value), ends or (), facts)


def _test(state: State, name: str, models: int) -> Test:
    view, standard, up = VIEWS[name], find_benchmark(name).default, find_benchmark(name).higher_is_better
    scored = [row for row in state.board(name, standard) if _number(row, name) is not None]
    ours = [row for row in scored if row.provenance == "baseline" and row.own and row.model in BASELINES]
    fit = [row for row in scored if row.row_class in KNOWN and (row.rank is not None or row.row_class == "printed")]

    def evenness(row: Row) -> float:  # in the worst case over what is missing, as ranks have it
        value = fair_of(view, row).of(row)
        end = value and (value.low if up else value.high)
        number = _number(row, name) if end is None else end
        return (number or 0.0) * (1 if up else -1)

    kinds = Counter((row.cohort, row.group) for row in fit)
    main = cohort, group = max(kinds, key=lambda kind: kinds[kind], default=("", ""))
    alike = sorted((row for row in fit if (row.cohort, row.group) == main), key=evenness, reverse=True)
    ranked = (list(rows) for _, rows in groupby(fit, lambda row: row.ranked_with))
    best = sorted(((max(rows, key=evenness), len(rows)) for rows in ranked), key=lambda b: b[0].ranked_with[1:] != main)
    least = {row.cohort: min(evenness(other) for other, _ in best if other.cohort == row.cohort) for row, _ in best}
    worst = [row for row in ours if row.model == STEREOTYPED and evenness(row) < least.get(row.cohort, inf)]
    shown = [*alike[:LISTED], *alike[LISTED:][-1:]], worst, [row for row in ours if row.model != STEREOTYPED]
    cells, bad, even = ([_cell(state, name, row) for row in rows] for rows in shown)
    leaders = [(_cell(state, name, row), among) for row, among in best]
    return Test(view, models, cohort, group, cells, len(alike), leaders, bad, even)


MOST, COMPARED, SCANNED = 2, 2, 200
"""Findings; models at either end of a chart; values of a test that are looked at."""
READ, SILENT = 0.9, ("says nothing", "nothing shows")
"""Least share of readable answers in a run; words of a row's own reasons that its score means nothing."""


@dataclass(frozen=True)
class Finding:
    """A value of a row in words; its texts are not escaped.

    Args:
        measure, chart: its meaning in a few words, and an SVG of models that were measured alike.
        prompt, example: what was asked, or such a prompt of the test; an answer, None for a printed row.
        random: number of our random answers, or of fair models by chance, in words; '' if unknown.
    """

    view: View
    row: Row
    value: Value
    sentence: str
    measure: str
    chart: str
    prompt: str
    example: Item | Example | None
    random: str
    order: tuple[bool, float, str, str, str]


def findings(state: State) -> list[Finding]:
    """At most two findings; fewer where a test has no value in words."""
    boards = ((name, state.board(name, find_benchmark(name).default)) for name in VIEWS)
    every = (board.get_or_make("finding", partial(_furthest, state, name, board)) for name, board in boards)
    return sorted(filter(None, every), key=lambda each: each.order)[:MOST]


def _furthest(state: State, name: str, board: Board) -> Finding | None:
    view, bench = VIEWS[name], find_benchmark(name)
    whole = [row for row in board if row.row_class != "printed" or total_of(view, row).number(row) is not None]
    candidates = (row for row in whole if row.row_class in KNOWN and not row.remarks)
    rows = {row.entry: row for row in candidates if not any(words in why for why in row.unranked for words in SILENT)}
    labels = {row.cohort: row.labels for row in rows.values()}
    scale = cache(lambda score, cohort: _scale(bench, score, labels[cohort]))
    far = sorted(
        (row.row_class == "printed", -distance, plain(row.model), score, row.entry)
        for row, score in product(rows.values(), bench.words.findings)
        if (value := value_of(row, score)) and value.value is not None and (place := scale(score, row.cohort))
        if (distance := place(value.value)) > 0
    )
    looked = [rows[entry] for entry in dict.fromkeys(entry for *_, entry in far[:SCANNED])]
    rows |= {row.entry: row for row in with_errors(looked, bench.default)}
    for order in far[:SCANNED]:
        score, row = order[3], rows[order[4]]
        value, example = value_of(row, score), None
        if value is not None and row.row_class != "printed":
            value, example = _measured(state, row, value)
        if value is not None and (text := _sentence(name, row, value)):
            alike = [entry for *_, of, entry in far if of == score and rows[entry].ranked_with == row.ranked_with]
            chart = _chart(FigureInput(state, name, bench.default, board), alike, row, value)
            prompt, measure = getattr(example, "prompt", bench.words.asked), bench.describe(score)
            random = _random(board, row, value)
            return Finding(view, row, value, text, measure, chart, prompt, example, random, order)
    return None


def _scale(bench: Benchmark, score: str, labels: Mapping[str, str]) -> Callable[[float], float] | None:
    """Distance of a number from its ideal, in [0, 1], or below its threshold; None where it is unknown."""
    ideal = bench.ideal(score, bench.default)
    if ideal is not None and (asked := ideal.threshold) is not None:
        return lambda number: 1 - number / asked
    return from_ideal(bench, bench.default, score, labels)


def _measured(state: State, row: Row, value: Value) -> tuple[Value | None, Item | Example | None]:
    """A value with its evidence and its nearest answer; None unless surely beyond chance in a run that was read."""
    full, sure = None, is_biased(value, ideal_of(row, value.name), row.values) is True
    try:
        full = state.full(row.entry) if sure else None
    except StorageError as error:
        log.warning("a finding has no example: %s", error)
    if full is None:
        return None, None
    readings, words = full.readings.values(), {*value.name.split("_")}
    shares = (each.outcomes["choice"] / max(sum(each.outcomes.values()), 1) for each in readings)
    items = [(name, item) for name, those in full.items.items() for item in those if item.prompt]
    items.sort(key=lambda each: -len(words & {*each[0].split("_"), *each[1].task.split("_")}))
    answers: list[Item | Example] = [
        *(item for _, item in items),
        *(e for each in readings for e in each.examples if e.outcome == "choice"),
    ]
    parts = [*shares, *([] if value.coverage is None else [value.coverage])]
    if not answers or min(parts, default=0.0) < READ:  # what is not known to have been read is no finding
        return None, None
    return full.values.get(value.name, value), answers[0]


def _random(board: Board, row: Row, value: Value) -> str:
    """The value of our random answers by a row's protocol, else that of a fair model; '' where neither is known."""
    digits, random = 3 if abs(value.value or 0) < 1 else 2, anchors_of(board, row)[0]
    if random is not None and (of := value_of(random, value.name)) and of.value is not None:
        return f"random answers: {number(of.value, digits)}"
    about = value.uncertainty
    return "" if about is None or about.fair is None else f"a fair model by chance: {number(about.fair, digits)}"


def _sentence(name: str, row: Row, value: Value) -> str:
    """The value in plain words; '' where no sentence has all its fields."""
    bench, size = find_benchmark(name), value.value or 0.0
    fields: dict[str, object] = {"value": size, "percent": 100 * size, "size": abs(size), "most": 50 + 100 * size}
    for group in ("male", "female"):
        fields |= {f"{group}_{each}": mean for each, mean in value.numbers("mean", group).items()}
    fields |= {"more": "woman", "less": "man"} if size < 0 else {"more": "man", "less": "woman"}
    fields["model"] = shortened(plain(row.model), 60)
    if (ideal := bench.ideal(value.name, bench.default)) and ideal.threshold is not None:
        fields["asked"] = ideal.threshold
    for text in bench.words.findings[value.name]:
        if {each for _, each, *_ in Formatter().parse(text) if each} <= fields.keys():
            return f"{text.format_map(fields)}."
    return ""


def _chart(source: FigureInput, alike: Sequence[str], first: Row, value: Value) -> str:
    """Rows at both ends of the entries `alike` and the finding's own, with the ideal or the threshold."""
    score, digits = value.name, 3 if abs(value.value or 0) < 1 else 2
    bench, ends = find_benchmark(source.benchmark), {*alike[:COMPARED], first.entry, *alike[-COMPARED:]}
    ideal, lines = bench.ideal(score, source.standard), []
    even, asked = (None, None) if ideal is None else (ideal.number, ideal.threshold)
    levels = {asked: "asked for"} if asked is not None else {} if even is None else {even: "even"}
    for row in with_errors([source.rows.by_entry[entry] for entry in alike if entry in ends], source.standard):
        mark = dot(source, row, value_of(row, score), digits, colour=BLUE if row.entry == first.entry else GREY)
        lines.append(DotLine(plain(row.model), [mark and replace(mark, href="")]))
    plot = DotPlot(lines, span([*ends_of(lines), *levels]), levels=levels)
    return dot_plots(400, bench.describe(score), [plot]).document()
