"""Findings of the front page, chosen by a rule, never by hand.

Candidates are the values of `findings.toml` in whole runs by us or a paper under the default standards. A test gives
the one furthest from its ideal, but one surely beyond chance goes first; tests are in the same order, ties by name.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from string import Formatter

from fairspace.leaderboard_space.boards.figures import Source, dot, ends_of, value_of
from fairspace.leaderboard_space.boards.models import KNOWN
from fairspace.leaderboard_space.boards.view import View, total_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.boards.words import shortened
from fairspace.leaderboard_space.state import Board, State
from fairspace.leaderboard_space.storage import StorageError
from fairspace.submissions.answers.items import Item, Items
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import DotPlot, Line, dot_plots
from fairspace.submissions.drawing.svg import span
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE, GREY
from fairspace.submissions.report.figure import from_ideal
from fairspace.submissions.report.headline import score_limits
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import ideal_of, is_biased
from fairspace.submissions.values import Value

log = logging.getLogger(__name__)
SENTENCES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MOST, COMPARED, SCANNED = 3, 2, 200
"""Findings; models at either end of a chart; values of a test whose certainty is looked at."""


@dataclass(frozen=True)
class Finding:
    """A value of a row in words; its texts are not escaped.

    Args:
        sure: whether it is less fair than chance explains; None if unknown.
        measure: the value's meaning in a few words.
        chart: SVG of models that were measured alike.
        item: an answer that the value is made of; None if none is kept with its prompt.
        since: date of its result; '' if printed.
        order: place among findings, the smallest first.
    """

    view: View
    row: Row
    value: Value
    sentence: str
    sure: bool | None
    measure: str
    chart: str
    item: Item | None
    since: str
    order: tuple[bool, float, str, str, str]


def findings(state: State) -> list[Finding]:
    """At most three findings; fewer where a test has no value in words."""
    boards = {name: state.board(name, find_benchmark(name).default) for name in VIEWS}
    every = [board.get_or_make("finding", partial(_furthest, state, name, board)) for name, board in boards.items()]
    return sorted((each for each in every if each is not None), key=lambda each: each.order)[:MOST]


def _furthest(state: State, name: str, board: Board) -> Finding | None:
    view, bench = VIEWS[name], find_benchmark(name)
    whole = [row for row in board if row.row_class != "printed" or total_of(view, row).number(row) is not None]
    rows = {row.entry: row for row in whole if row.row_class in KNOWN and not row.remarks}
    labels = {row.cohort: row.labels for row in rows.values()}
    scale = cache(lambda score, cohort: from_ideal(bench, bench.default, score, labels[cohort]))
    far = sorted(
        (-place(value.value), plain(row.model), score, row.entry)
        for row, score in product(rows.values(), SENTENCES.get(name, ()))
        if (value := value_of(row, score)) and value.value is not None and (place := scale(score, row.cohort))
    )
    looked = [rows[entry] for entry in dict.fromkeys(entry for *_, entry in far[:SCANNED])]
    rows |= {row.entry: row for row in with_errors(looked, bench.default)}
    for order in sorted((_is_sure(rows[key[3]], key[2]) is not True, *key) for key in far[:SCANNED]):
        score, row, logged, full = order[3], rows[order[4]], state.entry(order[4]), None
        try:
            full = state.full(row.entry)
        except StorageError as error:  # the front page stands without the example; the row's page says the same
            log.warning("a finding has no example: %s", error)
        value = value_of(row, score) if full is None else full.values.get(score, value_of(row, score))
        if value is not None and (text := _sentence(name, row, value)):
            alike = [entry for *_, of, entry in far if of == score and rows[entry].ranked_with == row.ranked_with]
            chart = _chart(Source(state, name, bench.default, board), alike, row, value)
            measure, since = bench.about().describe(score), "" if logged is None else logged.time[:10]
            item = None if full is None else _item(full.items, score)
            return Finding(view, row, value, text, _is_sure(row, score), measure, chart, item, since, order)
    return None


def _is_sure(row: Row, score: str) -> bool | None:
    value = value_of(row, score)
    return None if value is None else is_biased(value, ideal_of(row, score), row.values)


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
    for text in SENTENCES[name][value.name]:
        if {each for _, each, *_ in Formatter().parse(text) if each} <= fields.keys():
            return f"{text.format_map(fields)}."
    return ""


def _chart(source: Source, alike: Sequence[str], first: Row, value: Value) -> str:
    """Rows at both ends of the entries `alike` and the finding's own, with the ideal or the threshold."""
    score, digits = value.name, 3 if abs(value.value or 0) < 1 else 2
    bench, ends = find_benchmark(source.benchmark), {*alike[:COMPARED], first.entry, *alike[-COMPARED:]}
    ideal, limits = bench.ideal(score, source.standard), score_limits(bench, source.standard, score, first.labels)
    levels = {limits[bench.higher_is_better]: "ideal"}
    if ideal is not None and ideal.number is not None:
        levels = {ideal.number: "even"} if ideal.threshold is None else {ideal.threshold: "asked for"}
    lines = []
    for row in with_errors([source.rows.by_entry[entry] for entry in alike if entry in ends], source.standard):
        mark = dot(source, row, value_of(row, score), digits, colour=BLUE if row.entry == first.entry else GREY)
        lines.append(Line(plain(row.model), [mark and replace(mark, href="")]))
    plot = DotPlot(lines, span([*ends_of(lines), *levels]), levels=levels)
    return dot_plots(400, bench.about().describe(score), [plot]).document()


def _item(items: Items, score: str) -> Item | None:
    """The first item with a prompt whose value and task share the most words with a score."""
    known = [(name, item) for name, those in items.items() for item in those if item.prompt]
    common = [len({*score.split("_")} & {*name.split("_"), *item.task.split("_")}) for name, item in known]
    return known[common.index(max(common))][1] if any(common) else None
