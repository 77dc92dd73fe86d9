"""The page of a row, `/model/<benchmark>/<entry>`: its values and how they were made; evidence has its own address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.instrument import instrument
from fairspace.leaderboard_space.boards.tables.columns import facts_of, numbers_of
from fairspace.leaderboard_space.boards.tables.evidence import grid
from fairspace.leaderboard_space.boards.tables.value_lines import value_lines
from fairspace.leaderboard_space.boards.telling import behind, provenance_of
from fairspace.leaderboard_space.boards.view import View, total_of
from fairspace.leaderboard_space.boards.views import VIEWS, chosen_standard
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.pages.figures import GALLERY
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.leaderboard_space.web.store_threads import with_store
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.plotting import number
from fairspace.submissions.report.headline import sentences_of
from fairspace.submissions.results.answer_sketch import SKETCH
from fairspace.submissions.results.board import UNSCORABLE, logged_row
from fairspace.submissions.results.folded_facts import Fact
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import instrument_ranges, rescore, variant_scores
from fairspace.submissions.results.three_numbers import ThreeNumbers
from fairspace.submissions.values import Value

router = APIRouter(include_in_schema=False)
LABELS = {
    "profile_und": "Profile, understanding",
    "profile_gen": "Profile, generation",
    "cohort": "Cohort of the total",
}


@dataclass(frozen=True)
class Standing:
    """A row under one standard.

    Args:
        standard: its name.
        rank: as a number, or a word.
        total: what its total score is called.
        three: the three numbers of the total.
        facts: what is folded away.
        labels: profile codes and the like.
    """

    standard: str
    rank: str
    total: str
    three: ThreeNumbers
    facts: list[Fact]
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
        row = logged_row(logged.result, standard)
        return page(request, "withdrawn.html.jinja", view=view, row=row, own=logged)
    [row] = with_errors([state.find_row(benchmark, standard, entry)], standard)
    full = state.full(entry) if row.result is not None else None
    values = row.values if full is None else full.values
    measured = None if full is None or row.result is None else replace(row.result, values=full.values)
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
        standings=[standing(state, view, name, row) for name in find_benchmark(benchmark).standards],
        standing=standing(state, view, standard, row),
        label_names=LABELS,
        archetypes=ARCHETYPES,
        provenance=provenance_of(row),
        signature={} if row.result is None else {k: v for k, v in row.result.signature.items() if k != SKETCH},
        gone=state.withdrawn_attempts(entry),
        about_class=CLASSES[row.row_class],
        means=behind(row, row.scores.values()),
        reasons=list(dict.fromkeys((*row.remarks, *row.unranked))),
        evidence=f"/model/{benchmark}/{entry}/evidence/",
        figures=GALLERY.place(state, benchmark, standard, "model", (entry,)),
    )


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
    return page(
        request, "evidence.html.jinja", view=view, row=row, standard=standard, value=value, lines=lines, grid=grid
    )


def without_error(rows: Sequence[Row], row: Row) -> str:
    """'7 rows have no error': a note on rows of the same class that limit the range of ranks; '' if there are none."""
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


def standing(state: State, view: View, standard: str, row: Row) -> Standing:
    """Rank, three numbers and labels of a row under a standard."""
    [ranked] = with_errors([state.find_row(view.benchmark, standard, row.entry)], standard)
    total = total_of(view, ranked)
    rank = "a baseline, not ranked" if ranked.provenance == "baseline" else number(ranked.rank, 0)
    return Standing(
        standard,
        "not ranked" if rank == "–" else rank,
        total.header,
        numbers_of(total, ranked, ranked=True),
        facts_of(total, ranked),
        {name: ranked.labels[name] for name in LABELS if name in ranked.labels},
    )


def view_and_standard(benchmark: str, standard: str) -> tuple[View, str]:
    """The view of a benchmark, and the name of a standard. SpaceError UNKNOWN_PAGE or BAD_PARAMETER."""
    view = VIEWS.get(benchmark)
    if view is None:
        raise SpaceError("UNKNOWN_PAGE", "the benchmark", repr(benchmark[:40]), ", ".join(VIEWS), "see the board, at /")
    return view, chosen_standard(benchmark, standard)


def _with_evidence(state: State, row: Row, standard: str) -> dict[str, Value]:
    """Scores and raw values by name, with what they were made from; a score that is a raw value has its evidence."""
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
