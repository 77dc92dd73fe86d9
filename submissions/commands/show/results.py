"""Output of `fairspace score`, `check` and `readings`: scores, raw values, sensitivity analysis, stages, readings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rich.text import Text

from fairspace.submissions.answers.rows import COUNTED, Example, Summary
from fairspace.submissions.benchmarks.benchmark import Ideal
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.consistency import Proof, broken
from fairspace.submissions.checking.submission import TaskCoverage
from fairspace.submissions.commands.show.tables import OUT, WIDTH, cell, show_wrapped, table
from fairspace.submissions.commands.show.values import MORE, show_values
from fairspace.submissions.errors import plain
from fairspace.submissions.format.manifest import SAMPLE_MARK, Stage, limit_mark, on_sample
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.headline import Headline, first_values, headline, opening, way
from fairspace.submissions.results.known_answers import SKETCH
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import instrument_ranges, variant_scores
from fairspace.submissions.results.three_numbers import CHANCE_SIGNS, DEBIASED, SENTENCES, folded_facts
from fairspace.submissions.uncertainty.uncertainty import Kind, Variant, ranges
from fairspace.submissions.values import Value

INSTRUMENTS: Mapping[Kind, str] = {
    "occupation_threshold": "threshold of tier 2",
    "judge": "another judge",
    "name_swap": "one parse alone",
    "repeated_evaluations": "repeated evaluations",
    "reading_errors": "errors of reading",
    "second_reader": "a second reader",
    "authors_reading": "the authors' reading",
}
HEADERS = ("name", "measured", "smallest", "largest", "by")
Row = tuple[str, ...]
_INSTRUMENTS: Mapping[Kind, str] = {
    "labels_corrected": "Corrected for the labeller's errors",
    "labels_transported": "Corrected for a labeller that is worse here than where it was tested",
    "human_labels": "Corrected by people's labels",
}
_LABEL, _ITEMS = 14, 3
"""Width of a label in the headline, and most values with items, in the details."""
_HANDED_IN = (
    "Handed in is every answer, also one that refuses or that cannot be used: these are known, and counted as what "
    "they are. Only what was not handed in widens the bounds of a value."
)


def show_result(result: Result, *, details: bool = False, everything: bool = False) -> None:
    """Print the sentences of a result, and its first values in a line each.

    `details`: also the meanings of these values, readings, items, and what a rank lacks; `everything`: also component
    metrics, all facts of each value, sensitivity analysis, the signature.
    """
    bench, known, details = benchmark(result.benchmark), result.scored.shown, details or everything

    def ideal(name: str) -> Ideal | None:
        return bench.ideal(name, result.standard)

    OUT.print(cell(f"{result.meta.get('model')} on {bench.title}, standard {result.standard}"), style="bold")
    draft = getattr(bench.standards[result.standard], "draft", "")
    for line in [*([f"This standard is a draft: {draft}."] if draft else []), *opening(result)]:
        show_wrapped(line, hanging=2)
    parts = {"": [*(known if everything else first_values(result)).values()]}
    if everything:
        parts["Component metrics"] = [*result.values.values()]
    for title, values in parts.items():
        shown = values if details else [value for value in values if value.state == "value"]
        ways = {value.name: way(bench, ideal(value.name), is_score=value.name in known) for value in values}
        meanings = {value.name: bench.describe(value.name) for value in values} if details else {}
        show_values(title, shown, ideal, meanings, result.values, ways)
        if without := [value.name for value in values if value not in shown]:
            show_wrapped(f"Without a number: {', '.join(without)}.")
    show_wrapped(f"{CHANCE_SIGNS} {'' if everything else MORE[details]}", style="dim")
    if not details:
        return
    _show_headline(headline(result, digits))
    if result.readings:
        show_outcomes("How the answers were read", result.readings)
    if share := tier_2_share(result):
        show_wrapped(share)
    _show_items(result)
    if everything:
        _show_facts([value for values in parts.values() for value in values], result, ideal)
        _show_instruments(result)
    if result.consistency:
        _show_consistency(result.consistency, everything)
    if everything:
        signature = " ".join(f"{key}={text}" for key, text in result.signature.items() if key != SKETCH)
        show_wrapped(f"Signature: {signature}", style="dim")


def _show_headline(top: Headline) -> None:
    OUT.print()
    OUT.print(cell(top.number), style="bold")
    for label, text in top.facts:
        _labelled(label, text)
    for reason in top.unranked:
        _labelled("why no rank", reason)


def _show_items(result: Result) -> None:
    """Print the worst and a typical answer of the first values in a line each."""
    lines = [
        f"{name}, {kind}: {item.id}, {shortened(item.before + item.marked + item.after or item.value, 60)}"
        for name, items in [*result.items.items()][:_ITEMS]
        for kind in ("worst", "typical")
        if (item := next((item for item in items if item.kind == kind), None)) is not None
    ]
    for line in lines:
        show_wrapped(line, hanging=2)


def _show_facts(values: Iterable[Value], result: Result, ideal: Callable[[str], Ideal | None]) -> None:
    """Print the collapsed facts of values with a number, and what the facts are."""
    instruments = instrument_ranges(result, variant_scores(result, result.standard))
    for value in values:
        if value.state == "value":
            OUT.print(cell(value.name), style="bold")
            facts = folded_facts(value, ideal(value.name), digits, instruments=instruments.get(value.name))
            for name, text in facts.items():
                show_wrapped(f"{name}: {text}", "  ")
    OUT.print(cell("What these facts are"), style="bold")
    for name, sentence in SENTENCES.items():
        show_wrapped(f"{name}: {sentence}", "  ")


def _labelled(label: str, text: str) -> None:
    lines = textwrap.wrap(plain(text), WIDTH - max(_LABEL, len(label) + 3), break_on_hyphens=False)
    for number_of_line, line in enumerate(lines):
        OUT.print(cell(f"  {'' if number_of_line else label} ".ljust(_LABEL) + line))


def _show_consistency(proof: Proof, everything: bool) -> None:
    failed = broken(proof)
    if everything or failed:
        headers = ("task", "expected", "answers", "readings", "missing", "twice", "unknown", "unread", "one to one")
        rows = [
            (task, *(f"{n:,}" for n in (held.expected, held.answers, held.readings, held.missing, held.duplicates)),
             f"{held.unknown + held.orphans:,}", f"{held.unread:,}", "yes" if held.holds else "no")
            for task, held in proof.items()
        ]  # fmt: skip
        table("Consistency of items, answers and readings", headers, rows)
    outcome = f"broken in {', '.join(failed)}" if failed else "passed"
    show_wrapped(f"Integrity check of {len(proof)} tasks (items, answers and readings match one to one): {outcome}.")


def _show_instruments(result: Result) -> None:
    for kind, title in _INSTRUMENTS.items():
        for variant in result.variants:
            if variant.kind == kind:
                _corrected(title, variant, result.values)
    rows, about = other_instruments(result)
    if rows:
        table("Sensitivity analysis", HEADERS, rows)
    for note in about:
        show_wrapped(note)


def _corrected(title: str, variant: Variant, raw: Mapping[str, Value]) -> None:
    """A corrected value has no bias of few samples, so it compares with the lower estimate of the raw value."""
    rows = []
    for name, value in variant.values.items():
        if name in raw:  # else a result of another version
            about, ends = raw[name].uncertainty, (raw[name].interval, variant.intervals.get(name))
            spans = ["–" if end is None else f"{digits(end[0])} to {digits(end[1])}" for end in ends]
            debiased = digits(None if about is None else about.debiased)
            rows.append((name, digits(raw[name].value), spans[0], debiased, digits(value), spans[1]))
    table(title, ("name", "raw", "raw 95 %", DEBIASED, "corrected", "corrected 95 %"), rows)
    show_wrapped(f"By {variant.name}. Ranked are the raw values. {variant.note}")


def show_checked(path: Path, submission: Submission, coverage: Iterable[TaskCoverage]) -> None:
    """Print the content of a faultless submission, and the ranks for which its samples suffice."""
    held = ", ".join(f"{rows.num_rows} {name}" for name, rows in submission.tables.items())
    show_wrapped(f"{path}: no faults. {submission.meta.model}, {submission.meta.benchmark}: {held}.")
    for done in submission.manifest.stages if submission.manifest is not None else ():
        show_wrapped(f"- {stage(done)}")
    rows = [
        (task.task, f"{task.handed_in:,}", f"{task.expected:,}", task.share, f"{task.needed:,}", task.enough_for)
        for task in coverage
    ]
    table("Samples", ("task", "handed in", "expected", "share", "rank needs", "enough for"), rows, whole=1)
    show_wrapped(_HANDED_IN)


def stage(done: Stage) -> str:
    """A stage of a manifest in one line: task, model, fates of the requests, tokens."""
    fates = ", ".join(f"{number:,} {fate}" for fate, number in done.fates.items() if number)
    tokens = f"; {done.input_tokens:,} tokens in, {done.output_tokens:,} out" if done.input_tokens else ""
    part = f"; {limit_mark(done.limit, done.stratified)}" if done.limit is not None else ""
    part += f"; {SAMPLE_MARK}" if on_sample(done.run()) else ""
    return plain(f"{done.what} by {done.model}: {fates or 'nothing'}{tokens}{part}")


def course_line(done: Stage) -> str:
    """Duration and tokens of a stage, and notable shares of its answers; '' if unknown."""
    course = {name: float(n) for name, n in done.course.items() if isinstance(n, int | float) and n}
    seconds, tokens = course.get("seconds", 0.0), course.get("output_tokens", 0.0)
    parts = [f"{seconds / 60:,.1f} min", f"{tokens:,.0f} tokens of answers"]
    if seconds and tokens:
        parts.append(f"{tokens / seconds:.1f} tokens/s")
    shares = {name: word for name, word in SHARES.items() if name in course}
    shares |= {name: name.replace("_", " ", 1) for name in course if name.startswith("readable_")}
    parts += [f"{word} {course[name]:.1%}" for name, word in shares.items()]
    return plain(f"That took {'; '.join(parts)}.") if course else ""


SHARES = {"empty": "empty", "looping": "looping", "cut_off": "cut off at their greatest length"}
"""Share in a stage's `course` -> its words."""


