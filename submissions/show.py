"""What the command prints: tables of scores and values, faults, and the board. Submitted text is never markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from submissions.board import Row
from submissions.faults import Fault, plain
from submissions.format import Submission
from submissions.manifest import SAMPLE_MARK, Stage, limit_mark, on_sample
from submissions.registry import benchmark
from submissions.result import Result, limits_of
from submissions.values import Value

_OUT = Console(highlight=False)
if not _OUT.is_terminal:
    _OUT = Console(highlight=False, width=160)


_SHORT = 70
"""A reason of so many characters is told each time."""


def number(value: float | None) -> str:
    """Four significant digits or two decimals, whichever says more; a dash for no number."""
    if value is None:
        return "–"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4f}"


def _cell(text: object) -> Text:
    """Untrusted text as it is: no markup, no escape sequence, no mark that reorders it."""
    return Text(plain(str(text)))


def values(title: str, rows: Iterable[Value]) -> None:
    """A table of values: number, bounds, state, coverage, counts, reason; a reason that comes again is told once."""
    table = _table(title)
    table.add_column("name", no_wrap=True)
    for column in ("value", "lowest", "highest", "coverage", "valid/expected"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("state")
    told: dict[str, str] = {}
    for value in rows:
        coverage = "–" if value.coverage is None else f"{value.coverage:.1%}"
        counts = f"{value.valid}/{value.expected}" if value.expected else "–"
        first = told.setdefault(value.reason, value.name)
        reason = value.reason if first == value.name or len(value.reason) <= _SHORT else f"as {first}"
        state = value.state.replace("_", " ") + (f": {reason}" if reason else "")
        cells = (value.name, number(value.value), number(value.low), number(value.high), coverage, counts, state)
        table.add_row(*map(_cell, cells))
    _OUT.print(table)


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table of whatever rows, the first column from the left."""
    drawn = _table(title)
    for place, header in enumerate(headers):
        drawn.add_column(header, justify="right" if 0 < place < len(headers) - 1 else "left")
    for row in rows:
        drawn.add_row(*map(_cell, row))
    _OUT.print(drawn)


def result(found: Result) -> None:
    """Scores, raw values, and whether the model is ranked."""
    bench = benchmark(found.benchmark)
    draft = getattr(bench.standards[found.standard], "draft", "")
    _OUT.print(_cell(f"{found.meta.get('model')} on {bench.title}, standard {found.standard}"), style="bold")
    if draft:
        _OUT.print(_cell(f"This standard is a draft: {draft}."))
    for mark in limits_of(found):
        _OUT.print(_cell(f"A part of the benchmark: {mark}."))
    values("Raw values", found.values.values())
    values("Scores", found.scored.scores.values())
    for name, label in found.scored.labels.items():
        _OUT.print(_cell(f"{name}: {label}"))
    if found.scored.unranked:
        _OUT.print(_cell("Not ranked:"), style="bold")
        for reason in found.scored.unranked:
            _OUT.print(_cell(f"- {reason}"))
    else:
        _OUT.print(_cell(f"Ranked by {found.scored.ranking}, worst case: {number(found.scored.ranked)}"))
    signature = " ".join(f"{key}={text}" for key, text in found.signature.items())
    _OUT.print(_cell(f"Signature: {signature}"), style="dim")


def checked(path: Path, submission: Submission) -> None:
    """What a faultless submission holds."""
    rows = ", ".join(f"{table.num_rows} {name}" for name, table in submission.tables.items())
    _OUT.print(_cell(f"{path}: no faults. {submission.meta.model}, {submission.meta.benchmark}: {rows}."))
    for done in submission.manifest.stages if submission.manifest is not None else ():
        _OUT.print(_cell(f"- {stage(done)}"))


def faults(found: Sequence[Fault]) -> None:
    """Every fault with its code, place, what was found, what was expected and the remedy."""
    _OUT.print(_cell(f"{len(found)} fault{'s' * (len(found) != 1)}"), style="bold red")
    for fault in found:
        more = f" (and {fault.count - 1} more like it)" if fault.count > 1 else ""
        _OUT.print(_cell(f"{fault.code} at {fault.where}{more}"), style="bold")
        for label, text in (("found", fault.what), ("expected", fault.expected), ("mend", fault.mend)):
            _OUT.print(_cell(f"  {label}: {text}"))


def notes(found: Iterable[str]) -> None:
    """What a submitter may want to know, though it is no fault."""
    for note in found:
        _OUT.print(_cell(f"Note: {note}"))


def board(name: str, standard: str, rows: Sequence[Row]) -> None:
    """The board of one benchmark, a table for each cohort: rows of different cohorts have no common rank."""
    bench = benchmark(name)
    for cohort in dict.fromkeys(row.cohort for row in rows):
        shown = [row for row in rows if row.cohort == cohort]
        title = f"{bench.title}, standard {standard}" + (f": {cohort}" if cohort else "")
        _cohort(title, shown, bench.headline)


def _cohort(title: str, rows: Sequence[Row], headline: Sequence[str]) -> None:
    columns = dict.fromkeys(name for row in rows for name, value in row.scores.items() if value.value is not None)
    columns = {name: None for name in columns if not headline or name in headline}
    table = _table(title)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold", min_width=min(24, max(len(row.model) for row in rows)))
    table.add_column("from", no_wrap=True)
    for column in columns:
        numbers = [number(row.scores[column].value) for row in rows if column in row.scores]
        width = max(len(part) for part in (*numbers, *column.split("_")))
        table.add_column(column.replace("_", " "), justify="right", min_width=width, max_width=width)
    profiles = any(key.startswith("profile") for row in rows for key in row.labels)
    if profiles:
        table.add_column("profile", no_wrap=True)
    for row in rows:
        name = "; ".join((row.model, *row.remarks))
        cells = [str(row.rank or "–"), name, row.provenance.removesuffix(" here")]
        cells += [number(row.scores[c].value) if c in row.scores else "–" for c in columns]
        if profiles:
            cells.append(" / ".join(text for key, text in row.labels.items() if key.startswith("profile")) or "–")
        table.add_row(*map(_cell, cells))
    _OUT.print(table)


def row_json(row: Row) -> Mapping[str, Any]:
    """One row of a board as JSON data."""
    return {
        "rank": row.rank,
        "model": row.model,
        "organisation": row.organisation,
        "provenance": row.provenance,
        "source": row.source,
        "cohort": row.cohort,
        "ranked": row.ranked,
        "unranked": list(row.unranked),
        "remarks": list(row.remarks),
        "labels": dict(row.labels),
        "scores": {name: value.to_json() for name, value in row.scores.items()},
        "footnotes": [vars(footnote) for footnote in row.footnotes],
    }


def stage(done: Stage) -> str:
    """One stage of a manifest in a line: what, by which model, how many requests with which fates, tokens."""
    fates = ", ".join(f"{number:,} {fate}" for fate, number in done.fates.items() if number)
    tokens = f"; {done.input_tokens:,} tokens in, {done.output_tokens:,} out" if done.input_tokens else ""
    part = f"; {limit_mark(done.limit, done.stratified)}" if done.limit is not None else ""
    part += f"; {SAMPLE_MARK}" if on_sample(done.run()) else ""
    return plain(f"{done.what} by {done.model}: {fates or 'nothing'}{tokens}{part}")
