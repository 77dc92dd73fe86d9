"""What the command prints: tables of scores and values, faults, and the board. Submitted text is never markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show.instruments import HEADERS, other_instruments, tier_2_share
from fairspace.submissions.commands.show.numbers import number, span, without_number
from fairspace.submissions.errors import plain
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.format.manifest import SAMPLE_MARK, Stage, limit_mark, on_sample
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.row_fields import ROW_FIELDS
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.uncertainty.variant import Kind, Variant
from fairspace.submissions.values import Value

_OUT = Console(highlight=False)
if not _OUT.is_terminal:
    _OUT = Console(highlight=False, width=160)


_ROW = (
    *("rank", "tier", "rank_range", "no_tier", "model", "organisation", "provenance", "source", "cohort"),
    *("ranked", "unranked", "remarks", "labels", "chances"),
)
"""Fields of a row in JSON, before its scores."""
_INSTRUMENTS: Mapping[Kind, str] = {
    "labels_corrected": "Corrected for the labeller's errors",
    "human_labels": "Corrected by people's labels",
}


def _cell(text: object) -> Text:
    """Untrusted text as it is: no markup, no escape sequence, no mark that reorders it."""
    return Text(plain(str(text)))


def values(title: str, rows: Iterable[Value]) -> None:
    """Values with a number as a table: error, bounds, coverage, counts, state. Below it all others, by their reason."""
    told = list(rows)
    rows = [value for value in told if value.state == "value"]
    if rows:
        _numbers(title, rows)
    else:
        _OUT.print(_cell(title), style="italic")
    _OUT.print(*map(_cell, without_number(told)), sep="\n", end="\n" * (len(rows) < len(told)))


def _numbers(title: str, rows: Sequence[Value]) -> None:
    sure = any(value.uncertainty is not None for value in rows)
    table = _table(title)
    table.add_column("name", no_wrap=True)
    errors = ("95 % interval", "error", "debiased", "fair model") if sure else ()
    for column in ("value", *errors, "lowest", "highest", "coverage", "valid/expected"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("state")
    for value in rows:
        coverage = "–" if value.coverage is None else f"{value.coverage:.1%}"
        counts = f"{value.valid}/{value.expected}" if value.expected else "–"
        state = value.state + (f": {value.reason}" if value.reason else "")
        told_of = _error_cells(value.uncertainty) if sure else ()
        cells = (number(value.value), *told_of, number(value.low), number(value.high), coverage, counts, state)
        table.add_row(*map(_cell, (value.name, *cells)))
    _OUT.print(table)


def _error_cells(about: Uncertainty | None) -> tuple[str, ...]:
    """Interval, standard error, debiased value, and what 95 % of perfectly fair models stay within."""
    if about is None:
        return ("–",) * 4
    return (_span(about), number(about.error), number(about.debiased), number(about.fair_high))


def _span(about: Uncertainty | None) -> str:
    return span(None if about is None else (about.low, about.high))


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
    for kind, title in _INSTRUMENTS.items():
        for variant in found.variants:
            if variant.kind == kind:
                _corrected(title, variant, found.values)
    if share := tier_2_share(found):
        _OUT.print(_cell(share))
    values("Scores", found.scored.scores.values())
    rows, about = other_instruments(found)
    if rows:
        table("Other instruments", HEADERS, rows)
    for note in about:
        _OUT.print(_cell(note))
    for name, label in found.scored.labels.items():
        _OUT.print(_cell(f"{name}: {label}{_chance(found.scored.chances, name)}"))
    if found.scored.unranked:
        _OUT.print(_cell("Not ranked:"), style="bold")
        for reason in found.scored.unranked:
            _OUT.print(_cell(f"- {reason}"))
    else:
        _OUT.print(_cell(f"Ranked by {found.scored.ranking}, worst case: {number(found.scored.ranked)}"))
    signature = " ".join(f"{key}={text}" for key, text in found.signature.items())
    _OUT.print(_cell(f"Signature: {signature}"), style="dim")


def _corrected(title: str, variant: Variant, raw: Mapping[str, Value]) -> None:
    """Raw values beside those of a variant, with their intervals; ranked are the raw ones.

    Corrected are values less their bias at this number of samples: what they compare with is the raw one debiased.
    """
    table = _table(title)
    table.add_column("name", no_wrap=True)
    for column in ("raw", "raw 95 %", "raw debiased", "corrected", "corrected 95 %"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, value in variant.values.items():
        if name not in raw:  # a result of another version
            continue
        sure = raw[name].uncertainty
        ends = (None if sure is None else (sure.low, sure.high), variant.intervals.get(name))
        spans = ["–" if end is None else f"{number(end[0])} to {number(end[1])}" for end in ends]
        debiased = number(None if sure is None else sure.debiased)
        table.add_row(*map(_cell, (name, number(raw[name].value), spans[0], debiased, number(value), spans[1])))
    _OUT.print(table)
    _OUT.print(_cell(f"By {variant.name}. Ranked are the raw values. {variant.note}"))


def _chance(chances: Mapping[str, float], name: str) -> str:
    """`, P = 0.93`, and never a certainty that a few hundred draws cannot give; '' where nothing is known."""
    if name not in chances:
        return ""
    chance = chances[name]
    return f", P {'> 0.99' if chance > 0.995 else '< 0.01' if chance < 0.005 else f'= {chance:.2f}'}"


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
        _cohort(title, with_errors(shown, standard), bench.headline)


def _cohort(title: str, rows: Sequence[Row], headline: Sequence[str]) -> None:
    columns = dict.fromkeys(name for row in rows for name, value in row.scores.items() if value.value is not None)
    columns = {name: None for name in columns if not headline or name in headline}
    table = _table(title)
    table.add_column("rank", justify="right", no_wrap=True)
    sure = {row.entry: about for row in rows if (about := _of_total(row)) is not None}
    if sure:
        table.add_column("tier", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold", min_width=min(24, max(len(row.model) for row in rows)))
    table.add_column("from", no_wrap=True)
    for column in columns:
        numbers = [number(row.scores[column].value) for row in rows if column in row.scores]
        width = max(len(part) for part in (*numbers, *column.split("_")))
        table.add_column(column.replace("_", " "), justify="right", min_width=width, max_width=width)
    if sure:
        table.add_column("95 % interval", justify="right", no_wrap=True)
    profiles = any(key.startswith("profile") for row in rows for key in row.labels)
    if profiles:
        table.add_column("profile", no_wrap=True)
    for row in rows:
        name = "; ".join((row.model, *row.remarks))
        cells = [str(row.rank or "–"), *([str(row.tier or "–")] if sure else [])]
        cells += [name, row.provenance.removesuffix(" here")]
        cells += [number(row.scores[c].value) if c in row.scores else "–" for c in columns]
        if sure:
            cells.append(_span(sure.get(row.entry)))
        if profiles:
            codes = [(key, text) for key, text in row.labels.items() if key.startswith("profile")]
            cells.append(" / ".join(f"{text}{_chance(row.chances, key)}" for key, text in codes) or "–")
        table.add_row(*map(_cell, cells))
    _OUT.print(table)


def _of_total(row: Row) -> Uncertainty | None:
    """The uncertainty of the score that a row is ranked by."""
    value = None if row.result is None else row.scores.get(row.result.scored.ranking)
    return None if value is None else value.uncertainty


def row_json(row: Row) -> Mapping[str, Any]:
    """One row of a board as JSON data."""
    fields = {name: ROW_FIELDS[name].of(row) for name in _ROW}
    scores = {name: value.to_json() for name, value in row.scores.items()}
    return {**fields, "scores": scores, "footnotes": ROW_FIELDS["footnotes"].of(row)}


def stage(done: Stage) -> str:
    """One stage of a manifest in a line: what, by which model, how many requests with which fates, tokens."""
    fates = ", ".join(f"{number:,} {fate}" for fate, number in done.fates.items() if number)
    tokens = f"; {done.input_tokens:,} tokens in, {done.output_tokens:,} out" if done.input_tokens else ""
    part = f"; {limit_mark(done.limit, done.stratified)}" if done.limit is not None else ""
    part += f"; {SAMPLE_MARK}" if on_sample(done.run()) else ""
    return plain(f"{done.what} by {done.model}: {fates or 'nothing'}{tokens}{part}")
