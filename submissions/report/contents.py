"""A report (headlines, tables, items, methods, citations), written as a page, Markdown, CSV and LaTeX."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from fairspace.builders.registry import paper
from fairspace.submissions.answers.items import Item
from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.answers.rows import COUNTED
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.comparing import Comparison
from fairspace.submissions.errors import UsageError, harmless, latex, markdown, plain
from fairspace.submissions.exchange import generation
from fairspace.submissions.format.schema import LabelError
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.results.three_numbers import CHANCE_SIGNS, drawn
from fairspace.submissions.show.figure import SCALE, strips
from fairspace.submissions.show.headline import (
    Headline,
    direction,
    first_values,
    headline,
    model_names,
    no_rank,
    opening,
    printed_like,
    results_latex,
    value_row,
    value_table,
)
from fairspace.submissions.show.table import Table
from fairspace.submissions.values import Value, by_reason
from fairspace.submissions.version import VERSION


def methods(results: Sequence[Result], names: Sequence[str], tests: int) -> list[str]:
    """Paragraphs: benchmark, standard and protocol; for each model its answers and instruments; intervals; tests."""
    first = results[0]
    bench, title = benchmark(first.benchmark), paper(first.benchmark).title
    title = title if title.startswith(bench.title) else f"{bench.title} ({title})"
    texts = [
        f"{title} was scored under the standard {first.standard} with fairspace {VERSION}. Ranks go by the worst case "
        "over missing samples."
    ]
    protocols = dict.fromkeys(bench.protocol_of(result.signature, result.scored) for result in results)
    texts += [text for protocol in protocols if (text := bench.protocol_text(protocol))]
    texts += [" ".join(_of_model(result, name)) for result, name in zip(results, names, strict=True)]
    texts.append(
        "Values are as measured, with 95 % intervals by the bootstrap, and stand beside what perfectly fair models of "
        "as many answers show by chance: their mean, and the end that 95 % of them stay within. Where a value is not "
        "beyond that end, or its interval holds the ideal, no bias is shown with this many answers."
    )
    if tests:
        texts.append(
            f"Differences between models are paired: both are resampled on the same items. The {tests} tests are "
            "corrected together by Holm's method, at 5 %."
        )
    return [plain(text) for text in texts]


def _of_model(result: Result, name: str) -> Iterator[str]:
    signature = result.signature
    yield f"{name}: dataset revision {signature.get('dataset_revision', 'not stated')}."
    counts = [summary.outcomes for summary in result.readings.values()]
    handed_in = sum(count.get(outcome, 0) for count in counts for outcome in OUTCOMES)
    if handed_in:
        choices = sum(count["choice"] for count in counts)
        absent = sum(count["not_handed_in"] for count in counts)
        yield (
            f"Of {handed_in + absent:,} answers {handed_in:,} were handed in; {100 * choices / handed_in:.1f} % of "
            f"these could be read as a choice (parser {signature.get('parser', 'not stated')})."
        )
    yield from _asked(result)
    for role, text in (("labels", "Images were labelled by"), ("judge", "Texts were judged by")):
        if role in signature:
            yield f"{text} {signature[role]}."
    if "label_error" in result.meta:
        yield _label_error(LabelError.model_validate(result.meta["label_error"]))
    name = benchmark(result.benchmark).reporting.leading(result.scored, result.standard)[0]
    total = result.scored.shown.get(name)
    if total is not None and total.uncertainty is not None:
        method = f"{drawn(total.uncertainty)}; resamples: {signature.get('resamples', 'not stated')}"
        yield f"Interval of {name}: {method}."
    for mark in limits_of(result):
        yield f"It is a part of the benchmark: {mark}."


def _label_error(error: LabelError) -> str:
    shares = []
    for attribute, matrix in error.attributes.items():
        right, every = sum(row[i] for i, row in enumerate(matrix.counts)), sum(map(sum, matrix.counts))
        shares.append(
            f"{attribute} {100 * (1 - right / every):.1f} % of {every:,}" if every else f"{attribute} unknown"
        )
    return f"Its measured label errors are {', '.join(shares)} ({error.source})."


def _asked(result: Result) -> Iterator[str]:
    """Model, engine, dates and settings of the run, as far as they are stated."""
    stages = [stage for stage in result.run if stage["what"] == "responses"]
    if (revision := str(result.meta.get("revision", ""))) not in ("", "not stated"):
        yield f"Model revision {revision}."
    if stages:
        engines = dict.fromkeys(f"{stage['engine']} {stage['engine_version']}" for stage in stages)
        days = [stage[end][:10] for stage in stages for end in ("started", "ended") if stage.get(end)]
        when = (f" from {min(days)} to {max(days)}" if len({*days}) > 1 else f" on {days[0]}") if days else ""
        settings = ", ".join(f"{name} {setting}" for name, setting in generation(result).items())
        yield f"It was asked by {', '.join(engines)}{when}, with {settings}."


METHODS = tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8"))
"""Words of a methods paragraph -> the paper that they stand for."""


def cited_methods(results: Sequence[Result], names: Sequence[str], tests: int = 0) -> tuple[str, str]:
    r"""The methods in LaTeX with `\cite`, and a .bib file of what they cite: benchmark, software, statistics, ARES."""
    first, paragraphs = results[0], methods(results, names, tests)
    entries = {paper(first.benchmark).title: paper(first.benchmark).citation, f"fairspace {VERSION}": SOFTWARE}
    of_ares = [labels for result in results if "ares" in (labels := result.signature.get("labels", "")).lower()]
    entries |= METHODS | {f"labelled by {plain(labels)}": paper("iris").citation for labels in of_ares}
    text, cited = "\n\n".join(map(latex, paragraphs)), dict[str, None]()
    for words, entry in entries.items():
        if latex(words) in text:
            key = entry.partition("{")[2].partition(",")[0]
            text = text.replace(latex(words), f"{latex(words)}~\\cite{{{key}}}", 1)
            cited[entry] = None
    return f"% \\bibliography{{references}}\n{text}\n", "\n\n".join(map(str.strip, cited)) + "\n"


SOFTWARE = (
    "@software{fairspace,\n  title = {fairspace: fairness benchmarks for generative models},\n"
    f"  author = {{{{The fairspace contributors}}}},\n  version = {{{VERSION}}}\n}}"
)


def citations(benchmark_name: str) -> str:
    """BibTeX entries of the benchmark's paper and of the software."""
    return f"{paper(benchmark_name).citation}\n\n{SOFTWARE}\n"


