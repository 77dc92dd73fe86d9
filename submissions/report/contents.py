"""A report (headlines, tables as texts, items, methods, citations), written as Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairspace.builders.registry import paper
from fairspace.submissions.answers.items import Item
from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError, harmless, latex, markdown, plain
from fairspace.submissions.format.schema import LabelError
from fairspace.submissions.plotting import digits
from fairspace.submissions.report.figure import Difference, corrected, differences, remarks
from fairspace.submissions.report.headline import (
    Headline,
    Table,
    direction,
    first_values,
    headline,
    model_names,
    numbers_of,
    results_latex,
    value_row,
)
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.results.three_numbers import drawn
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION


def methods(results: Sequence[Result], names: Sequence[str], tests: int) -> list[str]:
    """Paragraphs: benchmark, standard and protocol; for each model its answers and instruments; intervals; tests."""
    first = results[0]
    bench = benchmark(first.benchmark)
    texts = [
        f"{bench.title} ({paper(first.benchmark).title}) was scored under the released standard {first.standard} with "
        f"fairspace {VERSION}. Ranks go by the worst case over missing samples."
    ]
    protocols = dict.fromkeys(bench.protocols.of(result.signature, result.scored) for result in results)
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
        chosen = sum(count["choice"] for count in counts)
        absent = sum(count["not_handed_in"] for count in counts)
        yield (
            f"Of {handed_in + absent:,} answers {handed_in:,} were handed in; {100 * chosen / handed_in:.1f} % of "
            f"these could be read as a choice (parser {signature.get('parser', 'not stated')})."
        )
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


def citations(benchmark_name: str) -> str:
    """BibTeX entries of the benchmark's paper and of the software."""
    software = (
        "@software{fairspace,\n  title = {fairspace: fairness benchmarks for generative models},\n"
        f"  author = {{{{The fairspace contributors}}}},\n  version = {{{VERSION}}}\n}}"
    )
    return f"{paper(benchmark_name).citation}\n\n{software}\n"


LARGEST = 1e9
"""Finite stand-in for infinitely many standard errors, which JSON has no number for."""


@dataclass(frozen=True)
class Compared:
    """One score of a further model against the first model's; `p` is corrected for all lines of the comparison."""

    score: str
    model: str
    between: Difference
    p: float

    @property
    def verdict(self) -> str:
        """Whether the two differ, at 5 % for all lines together."""
        return self.between.verdict_of(self.p)

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        about = {"score": self.score, "model": self.model, **vars(self.between)}
        return about | {"errors": min(self.between.errors, LARGEST), "p": self.p, "verdict": self.verdict}


@dataclass(frozen=True)
class Group:
    """Answers of one model to a task or behind a value, the worst first."""

    model: str
    name: str
    items: Sequence[Item]


@dataclass(frozen=True)
class Report:
    """The contents of a report on one model, or on several with different names side by side.

    `compared`: scores of further models against the first model's; `tables`: those that have rows; `items`: answers to
    look at, by model and value or task; empty where none are at hand.
    """

    title: str
    results: Sequence[Result]
    names: Sequence[str]
    headlines: Sequence[Headline]
    compared: Sequence[Compared]
    tables: Sequence[Table]
    items: Sequence[Group]
    methods: Sequence[str]
    citations: str

    def table(self, name: str) -> Table | None:
        """The table of that name; None where it has no rows."""
        return next((table for table in self.tables if table.name == name), None)


def check_comparable(results: Sequence[Result]) -> None:
    """UsageError if results are of several benchmarks or standards."""
    kinds = dict.fromkeys(f"{result.benchmark} under {result.standard}" for result in results)
    if len(kinds) > 1:
        raise UsageError(
            f"Results are compared that are of one benchmark under one standard, and these are of {', '.join(kinds)}. "
            "Score them alike: `fairspace score RESULT --standard NAME --out FILE`."
        )