def tier_2_share(result: Result) -> str:
    """Number of answers of IRIS that tier 2 decided, 0 included; '' where no occupation was asked for."""
    for value in result.values.values():
        if "tier_2_share" in value.evidence:
            share = value.evidence["tier_2_share"]
            return f"{share:.1%}".replace("%", " %") + (
                " of the answers to the occupation question were decided by tier 2 (embedding)."
            )
    return ""


def other_instruments(result: Result) -> tuple[list[Row], list[str]]:
    """Rows of `HEADERS` for all raw values and scores that another instrument moves; lines about each instrument."""
    scores = variant_scores(result, result.standard)
    rows: list[Row] = []
    notes: list[str] = []
    for kind, by in INSTRUMENTS.items():
        variants = [variant for variant in result.variants if variant.kind == kind]
        if not variants:
            continue
        for name, ends in ranges(variants, kind).items():
            raw = result.values[name].value if name in result.values else None
            moved = raw is not None and not ends[0] == ends[1] == raw
            if moved and kind != "reading_errors":  # which move nearly every value
                rows.append((name, digits(raw), *map(digits, ends), by))
        shifted = {name: ends for name, ends in scores[kind].items() if ends[0] < ends[1]}
        for name, ends in shifted.items():
            rows.append((f"score {name}", digits(result.scored.scores[name].value), *map(digits, ends), by))
        told = dict.fromkeys(variant.note for variant in variants if variant.note)
        if len(told) > 1:
            text = "; ".join(f"{variant.name}: {variant.note}" for variant in variants)
        else:
            text = ". ".join([", ".join(variant.name for variant in variants), *told])
        notes.append(
            f"{by.capitalize()}: {text.rstrip('.')}. The range of a score holds the measured one; "
            f"{len(scores[kind]) - len(shifted)} scores stay as they are."
        )
    return rows, notes


