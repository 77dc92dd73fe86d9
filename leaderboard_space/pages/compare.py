"""Comparison of up to four models of a board, at `/compare`: values, differences, and origins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from fairspace.leaderboard_space.boards.figures import value_of
from fairspace.leaderboard_space.boards.iris import profiles
from fairspace.leaderboard_space.boards.views import VIEWS, chosen_standard, chosen_view
from fairspace.leaderboard_space.boards.words import behind, printed_digits, shortened, shown
from fairspace.leaderboard_space.pages.figures import MOST_CHOSEN, board_of, chosen_rows, place_figures, split_models
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of, with_store
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.report.figure import Difference, differences
from fairspace.submissions.results.known_answers import SKETCH
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import NOTHING, Fact, folded_facts, ideal_of, lacking, numbers_in_row
from fairspace.submissions.values import Value

router = APIRouter(include_in_schema=False)
OFFERED = 12
"""Search results at a time."""


@router.get("/compare")
async def compare(
    request: Request,
    benchmark: str = "",
    standard: str = "",
    models: list[str] = Query([]),  # noqa: B008 how FastAPI reads a repeated parameter
    q: str = "",
) -> Response:
    """Models side by side, and a search for more."""
    return await with_store(_compare, request, benchmark, standard, models, q)


def _compare(request: Request, benchmark: str, standard: str, models: list[str], q: str) -> Response:
    state = space_of(request).state
    view = chosen_view(benchmark)
    standard = chosen_standard(view.benchmark, standard)
    entries = split_models(",".join(models))
    rows = board_of(state, view.benchmark, standard)
    chosen, missing = chosen_rows(rows, entries)
    if missing:  # they may have come since the last snapshot
        state.snapshots.renew(view.benchmark)
        rows = board_of(state, view.benchmark, standard)
        chosen, missing = chosen_rows(rows, entries)
    chosen_entries = [row.entry for row in chosen]

    def address(*others: str, benchmark: str = view.benchmark, standard: str = standard) -> str:
        return "/compare?" + urlencode(
            {"benchmark": benchmark, "standard": standard, "models": ",".join(others)}, safe=","
        )

    return page(
        request,
        "compare.html.jinja",
        view=view,
        views=VIEWS.values(),
        standard=standard,
        standards={name: address(*chosen_entries, standard=name) for name in find_benchmark(view.benchmark).standards},
        chosen=[(row, address(*(entry for entry in chosen_entries if entry != row.entry))) for row in chosen],
        missing=[(entry, _why(state, view.benchmark, entry)) for entry in missing],
        q=q,
        models=",".join(chosen_entries),
        most=MOST_CHOSEN,
        offered=[(row, address(*chosen_entries, row.entry)) for row in _offered(rows, chosen, q)]
        if len(chosen_entries) < MOST_CHOSEN
        else [],
        figures=place_figures(state, view.benchmark, standard, "compare", chosen_entries) if chosen_entries else [],
        profiles=[(row, profiles(row, standard)) for row in chosen] if view.labels else [],
        lines=lines(view.benchmark, with_errors(_sure(state, chosen), standard), standard) if chosen else {},
        facts=facts(chosen),
        making=making(chosen),
    )


def _sure(state: State, rows: Sequence[Row]) -> list[Row]:
    """The rows with the uncertainty of their raw values, read from the result files."""
    placed = []
    for row in rows:
        full = state.full(row.entry) if row.result is not None else None
        full_values = {} if full is None else full.values
        values = {
            name: replace(value, uncertainty=full_values[name].uncertainty) if name in full_values else value
            for name, value in row.values.items()
        }
        placed.append(replace(row, values=values))
    return placed


def _why(state: State, benchmark: str, entry: str) -> str:
    logged = state.entry(entry)
    if logged is None:
        return "it is not a row of this board"
    if logged.withdrawn is not None:
        return f"withdrawn by a maintainer: {plain(logged.withdrawn.reason)}"
    return (
        f"a row of another board, {VIEWS[logged.benchmark].title}"
        if logged.benchmark != benchmark
        else "not on this board"
    )


def _offered(rows: Sequence[Row], chosen: Sequence[Row], q: str) -> list[Row]:
    """Rows with every word of a search in model or organisation, those of a chosen cohort first."""
    words = plain(q)[:200].casefold().split()
    kinds, entries = {row.ranked_with for row in chosen}, {row.entry for row in chosen}
    alike: list[Row] = []
    others: list[Row] = []
    for row in rows:
        text = f"{plain(row.model)} {plain(row.organisation)} {row.entry}".casefold()
        if row.entry not in entries and all(word in text for word in words):
            (alike if row.ranked_with in kinds else others).append(row)
            if len(alike) == OFFERED:
                break
    return [*alike, *others][:OFFERED]


DIGITS = 4
"""Decimals of our own scores, and of percentages beside printed figures."""
RATIO_DIGITS = 3
MOST_REASONS = 2


@dataclass(frozen=True)
class Cell:
    """One model's value as text, or its state in words with the reason if it is missing.

    Args:
        difference: difference to the first model's value, '' without both numbers.
        interval: 95 % interval of the value, or the reason for its absence.
        below: range by missing answers, chance level of fair models, verdict.
        between: 95 % interval of the difference or ratio and its significance; '' if unknown.
    """

    text: str
    missing: bool = False
    reason: str = ""
    difference: str = ""
    interval: str = ""
    below: Sequence[str] = ()
    facts: Sequence[Fact] = ()
    between: str = ""


@dataclass(frozen=True)
class Line:
    """One value of all models: name, title, and a cell for each model."""

    name: str
    title: str
    cells: Sequence[Cell]


def lines(benchmark: str, rows: Sequence[Row], standard: str = "") -> dict[str, list[Line]]:
    """Heading -> lines: scores, the values described by the benchmark, then the others by kind."""
    between = differences(benchmark, [row.result for row in rows], standard)
    scores_of = [_line(name, "", rows, name) for name in _names(rows, "scores")]
    groups: dict[str, list[Line]] = {"Scores": [_with_differences(line, rows, between) for line in scores_of]}
    about = find_benchmark(benchmark).about()
    shown: set[str] = set()
    for heading, values in about.values.items():
        groups[heading] = [_line(value.name, value.title, rows, value.name, *value.printed) for value in values]
        shown |= {name for value in values for name in (value.name, *value.printed)}
    scores = set(_names(rows, "scores"))
    for name in _names(rows, "values"):
        if name in shown or name in scores:
            continue
        groups.setdefault(about.further or _heading(name), []).append(_line(name, "", rows, name))
    return {heading: those for heading, those in groups.items() if those}


def _with_differences(line: Line, rows: Sequence[Row], by_row: Sequence[Mapping[str, Difference]]) -> Line:
    cells = []
    for cell, row, row_differences in zip(line.cells, rows, by_row, strict=True):
        difference, value = row_differences.get(line.name), value_of(row, line.name)
        if difference is not None and cell.difference and value is not None:
            cell = replace(cell, between=_between(difference, cell, value))
        cells.append(cell)
    return replace(line, cells=cells)


def _between(difference: Difference, cell: Cell, value: Value) -> str:
    """'difference -0.31 to +0.12: not significant'; a ratio with its number, because the cell has the difference."""
    if difference.ratio:
        ratio, low, high = (number(end, RATIO_DIGITS) for end in (difference.value, difference.low, difference.high))
        return f"ratio {ratio}, {low} to {high}: {difference.verdict}"
    low, high = (number(end, _decimals(value), signed=True) for end in (difference.low, difference.high))
    return f"difference {low} to {high}: {difference.verdict}"


def _names(rows: Sequence[Row], kind: str) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in getattr(row, kind)))


def _heading(name: str) -> str:
    return f"Values: {name.split('_')[0].split('@')[0]}"


def _line(name: str, title: str, rows: Sequence[Row], *names: str) -> Line:
    values = [next((v for candidate in names if (v := value_of(row, candidate)) is not None), None) for row in rows]
    first = values[0] if values else None
    cells = [
        _cell(value, row, first if place else None) for place, (value, row) in enumerate(zip(values, rows, strict=True))
    ]
    return Line(name, title, cells)


def _printed(value: Value) -> str:
    printed = value.evidence.get("printed")
    return printed if isinstance(printed, str) else ""


def _decimals(value: Value) -> int:
    if printed := _printed(value):
        return printed_digits(printed)
    return DIGITS if value.value is None or abs(value.value) < 1000 else 1


def _cell(value: Value | None, row: Row, first: Value | None) -> Cell:
    """One model's value; a difference has the decimals of the coarser of its two numbers."""
    published = row.provenance == "published"
    if value is None or value.value is None:
        return Cell(lacking(value, published), missing=True, reason="" if value is None else plain(value.reason))
    digits = _decimals(value)

    def show(shown_number: float) -> str:
        return number(shown_number, digits)

    ideal = ideal_of(row, value.name)
    three = numbers_in_row(row, value.name, value, show)
    difference = ""
    if first is not None and first.value is not None:
        coarser = min(digits, _decimals(first))
        difference = number(value.value - first.value, coarser, signed=True)
    chance = "" if three.chance_text == NOTHING else f"by chance {three.chance_text}"
    return Cell(
        shown(value) if _printed(value) else three.value_text,
        difference=difference,
        interval=three.interval_text,
        below=[text for text in (three.missing_text, chance, three.verdict) if text],
        facts=folded_facts(value, ideal, show, published=published),
    )


