"""A result as text: its sentences, a line for each value, and in its details all facts, readings and instruments."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from fairspace.submissions.benchmarks.genres.parse.lexicons import REMEDIES
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.consistency import Proof, broken
from fairspace.submissions.errors import plain, web
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.known_answers import SKETCH
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import instrument_ranges, variant_scores
from fairspace.submissions.results.three_numbers import CHANCE_SIGNS, DEBIASED, SENTENCES, folded_facts
from fairspace.submissions.show.headline import Headline, first_values, headline, opening, value_table
from fairspace.submissions.show.instruments import instrument
from fairspace.submissions.show.submission import outcomes
from fairspace.submissions.show.table import WIDTH, Table, shortened, wrapped
from fairspace.submissions.uncertainty.uncertainty import Kind
from fairspace.submissions.values import Value, by_reason

INSTRUMENTS: Mapping[Kind, str] = {
    "occupation_threshold": "Threshold of tier 2",
    "judge": "Another judge",
    "name_swap": "One parse alone",
    "repeated_evaluations": "Repeated evaluations",
    "reading_errors": "Errors of reading",
    "second_reader": "A second reader",
    "authors_reading": "The authors' reading",
    "labels_corrected": "Corrected for the labeller's errors",
    "labels_transported": "Corrected for a labeller that is worse here than where it was tested",
    "human_labels": "Corrected by people's labels",
}
_LABEL, _ITEMS = 14, 3
"""Width of a label in the headline, and most values with items, in the details."""


def result_text(result: Result, *, details: bool = False, everything: bool = False) -> str:
    """The sentences of a result, and its first values in a line each, in 80 columns.

    `details`: also the meanings of these values, readings, items, and what a rank lacks; `everything`: also component
    metrics, all facts of each value, sensitivity analysis, the signature.
    """
    return "\n".join(_lines(result, details or everything, everything))


def result_html(result: Result) -> str:
    """The same as HTML, without details."""
    table = _first_table(result)
    top = "".join(f"<p>{web(text)}</p>" for text in (table.heading, *_opening(result)))
    remarks = "".join(f"<li>{web(text)}</li>" for text in _remarks(result))
    return f"{top}{table.html if table.rows else ''}<ul>{remarks}</ul>"


def _first_table(result: Result) -> Table:
    model = result.meta.get("model")
    prefix = "" if model in (None, "not stated") else f"{model} on "
    heading = f"{prefix}{benchmark(result.benchmark).title}, standard {result.standard}"
    return value_table("", heading, [result], [with_number(first_values(result))])


def _opening(result: Result) -> list[str]:
    draft = getattr(benchmark(result.benchmark).standards[result.standard], "draft", "")
    return [*([f"This standard is a draft: {draft}."] if draft else []), *opening(result)]


def _remarks(result: Result) -> list[str]:
    without = [name for name, value in first_values(result).items() if value.state != "value"]
    numbers = len(with_number(result.values))
    rest = f"; {numbers} component metrics have one, see --all or to_frame()" if numbers else ""
    labels = (f"{name}: {label}" for name, label in result.scored.labels.items())
    return [*([f"Without a number: {', '.join(without)}{rest}."] if without else []), *labels, CHANCE_SIGNS]


def with_number(values: Mapping[str, Value]) -> dict[str, Value]:
    """The values that have a number."""
    return {name: value for name, value in values.items() if value.state == "value"}


def _lines(result: Result, details: bool, everything: bool) -> Iterator[str]:
    table, bench = _first_table(result), benchmark(result.benchmark)
    yield plain(table.heading)
    yield from (wrapped(line, hanging=2) for line in _opening(result))
    if not details:
        yield from ("", table.to_text()) if table.rows else ()
        yield from map(wrapped, _remarks(result))
        return
    parts: dict[str, Mapping[str, Value]] = {"": result.scored.shown if everything else first_values(result)}
    if everything:
        parts["Component metrics"] = result.values
    for title, values in parts.items():
        shown = value_table("", title, [result], [with_number(values)], bench.describe)
        yield from ("", str(shown)) if shown.rows else ()
        yield from without_number(values.values())
    yield wrapped(CHANCE_SIGNS)
    yield from _headline(headline(result, digits))
    if result.readings:
        yield str(outcomes("How the answers were read", result.readings))
    if share := tier_2_share(result):
        yield wrapped(share)
    yield from _items(result)
    if everything:
        yield from _facts([value for values in parts.values() for value in values.values()], result)
        yield from _instruments(result)
    if result.consistency:
        yield from _consistency(result.consistency, everything)
    if everything:
        yield wrapped(f"Signature: {' '.join(f'{k}={text}' for k, text in result.signature.items() if k != SKETCH)}")


def without_number(values: Iterable[Value]) -> Iterator[str]:
    """Lines about values without a number, by reason: state and reason; names with valid/expected; the remedy."""

    def counted(value: Value) -> str:
        return value.name + (f" {value.valid}/{value.expected}" if value.expected else "")

    for (state, reason), names in by_reason(values, counted).items():
        yield wrapped(f"{state.capitalize()}: {reason}")
        yield wrapped(", ".join(names), "  ")
        if reason in REMEDIES:
            yield wrapped(f"to have it: {REMEDIES[reason]}", "  ")


def _headline(top: Headline) -> Iterator[str]:
    yield from ("", plain(top.number))
    for label, text in (*top.facts, *(("why no rank", reason) for reason in top.unranked)):
        parts = textwrap.wrap(plain(text), WIDTH - max(_LABEL, len(label) + 3), break_on_hyphens=False)
        yield from (f"  {'' if place else label} ".ljust(_LABEL) + part for place, part in enumerate(parts))


def _items(result: Result) -> Iterator[str]:
    """The worst and a typical answer of the first values in a line each."""
    for name, items in [*result.items.items()][:_ITEMS]:
        first = {item.kind: item for item in reversed(items) if item.kind in ("worst", "typical")}
        for kind, item in sorted(first.items(), reverse=True):
            text = shortened(item.before + item.marked + item.after or item.value, 60)
            yield wrapped(f"{name}, {kind}: {item.id}, {text}", hanging=2)


def _facts(values: Iterable[Value], result: Result) -> Iterator[str]:
    """The collapsed facts of values with a number, and what the facts are."""
    instruments = instrument_ranges(result, variant_scores(result, result.standard))
    for value in values:
        if value.state == "value":
            ideal = benchmark(result.benchmark).ideal(value.name, result.standard)
            yield plain(value.name)
            facts = folded_facts(value, ideal, digits, instruments=instruments.get(value.name))
            yield from (wrapped(f"{name}: {text}", "  ") for name, text in facts.items())
    yield "What these facts are"
    yield from (wrapped(f"{name}: {sentence}", "  ") for name, sentence in SENTENCES.items())


def _consistency(proof: Proof, everything: bool) -> Iterator[str]:
    failed = broken(proof)
    if everything or failed:
        headers = ("task", "expected", "answers", "readings", "missing", "twice", "unknown", "unread", "one to one")
        rows = [
            (task, *(f"{n:,}" for n in (held.expected, held.answers, held.readings, held.missing, held.duplicates)),
             f"{held.unknown + held.orphans:,}", f"{held.unread:,}", "yes" if held.holds else "no")
            for task, held in proof.items()
        ]  # fmt: skip
        yield str(Table(headers, rows, "Consistency of items, answers and readings"))
    outcome = f"broken in {', '.join(failed)}" if failed else "passed"
    yield wrapped(f"Integrity check of {len(proof)} tasks (items, answers and readings match one to one): {outcome}.")


def _instruments(result: Result) -> Iterator[str]:
    """Tables of the scores and values that each other instrument moves, with notes on it."""
    for part in instrument(result, variant_scores(result, result.standard)):
        title, lower = INSTRUMENTS[part.kind], [DEBIASED] if part.plain else []
        if part.scores:
            rows = [(each.name, each.measured, each.low, each.high) for each in part.scores]
            yield str(Table(("score", "measured", "smallest", "largest"), rows, f"{title}: scores"))
        lines = part.lines if part.kind != "reading_errors" else ()  # which move nearly every value
        if lines:
            rows_of = [
                (line.name, _cell(line.measured), *([line.debiased or "–"] if lower else []), *map(_cell, line.cells))
                for line in lines
            ]
            yield str(Table(("value", "measured", *lower, *part.names), rows_of, f"{title}: component metrics"))
        notes = part.notes or [", ".join(part.names)]
        same = f"{part.same} scores stay as they are. Ranked are the raw values."
        yield wrapped(f"{title}: {'; '.join(note.rstrip('.') for note in notes)}. {same}")


def _cell(pair: tuple[str, str]) -> str:
    return f"{pair[0]} ({pair[1]})" if pair[1] else pair[0]


def tier_2_share(result: Result) -> str:
    """Number of answers of IRIS that tier 2 decided, 0 included; '' where no occupation was asked for."""
    for value in result.values.values():
        if "tier_2_share" in value.evidence:
            share = f"{value.evidence['tier_2_share']:.1%}".replace("%", " %")
            return f"{share} of the answers to the occupation question were decided by tier 2 (embedding)."
    return ""
