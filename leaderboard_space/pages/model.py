"""Pages of a row (`/model/<benchmark>/<entry>`), of its evidence, and of a model over all tests (`/models/<slug>`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.models import find_model, slug_of
from fairspace.leaderboard_space.boards.table import facts_of, numbers_of
from fairspace.leaderboard_space.boards.view import View, total_of
from fairspace.leaderboard_space.boards.views import VIEWS, chosen_standard, named_standard
from fairspace.leaderboard_space.boards.words import behind, provenance_of, shown
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.log_state import Entry
from fairspace.leaderboard_space.pages.figures import place_figures
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of, with_store
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.answers.items import Item
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.names import hub_address
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.report.headline import VALUE_COLUMNS, Table, sentences_of, value_cells
from fairspace.submissions.results.board import UNSCORABLE
from fairspace.submissions.results.known_answers import SKETCH
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import Ends, instrument_ranges, rescore, variant_scores
from fairspace.submissions.results.three_numbers import Show, ThreeNumbers, folded_facts, ideal_of, numbers_in_row
from fairspace.submissions.uncertainty.uncertainty import KINDS, Kind, Variant
from fairspace.submissions.values import Value

router = APIRouter(include_in_schema=False)
LABELS = {
    "profile_und": "Profile, understanding",
    "profile_gen": "Profile, generation",
    "cohort": "Cohort of the total",
}


@dataclass(frozen=True)
class Standing:
    """Total of a row, three numbers, facts, and `labels`: profile codes and the like."""

    total: str
    three: ThreeNumbers
    facts: Mapping[str, str]
    labels: dict[str, str]


@router.get("/model/{benchmark}/{entry}")
async def model(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """The page of a row."""
    return await with_store(_model, request, benchmark, entry, standard)


def _model(request: Request, benchmark: str, entry: str, standard: str) -> Response:
    state = space_of(request).state
    view, standard = view_and_standard(benchmark, standard)
    logged = state.entry(entry)
    if logged is not None and logged.benchmark == benchmark and logged.withdrawn:
        row = state.row_of(logged, standard)
        return page(request, "withdrawn.html.jinja", view=view, row=row, own=logged)
    [row] = with_errors([state.find_row(benchmark, standard, entry)], standard)
    full = state.full(entry) if row.result is not None else None
    values = row.values if full is None else full.values
    measured = None
    if full is not None and row.result is not None:
        measured = replace(row.result, values=full.values, variants=full.variants)
    ranges = {} if measured is None else variant_scores(measured, standard)
    instruments = {} if measured is None else instrument_ranges(measured, ranges)
    agreement = [value for name, value in row.values.items() if name.startswith("agreement_")]
    return page(
        request,
        "model.html.jinja",
        view=view,
        row=row,
        sentences=() if measured is None else sentences_of(measured),
        scores=value_lines(row.scores.values(), row, benchmark, instruments),
        values=value_lines(values.values(), row, benchmark, instruments),
        readings={} if full is None else full.readings,
        items={} if full is None else full.items,
        describe=find_benchmark(benchmark).about().describe,
        consistency={} if full is None else full.consistency,
        own=logged,
        standard=standard,
        protocol_text=find_benchmark(benchmark).protocol_text(row.protocol),
        without_error=without_error(state.board(benchmark, standard), row),
        instrument=[] if measured is None else instrument(measured, ranges),
        agreement=value_lines(agreement, row, benchmark),
        standing=standing(view, row),
        standards=find_benchmark(benchmark).standards,
        label_names=LABELS,
        archetypes=ARCHETYPES,
        provenance=provenance_of(row),
        signature={} if row.result is None else {k: v for k, v in row.result.signature.items() if k != SKETCH},
        gone=state.withdrawn_attempts(entry),
        about_class=CLASSES[row.row_class],
        means=behind(row, row.scores.values()),
        reasons=list(dict.fromkeys((*row.remarks, *row.unranked))),
        evidence=f"/model/{benchmark}/{entry}/evidence/",
        figures=place_figures(state, benchmark, standard, "model", (entry,)),
        slug="" if row.row_class == "baseline" else slug_of(row.model),
    )


FEW = 4
"""Rows of a benchmark in full on a model's page, and values of a row whose answers it shows."""


@router.get("/models/{slug}")
async def over_tests(request: Request, slug: str) -> Response:
    """The page of a model over all tests."""
    return await with_store(_over_tests, request, slug)


