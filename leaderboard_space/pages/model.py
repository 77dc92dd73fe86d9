"""Pages of a row (`/model/<benchmark>/<entry>`), of its evidence, and of a model over all tests (`/models/<slug>`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from fairspace.leaderboard_space.boards.models import KNOWN, anchor_numbers, find_model, slug_of
from fairspace.leaderboard_space.boards.table import numbers_of
from fairspace.leaderboard_space.boards.view import Column, View, fair_of, part_of, remarks, total_of
from fairspace.leaderboard_space.boards.views import VIEWS, chosen_standard, named_standard
from fairspace.leaderboard_space.boards.words import behind, provenance_of, row_address, shown
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.logged import LoggedRow
from fairspace.leaderboard_space.pages.figures import place_figures
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.state import UNSHOWN, State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.answers.items import Item
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.names import hub_address
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import NOTHING, Show
from fairspace.submissions.results.board import UNSCORABLE
from fairspace.submissions.results.known_answers import SKETCH
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import Ends, instrument_ranges, rescore, variant_scores
from fairspace.submissions.results.three_numbers import (
    CHANCE_SIGNS,
    ThreeNumbers,
    folded_facts,
    ideal_of,
    numbers_in_row,
    why_no_chance,
)
from fairspace.submissions.show.headline import (
    VALUE_COLUMNS,
    InShort,
    in_short_sentences,
    meaningful,
    sentences_of,
    value_cells,
)
from fairspace.submissions.show.instruments import four_digits, instrument
from fairspace.submissions.show.table import Table
from fairspace.submissions.values import Value

router = APIRouter(include_in_schema=False)
LABELS = {"profile_und": "Profile, understanding", "profile_gen": "Profile, generation"}
TOPICS = {name: view.words.short.lower() for name, view in VIEWS.items()}
"""Benchmark -> its topic in a sentence on a model."""
FEW, MOST = 4, 50
"""Rows of a benchmark in full on a model's page, and values whose answers it shows; most submitted rows there."""
COLUMNS = 9
"""Most printed numbers in short."""
SAYS_NOTHING = "says nothing"
"""Words of a reason for no rank that takes the score's meaning."""
ROW, UNDER = "/model/{benchmark}/{entry}", "/model/{benchmark}/{entry}/under/{standard}"


