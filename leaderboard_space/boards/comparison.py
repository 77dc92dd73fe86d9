"""Up to four models side by side: every value by its numbers, what differs, and how each model was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fairspace.leaderboard_space.boards.figures.figures import value_of
from fairspace.leaderboard_space.boards.telling import behind
from fairspace.leaderboard_space.boards.text import printed_digits, shortened, shown
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.report.differences import Difference, differences
from fairspace.submissions.results.answer_sketch import SKETCH
from fairspace.submissions.results.folded_facts import Fact, folded_facts
from fairspace.submissions.results.row import CLASSES, Row
from fairspace.submissions.results.three_numbers import NOTHING, ideal_of, lacking, numbers_in_row
from fairspace.submissions.values import Value

DIGITS = 4
"""Decimals of what was scored here, and of what is shown in percent beside figures that are printed so."""
RATIO_DIGITS = 3
MOST_REASONS = 2


@dataclass(frozen=True)
class Cell:
    """One model's value.

    Args:
        text: the value as measured, or the state in words.
        missing: whether there is no number; `reason` says why.
        reason: why.
        difference: of the values to that of the first model, '' where one of the two has no number.
        interval: the value's 95 % interval, or a word that says why there is none.
        below: what missing answers could make of it, what fair models show by chance, and the verdict.
        facts: what is folded away.
        between: the 95 % interval of the difference or ratio, and whether it is significant; '' where nothing is known.
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
    """One value of all models: its name, what it is, and a cell for each."""

    name: str
    title: str
    cells: Sequence[Cell]


def lines(benchmark: str, rows: Sequence[Row], standard: str = "") -> dict[str, list[Line]]:
    """Heading -> lines: the scores, the values that the benchmark describes, then further ones by kind of value."""
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
    """The line with the intervals of its differences."""
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
    """The printed text of a value, '' if the paper does not print it."""
    printed = value.evidence.get("printed")
    return printed if isinstance(printed, str) else ""


def _decimals(value: Value) -> int:
    """Number of decimals of a value."""
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
    """The first reasons for a missing rank; the model's page has all."""
    reasons = list(dict.fromkeys((*row.remarks, *row.unranked)))
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    return "; ".join(shortened(plain(reason), 120) for reason in reasons[:MOST_REASONS]) + more or "–"


def _parameters(row: Row) -> str:
    return "not stated" if row.facts.parameters is None else f"{row.facts.parameters:g} billion"


def making(rows: Sequence[Row]) -> dict[str, list[str]]:
    """How the figures were made: heading -> one text per model; '–' if it does not apply."""
    texts: dict[str, list[str]] = {"Source": [plain(row.source) for row in rows]}
    by_row = [dict(_made(row)) for row in rows]
    for heading in dict.fromkeys(heading for row_texts in by_row for heading in row_texts):
        texts[heading] = [row_texts.get(heading, "–") for row_texts in by_row]
    return texts


def _made(row: Row) -> Iterator[tuple[str, str]]:
    """Revision, signature and stages of the result behind a row."""
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