def _over_tests(request: Request, slug: str) -> Response:
    state = space_of(request).state
    model = find_model(state, slug)
    if model is None:
        where, mend = f"/models/{slug[:60]}", "look the model up on a board, at /"
        raise SpaceError("UNKNOWN_PAGE", where, "no row of a model of this name", "a model on a board", mend)
    tests, shown = {}, model.known or model.rows
    for name, view in VIEWS.items():
        rows, standard = model.known.get(name, ())[:FEW], find_benchmark(name).default
        runs = [(row, standing(view, row), *_inside(state, row)) for row in with_errors(rows, standard)]
        tests[name] = view, runs, place_figures(state, name, standard, "models", [row.entry for row in rows])
    makers = dict.fromkeys(plain(row.organisation) for rows in shown.values() for row in rows if row.organisation)
    return page(
        request,
        "models.html.jinja",
        model=model,
        makers=[*makers],
        tests=tests,
        hub=hub_address(model.name),
        bench=find_benchmark,
        classes=CLASSES,
    )


def _inside(state: State, row: Row) -> tuple[Entry | None, Sequence[str], Mapping[str, Sequence[Item]]]:
    """The log entry of a row, its sentences, and the first worst and typical answers of a few values."""
    full = None if row.result is None else state.full(row.entry)
    if full is None or row.result is None:
        return None, (), {}
    few = islice(full.items.items(), FEW)
    items = {name: [next(kind) for _, kind in groupby(of, lambda item: item.kind)] for name, of in few}
    return state.entry(row.entry), sentences_of(replace(row.result, values=full.values)), items