@dataclass(frozen=True)
class Report:
    """The contents of a report on one model, or on several with different names side by side.

    `openings`: first lines on each result; `comparison`: sure differences; `tables`: those with rows; `items`: answers
    by model and value, worst first.
    """

    title: str
    results: Sequence[Result]
    names: Sequence[str]
    openings: Sequence[Sequence[str]]
    comparison: Sequence[str]
    headlines: Sequence[Headline]
    tables: Sequence[Table]
    items: Sequence[tuple[str, str, Sequence[Item]]]
    methods: Sequence[str]
    citations: str

    def table(self, name: str) -> Table | None:
        """The table of that name; None where it has no rows."""
        return next((table for table in self.tables if table.name == name), None)


def one_kind(results: Sequence[Result]) -> None:
    """UsageError if results are of several benchmarks or standards."""
    kinds = dict.fromkeys(f"{result.benchmark} under {result.standard}" for result in results)
    if len(kinds) > 1:
        raise UsageError(
            f"Results are compared that are of one benchmark under one standard, and these are of {', '.join(kinds)}. "
            "Score them alike: `fairspace score RESULT --standard NAME --out FILE`."
        )


def make_report(results: Sequence[Result]) -> Report:
    """The report on at least one result. UsageError if they are of several benchmarks or standards."""
    one_kind(results)
    names, title = [plain(name) for name in model_names(results)], benchmark(results[0].benchmark).title
    compared = Comparison(results) if len(results) > 1 else None
    tests = 0 if compared is None else len(compared.known)
    tables = [
        _values("scores", "Scores", results, [first_values(result) for result in results]),
        *([compared.table()] if compared is not None and tests else []),
        _readings(results, names),
        _values("values", "Component metrics", results, [result.values for result in results]),
        _without_number(results, names),
    ]
    return Report(
        f"{' and '.join(names) if len(names) < 3 else f'{len(names)} models'} on {title}",
        results,
        names,
        [[plain(line) for line in opening(result)] for result in results],
        [] if compared is None else [plain(line) for line in compared.sentences],
        [headline(result, digits) for result in results],
        [table for table in tables if table.rows],
        [(model, *kept) for result, model in zip(results, names, strict=True) for kept in result.items.items()],
        methods(results, names, tests),
        citations(results[0].benchmark),
    )


def _values(name: str, heading: str, results: Sequence[Result], shown: Sequence[Mapping[str, Value]]) -> Table:
    """The values that have a number in some result, with their meanings."""
    bench, standard, scores = benchmark(results[0].benchmark), results[0].standard, results[0].scored.scores

    def describe(value: str) -> str:
        way = direction(bench, bench.ideal(value, standard), is_score=name == "scores" and value in scores)
        return "; ".join(filter(None, (bench.describe(value), way if len(results) > 1 else "")))

    there = {name for values in shown for name, value in values.items() if value.state == "value"}
    values_there = [{name: value for name, value in values.items() if name in there} for values in shown]
    note = CHANCE_SIGNS if len(results) == 1 else ""
    return value_table(name, heading, results, values_there, describe, note)


