"""What `fairspace score` and `fairspace check` print: scores, raw values, corrected values, stages of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.coverage import TaskCoverage
from fairspace.submissions.commands.show.instruments import HEADERS, other_instruments, tier_2_share
from fairspace.submissions.commands.show.numbers import number
from fairspace.submissions.commands.show.readings import show_outcomes
from fairspace.submissions.commands.show.tables import OUT, cell, chance, new_table, table, values
from fairspace.submissions.errors import plain
from fairspace.submissions.format.manifest import SAMPLE_MARK, Stage, limit_mark, on_sample
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.uncertainty.variant import Kind, Variant
from fairspace.submissions.values import Value

_INSTRUMENTS: Mapping[Kind, str] = {
    "labels_corrected": "Corrected for the labeller's errors",
    "human_labels": "Corrected by people's labels",
}
_HANDED_IN = """\
Handed in is every answer, also one that refuses or that cannot be used: these are known, and
counted as what they are. Only what was not handed in widens the bounds of a value."""


def show_result(result: Result) -> None:
    """Print scores, raw values, and whether the model is ranked."""
    bench = benchmark(result.benchmark)
    draft = getattr(bench.standards[result.standard], "draft", "")
    OUT.print(cell(f"{result.meta.get('model')} on {bench.title}, standard {result.standard}"), style="bold")
    if draft:
        OUT.print(cell(f"This standard is a draft: {draft}."))
    for mark in limits_of(result):
        OUT.print(cell(f"A part of the benchmark: {mark}."))
    if result.readings:
        show_outcomes("How the answers were read", result.readings)
    values("Raw values", result.values.values())
    for kind, title in _INSTRUMENTS.items():
        for variant in result.variants:
            if variant.kind == kind:
                _corrected(title, variant, result.values)
    if share := tier_2_share(result):
        OUT.print(cell(share))
    values("Scores", result.scored.scores.values())
    rows, about = other_instruments(result)
    if rows:
        table("Other instruments", HEADERS, rows)
    for note in about:
        OUT.print(cell(note))
    for name, label in result.scored.labels.items():
        OUT.print(cell(f"{name}: {label}{chance(result.scored.chances, name)}"))
    if result.scored.unranked:
        OUT.print(cell("Not ranked:"), style="bold")
        for reason in result.scored.unranked:
            OUT.print(cell(f"- {reason}"))
    else:
        OUT.print(cell(f"Ranked by {result.scored.ranking}, worst case: {number(result.scored.ranked)}"))
    signature = " ".join(f"{key}={text}" for key, text in result.signature.items())
    OUT.print(cell(f"Signature: {signature}"), style="dim")


def _corrected(title: str, variant: Variant, raw: Mapping[str, Value]) -> None:
    """Print the raw values, which are ranked, beside the corrected ones of a variant.

    A corrected value has no bias of small samples, so it compares with the debiased raw value.
    """
    table = new_table(title)
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
        table.add_row(*map(cell, (name, number(raw[name].value), spans[0], debiased, number(value), spans[1])))
    OUT.print(table)
    OUT.print(cell(f"By {variant.name}. Ranked are the raw values. {variant.note}"))


def show_checked(path: Path, submission: Submission, coverage: Iterable[TaskCoverage]) -> None:
    """Print what a faultless submission holds, and what its samples are enough for."""
    held = ", ".join(f"{rows.num_rows} {name}" for name, rows in submission.tables.items())
    OUT.print(cell(f"{path}: no faults. {submission.meta.model}, {submission.meta.benchmark}: {held}."))
    for done in submission.manifest.stages if submission.manifest is not None else ():
        OUT.print(cell(f"- {stage(done)}"))
    rows = [
        (task.task, f"{task.handed_in:,}", f"{task.expected:,}", task.share, f"{task.needed:,}", task.enough_for)
        for task in coverage
    ]
    table("Samples", ("task", "handed in", "expected", "share", "rank needs", "enough samples for"), rows)
    OUT.print(_HANDED_IN)


def stage(done: Stage) -> str:
    """One stage of a manifest in a line: what, by which model, how many requests with which fates, tokens."""
    fates = ", ".join(f"{number:,} {fate}" for fate, number in done.fates.items() if number)
    tokens = f"; {done.input_tokens:,} tokens in, {done.output_tokens:,} out" if done.input_tokens else ""
    part = f"; {limit_mark(done.limit, done.stratified)}" if done.limit is not None else ""
    part += f"; {SAMPLE_MARK}" if on_sample(done.run()) else ""
    return plain(f"{done.what} by {done.model}: {fates or 'nothing'}{tokens}{part}")