@router.get(ROW)
@router.get(UNDER)
def model(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """The page of a row; of a withdrawn one the reason, with status 404."""
    state = space_of(request).state
    view, standard = view_and_standard(benchmark, standard)
    logged = state.entry(entry)
    if logged is not None and logged.benchmark == benchmark and logged.withdrawn:
        row = state.row_of(logged, standard)
        return page(request, "withdrawn.html.jinja", status=404, view=view, row=row, own=logged)
    [row] = with_errors([state.find_row(benchmark, standard, entry)], standard)
    full = state.readable(entry) if row.result is not None else None
    values = row.values if full is None else full.values
    measured = _measured(row, full)
    ranges = {} if measured is None else variant_scores(measured, standard)
    agreement = [value for name, value in values.items() if name.startswith("agreement_")]
    short, unknown = in_short(view, row, measured)
    if full is None and row.result is not None:
        unknown.setdefault("Its evidence", []).append(UNSHOWN)
    if without := without_error(state.board(benchmark, standard), row):
        unknown.setdefault("Exact ranks", []).append(without)
    means, provenance = behind(row, row.scores.values()), provenance_of(row)
    bench = find_benchmark(benchmark)
    return page(
        request,
        "model.html.jinja",
        view=view,
        row=row,
        here=row_address(benchmark, entry, standard),
        short=short,
        unknown=unknown,
        caution=view.caution(standard),
        scores=value_lines(row.scores.values(), row, benchmark),
        values=value_lines((value for value in values.values() if value.state != "not_run"), row, benchmark),
        not_run=sum(value.state == "not_run" for value in values.values()),
        readings={} if full is None else full.readings,
        items={} if full is None else full.items,
        describe=bench.describe,
        consistency={} if full is None else full.consistency,
        own=logged,
        standard=standard,
        protocol_text=bench.protocol_text(row.protocol),
        instrument=[] if measured is None else instrument(measured, ranges),
        agreement=value_lines(agreement, row, benchmark),
        others={name: row_address(benchmark, entry, name) for name in bench.standards if name != standard},
        provenance=provenance,
        chance_signs=CHANCE_SIGNS,
        chip="" if row.claim and provenance in ("recomputed", "rerun") else means,
        signature={} if row.result is None else {k: v for k, v in row.result.signature.items() if k != SKETCH},
        gone=state.withdrawn_attempts(entry),
        about_class=CLASSES[row.row_class],
        figures=place_figures(state, benchmark, standard, "model", (entry,)),
        slug="" if row.provenance == "baseline" else slug_of(row.model),
    )


def _measured(row: Row, full: Result | None) -> Result | None:
    return row.result and full and replace(row.result, values=full.values, variants=full.variants)


def in_short(view: View, row: Row, measured: Result | None) -> tuple[list[InShort], dict[str, list[str]]]:
    """A row's ranked score, sentences or printed numbers, and profile in short; and what is not known -> reasons."""
    total, published = total_of(view, row), row.provenance == "published"
    three = numbers_of(total, row, ranked=True)
    lines, missing = in_short_sentences(() if measured is None else sentences_of(measured))
    if published:
        part = part_of(view, row)
        shown = [(column, numbers_of(column, row)) for column in dict.fromkeys((*(part.fair or ()), *part.columns))]
        describe = find_benchmark(view.benchmark).describe
        defined = ((column, each) for column, each in shown if each.value is not None)
        lines = [
            InShort(column.header, each.value_text, (describe(column.score), each.interval_text))
            for column, each in islice(defined, COLUMNS)
        ]
    if three.value is not None:
        further = [line.answer for line in lines if line.question == total.score]
        lines = [line for line in lines if line.question != total.score]
        answer = ": ".join(filter(None, (three.value_text, three.verdict)))
        place = len(lines) if part_of(view, row).fair else 0  # a mean of facts and fairness stands behind both
        lines.insert(place, InShort(total.header, answer, [*_sure(three), *_rank(row, three), *further]))
    labels = ((title, row.labels[name]) for name, title in LABELS.items() if row.labels.get(name))
    lines += [InShort(title, code, [*filter(None, [ARCHETYPES.get(code, "")])]) for title, code in labels]
    return lines, _unknown(total, row, three, missing, measured)


def _sure(three: ThreeNumbers) -> list[str]:
    """The margin of a number, what chance gives, and what is missing, as far as they are known."""
    margin = f"95 %: {three.interval_text}" if three.interval else three.interval_text
    fair = f"a fair model by chance: {three.chance_text}" * (three.chance_text != NOTHING)
    return [*filter(None, (margin, fair, three.missing_text))]


def _rank(row: Row, three: ThreeNumbers) -> list[str]:
    """'rank 2 among the rows verified, could be 1 to 3, by the worst case'; nothing without a rank."""
    cohort, ranks = f" ({plain(row.cohort)})" * bool(row.cohort), f", could be {three.ranks_text}" * bool(three.ranks)
    by = "printed score" if row.provenance == "published" else "worst case"
    rank = f"rank {row.rank} among the rows {CLASSES[row.row_class].among}{cohort}{ranks}, by the {by}"
    return [] if row.rank is None else [rank]


def _unknown(
    total: Column, row: Row, three: ThreeNumbers, missing: Mapping[str, str], measured: Result | None
) -> dict[str, list[str]]:
    """Things that are not known of a row -> the reasons, each reason once."""
    scored = () if row.result is None else row.result.scored.unranked
    useful = scored if measured is None else meaningful(measured)
    reasons = [reason for reason in row.unranked if reason not in scored or reason in useful]
    unknown = {"Its rank": list(dict.fromkeys((*row.remarks, *reasons)))} if row.rank is None else {}
    unknown |= {thing: [reason] for thing, reason in missing.items()}
    value, texts = total.of(row), " ".join((*missing.values(), *reasons))
    if value is not None and value.value is None and value.reason and value.reason not in texts:
        unknown[f"{total.header}, and so a rank"] = [value.reason]
    if row.provenance == "published":
        unknown["Any margin, and what chance gives"] = ["printed figures come without samples"]
    elif value is not None and three.value is not None and three.chance_text == NOTHING:
        unknown[f"{total.header} by chance"] = [why_no_chance(value, ideal_of(row, total.score)).removeprefix("none: ")]
    return {thing: reasons for thing, reasons in unknown.items() if reasons}


@router.get("/models/{slug:path}")
def over_tests(request: Request, slug: str) -> Response:
    """The page of a model over all tests; other spellings of its name lead there."""
    folded = slug_of(slug)
    if folded != slug and folded:
        return RedirectResponse(f"/models/{quote(folded)}", 308)
    state = space_of(request).state
    model = find_model(state, slug)
    if model is None:
        where, mend = f"/models/{slug[:60]}", "look the model up on a board, at /"
        raise SpaceError("UNKNOWN_PAGE", where, "no row of a model of this name", "a model on a board", mend)
    tests, answers, shown = {}, [], model.known or model.rows
    submitted = {name: [row for row in rows if row.row_class not in KNOWN] for name, rows in model.rows.items()}
    owned = any(row.owner for rows in submitted.values() for row in rows)
    for name, view in VIEWS.items():
        model_rows, standard = model.known.get(name, ()), find_benchmark(name).default
        runs = [_run(state, view, row) for row in with_errors(model_rows[:FEW], standard)]
        theirs = [
            (_run(state, view, row, with_answers=False), submitted_words(state.board(name, standard), view, row))
            for row in with_errors(submitted.get(name, [])[:MOST], standard)
        ]
        by_others = bool(model_rows) or owned
        figures = place_figures(state, name, standard, "models", [run.row.entry for run in runs])
        tests[name] = view, runs, [(run, text, by_others and not run.row.owner) for run, text in theirs], figures
        if rows := shown.get(name, ())[:MOST]:
            answers.append((TOPICS[name], answer_of(state.board(name, standard), view, rows)))
    makers = dict.fromkeys(plain(row.organisation) for rows in shown.values() for row in rows if row.organisation)
    return page(
        request,
        "models.html.jinja",
        model=model,
        makers=[*makers],
        tests=tests,
        answers=answers,
        sources=[
            *dict.fromkeys(rows[0].copy_of or CLASSES[rows[0].row_class].title.lower() for rows in shown.values())
        ],
        lacking={name: topic for name, topic in TOPICS.items() if name not in model.rows},
        hub=hub_address(model.name),
        bench=find_benchmark,
        classes=CLASSES,
    )


@dataclass(frozen=True)
class RowSummary:
    """A row on a model's page: in short, what is not known, its address, log entry, and some of its answers."""

    row: Row
    address: str
    short: Sequence[InShort]
    unknown: Mapping[str, Sequence[str]]
    logged: LoggedRow | None
    items: Mapping[str, Sequence[Item]]


def _run(state: State, view: View, row: Row, *, with_answers: bool = True) -> RowSummary:
    """A row, with its sentences and the first worst and typical answers of a few values."""
    full = state.readable(row.entry) if row.result is not None and with_answers else None
    few = islice(full.items.items(), FEW) if full else ()
    items = {name: [next(kind) for _, kind in groupby(of, lambda item: item.kind)] for name, of in few}
    short, unknown = in_short(view, row, _measured(row, full))
    return RowSummary(row, row_address(view.benchmark, row.entry), short, unknown, state.entry(row.entry), items)


def answer_of(board: Sequence[Row], view: View, rows: Sequence[Row]) -> str:
    """A model's answer to one test in plain words: fairness, facts if they are counted, places, and the margin."""
    rows = with_errors(rows, find_benchmark(view.benchmark).default)
    first, several = {row.cohort: row for row in reversed(rows)}.values(), len({row.cohort for row in rows}) > 1
    part, texts = part_of(view, rows[0]), []
    if empty := says_nothing(rows[0]):
        return empty
    for word, column in zip(("fairness", "facts"), part.fair or (part.total,), strict=False):
        cells = []
        for row in first:
            if (value := column.number(row)) is not None:
                digits = f"{100 * value:.0f} %" if word == "facts" else column.show(value)
                by = f" by {plain(row.cohort)}" * several
                cells.append(", ".join(filter(None, (digits + by, place_among(board, view, column, row)))))
        if cells:
            texts.append(f"{word if part.fair else column.header} {' / '.join(cells)}")
    if not texts:
        return f"{CLASSES[rows[0].row_class].title.lower()}, but without a score: {remarks(rows[0])}"
    three = numbers_of(part.fair[0] if part.fair else part.total, rows[0])
    sure = f"95 %: {three.interval_text}" if three.interval else "margin unknown"
    return "; ".join(filter(None, (*texts, sure, three.verdict)))


def says_nothing(row: Row) -> str:
    """The reason why a row's score says nothing of its model, by the row itself; else ''."""
    return next((plain(reason).rstrip(".") for reason in row.unranked if SAYS_NOTHING in reason), "")


def place_among(board: Sequence[Row], view: View, column: Column, row: Row) -> str:
    """'last of 6': the place of a ranked row's number among the rows that it is ranked with; '' without a rank."""
    sign = 1 if find_benchmark(view.benchmark).higher_is_better else -1
    alike = (other for other in board if other.rank is not None and other.ranked_with == row.ranked_with)
    numbers = [sign * number for other in alike if (number := column.number(other)) is not None]
    value = column.number(row)
    if row.rank is None or value is None or len(numbers) < 2:
        return ""
    place = 1 + sum(number > sign * value for number in numbers)
    word = "first" if place == 1 else "last" if place == len(numbers) else f"number {place}"
    return f"{word} of {len(numbers)}"


def submitted_words(board: Sequence[Row], view: View, row: Row) -> str:
    """The number of a submitted row, its margin, chance, and place between random and always stereotyped answers."""
    column = fair_of(view, row)
    three = numbers_of(column, row)
    if three.value is None or says_nothing(row):
        return says_nothing(row) or f"{column.header}: {three.value_text}"
    parts = [f"{'fairness' if part_of(view, row).fair else column.header} {three.value_text}", *_sure(three)]
    even, worst = anchor_numbers(board, row, column)
    if even is not None and worst is not None and even != worst:
        share = (three.value - even) / (worst - even)
        ends = f"random answers ({column.show(even)})", f"always the stereotype ({column.show(worst)})"
        way = f"{abs(100 * share):.0f} % of the way from {ends[0]} to {ends[1]}"
        parts.append(f"more even than {ends[0]}" if share < -0.005 else f"beyond {ends[1]}" if share > 1 else way)
    return "; ".join(filter(None, parts))


@router.get(f"{ROW}/scores.tex")
@router.get(f"{UNDER}/scores.tex")
def latex(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """The scores of a row as a LaTeX table."""
    state = space_of(request).state
    view, standard = view_and_standard(benchmark, standard)
    [row] = with_errors([state.find_row(benchmark, standard, entry)], standard)
    lines = [(line.name, *value_cells(line.three, "")[:3]) for line in value_lines(row.scores.values(), row, benchmark)]
    means = behind(row, row.scores.values())
    heading = f"{plain(row.model)} on {view.title}, standard {named_standard(benchmark, standard)}."
    table = Table(["score", *VALUE_COLUMNS[:3]], lines, heading, f"{means.capitalize()}.", f"{benchmark}-{entry}")
    return Response(table.to_latex(), headers={"X-Content-Type-Options": "nosniff"}, media_type="text/plain")


@router.get(f"{ROW}/evidence/{{name}}")
@router.get(f"{UNDER}/evidence/{{name}}")
def evidence(request: Request, benchmark: str, entry: str, name: str, standard: str = "") -> Response:
    """The evidence of one value of a row."""
    state = space_of(request).state
    view, standard = view_and_standard(benchmark, standard)
    [row] = with_errors([state.find_row(benchmark, standard, entry)], standard)
    full = None if row.result is None else state.full(entry)
    value = _with_evidence(full, row, standard).get(name)
    if value is None:
        raise SpaceError("UNKNOWN_PAGE", "the value", repr(name[:60]), "a value of this row", "see the row's page")
    measured = _measured(row, full)
    ranges = {} if measured is None else instrument_ranges(measured, variant_scores(measured, standard))
    [line] = value_lines([value], row, benchmark)
    facts = facts_of_value(value, row, ranges.get(name))
    here = row_address(benchmark, entry, standard)
    return page(
        request,
        "evidence.html.jinja",
        view=view,
        row=row,
        standard=standard,
        value=value,
        line=line,
        facts=facts,
        here=here,
    )


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


def view_and_standard(benchmark: str, standard: str) -> tuple[View, str]:
    """The view of a benchmark, and the name of a standard. SpaceError UNKNOWN_PAGE or BAD_PARAMETER."""
    view = VIEWS.get(benchmark)
    if view is None:
        raise SpaceError("UNKNOWN_PAGE", "the benchmark", repr(benchmark[:40]), ", ".join(VIEWS), "see the board, at /")
    return view, chosen_standard(benchmark, standard)


def _with_evidence(full: Result | None, row: Row, standard: str) -> dict[str, Value]:
    """Scores and raw values by name with their evidence; a score that is a raw value has the latter's evidence."""
    values = row.values if full is None else full.values
    scores = row.scores
    if full is not None and UNSCORABLE not in row.unranked:
        scores = rescore(full, standard).scored.scores
    names = {
        name: replace(value, evidence=value.evidence or values[name].evidence) if name in values else value
        for name, value in scores.items()
    }
    return {**values, **names}


@dataclass(frozen=True)
class ValueLine:
    """One value of a row: name, short explanation, and three numbers."""

    name: str
    words: str
    three: ThreeNumbers


def value_lines(values: Iterable[Value], row: Row, benchmark: str) -> list[ValueLine]:
    """Lines of a row's values in the unit of the scorer."""
    describe = find_benchmark(benchmark).describe
    return [
        ValueLine(value.name, describe(value.name), numbers_in_row(row, value.name, value, _show(value)))
        for value in values
    ]


def facts_of_value(value: Value, row: Row, instruments: Ends | None) -> dict[str, str]:
    """The further facts of a value of a row; `instruments`: its range in the sensitivity analysis."""
    ranked = row if row.result is not None and value.name == row.result.scored.ranking else None
    published, ideal = row.provenance == "published", ideal_of(row, value.name)
    return folded_facts(value, ideal, _show(value), published=published, row=ranked, instruments=instruments)


def _show(value: Value) -> Show:
    def show(shown_number: float) -> str:
        if shown_number == value.value:
            return shown(value)
        return four_digits(shown_number, value.value)

    return show