def make_report(results: Sequence[Result]) -> Report:
    """The report on at least one result. UsageError if they are of several benchmarks or standards."""
    check_comparable(results)
    first = results[0]
    names = [plain(name) for name in model_names(results)]
    compared = _compared(results, names)
    tables = (
        _values("scores", "Scores", results, names, first_values, is_score=True),
        _differences(results, names, compared),
        _readings(results, names),
        _values("values", "Component metrics", results, names, lambda result: dict(result.values)),
        _without_number(results, names),
    )
    return Report(
        f"{' and '.join(names) if len(names) < 3 else f'{len(names)} models'} on {benchmark(first.benchmark).title}",
        results,
        names,
        [headline(result, digits) for result in results],
        compared,
        [table for table in tables if table.rows],
        [kept for result, name in zip(results, names, strict=True) for kept in _kept_items(result, name)],
        methods(results, names, len(compared)),
        citations(first.benchmark),
    )


def _values(
    name: str,
    heading: str,
    results: Sequence[Result],
    names: Sequence[str],
    values_of: Callable[[Result], dict[str, Value]],
    *,
    is_score: bool = False,
) -> Table:
    """The three numbers of each value; models side by side have them in one cell each."""
    bench, standard = benchmark(results[0].benchmark), results[0].standard
    describe = bench.about().describe
    by_model = [values_of(result) for result in results]
    known = dict.fromkeys(n for values in by_model for n, value in values.items() if value.state == "value")
    alone = len(results) == 1
    rows = []
    for value_name in known:
        ideal = bench.ideal(value_name, standard)
        way = direction(bench, ideal, is_score=is_score and value_name in results[0].scored.scores)
        cells = [value_name, "; ".join(filter(None, (describe(value_name), way)))]
        threes = [
            numbers_of(result, values[value_name]) if value_name in values else None
            for result, values in zip(results, by_model, strict=True)
        ]
        if alone and threes[0] is not None:
            cells += [threes[0].value_text, threes[0].interval_text, threes[0].chance_text, "; ".join(threes[0].notes)]
        else:
            cells += ["–" if three is None else three.cell_text for three in threes]
        rows.append(cells)
    columns = ("value", "95 % interval", "by chance", "note") if alone else tuple(names)
    return Table(name, heading, ("name", "what it is", *columns), rows)


def _compared(results: Sequence[Result], names: Sequence[str]) -> list[Compared]:
    first, shown = results[0], first_values(results[0])
    raw = [name for name in shown if name not in first.scored.scores]
    by_model = [
        {name: between for name, between in by_score.items() if name in shown}
        for by_score in differences(first.benchmark, results, first.standard, raw)
    ]
    return [
        Compared(score, name, between, p_values[score])
        for name, by_score, p_values in zip(names, by_model, corrected(by_model), strict=True)
        for score, between in by_score.items()
    ]


def _differences(results: Sequence[Result], names: Sequence[str], lines: Sequence[Compared]) -> Table:
    several = len(names) > 2
    rows = []
    for line in lines:
        value = f"{digits(line.between.value)}{' (ratio)' if line.between.ratio else ''}"
        ends = f"{digits(line.between.low)} to {digits(line.between.high)}"
        p = "< 0.001" if line.p < 0.001 else f"{line.p:.3f}"
        rows.append((line.score, *((line.model,) if several else ()), value, ends, p, line.verdict))
    columns = ("score", *(("model",) if several else ()), "difference", "95 % interval", "corrected p", "verdict")
    others = "Differences" if several or len(names) < 2 else names[1]
    note = " ".join(
        ["Paired on common items; p is corrected for all lines by Holm's method.", *remarks(results, names)]
    )
    return Table("differences", f"{others} against {names[0]}", columns, rows, note)


def _readings(results: Sequence[Result], names: Sequence[str]) -> Table:
    outcomes = ("choice", "refused", "several", "unusable", "not_handed_in")
    rows = [
        (name, task, *(f"{summary.outcomes.get(outcome, 0):,}" for outcome in outcomes))
        for result, name in zip(results, names, strict=True)
        for task, summary in result.readings.items()
    ]
    headers = ("model", "task", *(outcome.replace("_", " ") for outcome in outcomes))
    return Table("readings", "How the answers were read", headers, rows)