def facts(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Facts about the models: heading -> one text per model, made plain."""
    return {
        "Organisation": [plain(row.organisation) or "not stated" for row in rows],
        "Evidence": [behind(row, row.scores.values()) for row in rows],
        "Whose answers": [plain(row.copy_of or row.claim) or "–" for row in rows],
        "Proved owner": [plain(row.owner) or "–" for row in rows],
        "Class": [CLASSES[row.row_class].title for row in rows],
        "Rank": [_rank(row) for row in rows],
        "Cohort": [plain(row.cohort) or "–" for row in rows],
        "Licence": [plain(row.facts.licence) or "not stated" for row in rows],
        "Architecture": [plain(row.facts.architecture) or "not stated" for row in rows],
        "Parameters": [_parameters(row) for row in rows],
        "Open weights": [{True: "yes", False: "no", None: "not stated"}[row.facts.open_weights] for row in rows],
        "Tasks": [", ".join(row.facts.tasks) or "not stated" for row in rows],
        "Remarks": [_remarks(row) for row in rows],
    }


def _rank(row: Row) -> str:
    if row.rank is not None:
        return f"{row.rank} among the rows {CLASSES[row.row_class].among}"
    return "a baseline, not ranked" if row.provenance == "baseline" and row.ranked is not None else "not ranked"


def _remarks(row: Row) -> str:
    reasons = list(dict.fromkeys((*row.remarks, *row.unranked)))
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    return "; ".join(shortened(plain(reason), 120) for reason in reasons[:MOST_REASONS]) + more or "–"


def _parameters(row: Row) -> str:
    return "not stated" if row.facts.parameters is None else f"{row.facts.parameters:g} billion"


def making(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Origin of the figures: heading -> one text per model; '–' if not applicable."""
    texts: dict[str, list[str]] = {"Source": [plain(row.source) for row in rows]}
    by_row = [dict(_made(row)) for row in rows]
    for heading in dict.fromkeys(heading for row_texts in by_row for heading in row_texts):
        texts[heading] = [row_texts.get(heading, "–") for row_texts in by_row]
    return texts


def _made(row: Row) -> Iterator[tuple[str, str]]:
    if row.result is None:
        yield "Records", "none: printed figures"
        return
    yield "Revision", plain(str(row.result.meta.get("revision", "")))
    for name, text in row.result.signature.items():
        if name == SKETCH:  # says nothing to readers
            continue
        yield name.replace("_", " ").capitalize(), plain(str(text))
    for place, stage in enumerate(row.result.run, 1):
        yield f"Stage {place}", plain(_stage(stage))


def _stage(stage: Mapping[str, object]) -> str:
    parts = [f"{stage.get('what')}: {stage.get('model')} ({stage.get('revision')})"]
    parts.append(f"{stage.get('engine')} {stage.get('engine_version')}")
    for name in ("settings", "datasets"):
        about = stage.get(name)
        if isinstance(about, Mapping) and about:
            parts.append(", ".join(f"{key} {value}" for key, value in about.items()))
    return "; ".join(parts)