def _readings(results: Sequence[Result], names: Sequence[str]) -> Table:
    rows = [
        (name, task, *(f"{summary.outcomes.get(outcome, 0):,}" for outcome in COUNTED))
        for result, name in zip(results, names, strict=True)
        for task, summary in result.readings.items()
    ]
    headers = ("model", "task", *(outcome.replace("_", " ") for outcome in COUNTED))
    return Table(headers, rows, "How the answers were read", name="readings")


def _without_number(results: Sequence[Result], names: Sequence[str]) -> Table:
    rows = []
    for result, name in zip(results, names, strict=True):
        reasons = by_reason({**result.values, **result.scored.shown}.values(), lambda value: value.name)
        rows += [(name, ", ".join(values), state, plain(reason)) for (state, reason), values in reasons.items()]
    return Table(("model", "values", "state", "reason"), rows, "Without a number", name="missing")


def to_markdown(report: Report) -> str:
    """The report as Markdown."""
    lines = [f"# {markdown(report.title)}", "", *(f"{markdown(line)}\n" for line in report.comparison)]
    for name, opened in zip(report.names, report.openings, strict=True):
        lines += [f"**{markdown(name)}**", "", *(f"- {markdown(line)}" for line in opened), ""]
    for table in report.tables:
        note = ("", markdown(table.note)) if table.note else ()
        lines += ["", f"## {markdown(table.heading)}", "", table.to_markdown(), *note]
    lines += ["", "## Ranks, chance, missing answers", ""]
    for name, top in zip(report.names, report.headlines, strict=True):
        lines.append(f"- **{markdown(name)}**: {markdown(top.number)}")
        lines += [f"  - {label}: {markdown(text)}" for label, text in top.facts]
        lines += [f"  - no rank: {markdown(reason)}" for reason in top.unranked]
    lines += ["", "## Methods", "", *(f"{markdown(text)}\n" for text in report.methods)]
    return "\n".join([*lines, "## Cite", "", "```bibtex", report.citations.rstrip(), "```", ""])


def to_csv(report: Report) -> str:
    """Every score and raw value of every model, unrounded: columns of `Result.to_frame`, `no_rank`, and `stimuli`."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for result, name in zip(report.results, report.names, strict=True):
        about = {"model": name, "benchmark": result.benchmark, "standard": result.standard}
        about |= {"revision": str(result.meta.get("revision", "")), "no_rank": " ".join(no_rank(result))}
        bench = benchmark(result.benchmark)
        about["stimuli"] = bench.words.stimuli_of(bench.protocol_of(result.signature, result.scored))
        for kind, values in (("score", result.scored.shown), ("raw value", result.values)):
            rows += [about | value_row(result, value.name, value) | {"kind": kind} for value in values.values()]
    texts = [{key: harmless(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in rows]
    text: str = pd.DataFrame(texts, dtype=object).to_csv(index=False, lineterminator="\n")
    return text


def to_latex(report: Report) -> str:
    """Tables with booktabs, the methods, and the citations in comments to copy into a .bib file."""
    tops = zip(report.names, report.openings, strict=True)
    sentences = [*map(latex, report.comparison)]
    sentences += [latex(f"{name}: {line}") for name, opened in tops for line in opened]
    parts = ["% Needs \\usepackage{booktabs}.", *sentences, results_latex(report.results)]
    if (compared := report.table("differences")) is not None:
        name = f"{report.results[0].benchmark}-differences"
        parts.append(replace(compared, name=name, heading=f"{compared.heading}.").to_latex())
    parts.append("\n\n".join(latex(text) for text in report.methods))
    parts.append("".join(f"% {line}\n" for line in ["For the .bib file:", *report.citations.splitlines()]))
    return "\n".join(parts)


FOLDED = frozenset({"values", "missing"})
"""Folded tables, which may have a hundred rows."""


def to_html(report: Report) -> str:
    """The report as HTML."""
    results, total = report.results, report.headlines[0].score
    shown = [first_values(result) for result in results]
    labels = report.names if len(results) > 1 or printed_like(results[0], total) else ()
    figure = strips(results, shown, labels, printed_like(results[0], total)).document()
    texts = {"caption": SCALE, "folded": FOLDED}
    return _template().render(report=report, figure=Markup(figure), **texts)  # noqa: S704 its texts are escaped


@lru_cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_plain
    )
    return environment.get_template("page.html.jinja")


def _plain(value: object) -> object:
    return plain(value) if type(value) is str else value