def show_summaries(name: str, summaries: Mapping[str, Summary]) -> None:
    """Print the outcomes and rules of the readings per task, then examples with the read span marked."""
    if not summaries:
        OUT.print(cell(f"{name} holds no task that is answered with text."))
        return
    show_outcomes(f"Readings of {name}", summaries)
    for task, summary in summaries.items():
        rules = ", ".join(f"{rule or 'no rule'} {count:,}" for rule, count in summary.rules.items())
        OUT.print(cell(f"{task}, read by: {rules}"), style="bold")
        for example in summary.examples:
            OUT.print(_example(example))


def show_outcomes(title: str, summaries: Mapping[str, Summary]) -> None:
    """Print the number of answers per task and outcome (`COUNTED`)."""
    rows = [(task, *(f"{each.outcomes[outcome]:,}" for outcome in COUNTED)) for task, each in summaries.items()]
    table(title, ("task", *(header.replace("_", " ") for header in COUNTED)), rows)


def _example(example: Example) -> Text:
    """An answer in one line: its reading, and its text with the read span in brackets and reversed colours."""
    read = example.outcome if example.value is None else f"{example.outcome} {shortened(example.value, 40)}"
    line = cell(f"  {read} ({example.rule}): {example.before}" if example.rule else f"  {read}: {example.before}")
    if example.marked:
        line.append_text(Text(f"[{plain(example.marked)}]", style="reverse"))
    return line.append_text(cell(example.after))


def shortened(text: str, length: int) -> str:
    """A text in one line of at most `length` characters, without control sequences."""
    text = " ".join(plain(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