@router.get("/model/{benchmark}/{entry}/scores.tex")
async def latex(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """The scores of a row as a LaTeX table; its CSV is the board's download with this row alone."""
    return await with_store(_latex, request, benchmark, entry, standard)


def _latex(request: Request, benchmark: str, entry: str, standard: str) -> Response:
    state = space_of(request).state
    view, standard = view_and_standard(benchmark, standard)
    [row] = with_errors([state.find_row(benchmark, standard, entry)], standard)
    lines = [(line.name, *value_cells(line.three, "")[:3]) for line in value_lines(row.scores.values(), row, benchmark)]
    means = behind(row, row.scores.values())
    heading = f"{plain(row.model)} on {view.title}, standard {named_standard(benchmark, standard)}."
    table = Table(f"{benchmark}-{entry}", heading, ["score", *VALUE_COLUMNS[:3]], lines, f"{means.capitalize()}.")
    return Response(table.to_latex(), headers={"X-Content-Type-Options": "nosniff"}, media_type="text/plain")


@router.get("/model/{benchmark}/{entry}/evidence/{name}")
async def evidence(request: Request, benchmark: str, entry: str, name: str, standard: str = "") -> Response:
    """The evidence of one value of a row."""
    return await with_store(_evidence, request, benchmark, entry, name, standard)


def _evidence(request: Request, benchmark: str, entry: str, name: str, standard: str) -> Response:
    state = space_of(request).state
    view, standard = view_and_standard(benchmark, standard)
    row = state.find_row(benchmark, standard, entry)
    value = _with_evidence(state, row, standard).get(name)
    if value is None:
        raise SpaceError("UNKNOWN_PAGE", "the value", repr(name[:60]), "a value of this row", "see the row's page")
    lines = value_lines([value], row, benchmark)
    return page(request, "evidence.html.jinja", view=view, row=row, standard=standard, value=value, lines=lines)


def without_error(rows: Sequence[Row], row: Row) -> str:
    """'7 rows have no error': a note on rows of the same class that limit the range of ranks; '' without them."""
    if row.rank_range is None:  # as in every cohort of thousands
        return ""
    without = [
        other
        for other in rows
        if other.rank is not None and other.tier is None and other.ranked_with == row.ranked_with
    ]
    if not without:
        return ""
    return "1 row has no error" if len(without) == 1 else f"{len(without)} rows have no error"


def standing(view: View, row: Row) -> Standing:
    """Total, three numbers, facts and labels of a row."""
    total = total_of(view, row)
    labels = {name: row.labels[name] for name in LABELS if name in row.labels}
    return Standing(total.header, numbers_of(total, row, ranked=True), facts_of(total, row), labels)


def view_and_standard(benchmark: str, standard: str) -> tuple[View, str]:
    """The view of a benchmark, and the name of a standard. SpaceError UNKNOWN_PAGE or BAD_PARAMETER."""
    view = VIEWS.get(benchmark)
    if view is None:
        raise SpaceError("UNKNOWN_PAGE", "the benchmark", repr(benchmark[:40]), ", ".join(VIEWS), "see the board, at /")
    return view, chosen_standard(benchmark, standard)


def _with_evidence(state: State, row: Row, standard: str) -> dict[str, Value]:
    """Scores and raw values by name with their evidence; a score that is a raw value has the latter's evidence."""
    full = state.full(row.entry)
    values = row.values if full is None else full.values
    scores = row.scores
    if full is not None and UNSCORABLE not in row.unranked:
        scores = rescore(full, standard).scored.scores
    names = {
        name: replace(value, evidence=value.evidence or values[name].evidence) if name in values else value
        for name, value in scores.items()
    }
    return {**values, **names}


_LABELS = ("labels_corrected", "labels_transported", "human_labels")
DIGITS = 4


@dataclass(frozen=True)
class Scored:
    """A score and its range over the variants of a kind."""

    name: str
    measured: str
    low: str
    high: str


@dataclass(frozen=True)
class Line:
    """A measured value and its variants, each with its interval or ''.

    `debiased` is the lower estimate without the bias of few samples ('' without one), the reference for corrected
    labels, whose values have no such bias.
    """

    name: str
    measured: tuple[str, str]
    debiased: str
    cells: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Part:
    """One kind of variant, with the scores that it changes and the number of those that it does not (`same`).

    `plain`: whether the values are without their bias at this number of samples.
    """

    kind: Kind
    names: Sequence[str]
    notes: Sequence[str]
    lines: Sequence[Line]
    scores: Sequence[Scored]
    same: int
    plain: bool


def instrument(result: Result, ranges: Mapping[Kind, Mapping[str, Ends]]) -> list[Part]:
    """The measurement error of a result by kind of variant; empty without variants. `ranges`: from `variant_scores`."""
    parts = []
    for kind in KINDS:
        variants = [variant for variant in result.variants if variant.kind == kind]
        if variants:
            parts.append(_part(kind, variants, result.values, result.scored.scores, ranges.get(kind, {})))
    return parts


def _part(
    kind: Kind,
    variants: Sequence[Variant],
    values: Mapping[str, Value],
    scores: Mapping[str, Value],
    ranges: Mapping[str, tuple[float, float]],
) -> Part:
    names = dict.fromkeys(name for variant in variants for name in variant.values if name in values)
    cells = {name: [_cell(variant, name) for variant in variants] for name in names}
    lines = [Line(name, _own(values[name]), _debiased(values[name]), by_variant) for name, by_variant in cells.items()]
    moved = {name: ends for name, ends in ranges.items() if ends[0] < ends[1]}
    moved_scores = [Scored(name, _text(scores[name].value), *map(_text, ends)) for name, ends in moved.items()]
    notes = dict.fromkeys(plain(f"{variant.name}: {variant.note}") for variant in variants if variant.note)
    same = len(ranges) - len(moved)
    return Part(kind, [plain(v.name) for v in variants], [*notes], lines, moved_scores, same, kind in _LABELS)


def _own(value: Value) -> tuple[str, str]:
    about = value.uncertainty
    return _text(value.value), "" if about is None else f"{_text(about.low)} to {_text(about.high)}"


def _debiased(value: Value) -> str:
    about = value.uncertainty
    return "" if about is None or about.debiased is None else _text(about.debiased)


def _cell(variant: Variant, name: str) -> tuple[str, str]:
    ends = variant.intervals.get(name)
    return _text(variant.values.get(name)), "" if ends is None else f"{_text(ends[0])} to {_text(ends[1])}"


def _text(value: float | None) -> str:
    return number(value, 1 if value is not None and abs(value) >= 1000 else DIGITS)


@dataclass(frozen=True)
class ValueLine:
    """One value of a row: name, short explanation, three numbers, and folded facts."""

    name: str
    words: str
    three: ThreeNumbers
    facts: Mapping[str, str]


def value_lines(
    values: Iterable[Value], row: Row, benchmark: str, instruments: Mapping[str, tuple[float, float]] = {}
) -> list[ValueLine]:
    """Lines of a row's values in the unit of the scorer. `instruments`: name -> range in the sensitivity analysis."""
    published = row.provenance == "published"
    describe = find_benchmark(benchmark).about().describe
    ranking = row.result.scored.ranking if row.result is not None else ""
    lines = []
    for value in values:
        ideal, show, ranked = ideal_of(row, value.name), _show(value), row if value.name == ranking else None
        three = numbers_in_row(row, value.name, value, show, ranked=ranked is not None)
        others = instruments.get(value.name)
        facts = folded_facts(value, ideal, show, published=published, row=ranked, instruments=others)
        lines.append(ValueLine(value.name, describe(value.name), three, facts))
    return lines


def _show(value: Value) -> Show:
    def show(shown_number: float) -> str:
        if shown_number == value.value:
            return shown(value)
        return number(shown_number, 1 if value.value is not None and abs(value.value) >= 1000 else DIGITS)

    return show