def _without_number(results: Sequence[Result], names: Sequence[str]) -> Table:
    rows = []
    for result, name in zip(results, names, strict=True):
        reasons: dict[tuple[str, str], list[str]] = {}
        for value in {**result.values, **result.scored.shown}.values():
            if value.state != "value":
                reasons.setdefault((value.state.replace("_", " "), plain(value.reason)), []).append(value.name)
        rows += [(name, ", ".join(values), state, reason) for (state, reason), values in reasons.items()]
    return Table("missing", "Without a number", ("model", "values", "state", "reason"), rows)


def _kept_items(result: Result, model: str) -> Iterator[Group]:
    """The kept answers of each value; older results have those of each task, without their prompts."""
    for value, items in result.items.items():
        yield Group(model, value, items)
    if result.items:
        return
    for task, summary in result.readings.items():
        kinds = [("typical" if e.outcome == "choice" else "worst", e) for e in summary.examples]
        items = tuple(
            Item(kind, task, "", "", e.outcome, e.value or "", e.rule, e.before, e.marked, e.after) for kind, e in kinds
        )
        if items:
            yield Group(model, task, items)


def to_markdown(report: Report) -> str:
    """The report as Markdown."""
    lines = [f"# {markdown(report.title)}", ""]
    for name, top in zip(report.names, report.headlines, strict=True):
        lines += [line for sentence in top.sentences for line in (markdown(f"{name}: {sentence}"), "")]
        interval = f"95 % interval {top.three.interval_text}" if top.three.interval else ""
        chance = f"by chance {top.three.chance_words}" if top.three.value is not None else ""
        facts = [interval, chance, top.direction, f"rank: {top.place}"]
        told = "; ".join(filter(None, [top.three.value_text, *facts]))
        lines.append(f"- **{markdown(name)}**: {markdown(f'{top.score} {told}')}")
        lines.append(f"  - missing: {markdown(top.missing)}")
        lines += [f"  - no rank: {markdown(reason)}" for reason in top.unranked]
    for table in report.tables:
        note = ("", markdown(table.note)) if table.note else ()
        lines += ["", f"## {markdown(table.heading)}", "", table.to_markdown(), *note]
    lines += ["", "## Methods", "", *(f"{markdown(text)}\n" for text in report.methods)]
    return "\n".join([*lines, "## Cite", "", "```bibtex", report.citations.rstrip(), "```", ""])


def to_csv(report: Report) -> str:
    """Every score and raw value of every model, a line each with the columns of `Result.to_frame`, unrounded."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for result, name in zip(report.results, report.names, strict=True):
        about = {"model": name, "benchmark": result.benchmark, "standard": result.standard}
        about["revision"] = str(result.meta.get("revision", ""))
        for kind, values in (("score", result.scored.shown), ("raw value", result.values)):
            rows += [about | value_row(result, value.name, value) | {"kind": kind} for value in values.values()]
    texts = [{key: harmless(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in rows]
    text: str = pd.DataFrame(texts, dtype=object).to_csv(index=False, lineterminator="\n")
    return text


def to_latex(report: Report) -> str:
    """Tables with booktabs, the methods, and the citations in comments to copy into a .bib file."""
    tops = zip(report.names, report.headlines, strict=True)
    sentences = [latex(f"{name}: {sentence}") for name, top in tops for sentence in top.sentences]
    parts = ["% Needs \\usepackage{booktabs}.", *sentences, results_latex(report.results)]
    if (compared := report.table("differences")) is not None:
        name = f"{report.results[0].benchmark}-differences"
        parts.append(replace(compared, name=name, heading=f"{compared.heading}.").to_latex())
    parts.append("\n\n".join(latex(text) for text in report.methods))
    parts.append("".join(f"% {line}\n" for line in ["For the .bib file:", *report.citations.splitlines()]))
    return "\n".join(parts)
