"""A report as Markdown, as CSV of long format, and as LaTeX for the body of a paper."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from fairspace.submissions.errors import harmless, latex, markdown
from fairspace.submissions.report.contents import Report
from fairspace.submissions.report.first_values import numbers_of
from fairspace.submissions.report.table import results_latex
from fairspace.submissions.results.three_numbers import state_of

COLUMNS = (
    *("model", "revision", "benchmark", "standard", "kind", "name", "state", "value"),
    *("interval_low", "interval_high", "standard_error", "chance", "chance_end", "verdict", "missing"),
    *("if_missing_low", "if_missing_high", "valid", "expected", "reason"),
)
"""Of the CSV: a line for each score and raw value of each model, numbers in full."""


def to_markdown(report: Report) -> str:
    """The report as Markdown with pipe tables."""
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
    """Every score and raw value of every model, a line each; empty where something is not known."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for result, name in zip(report.results, report.names, strict=True):
        for kind, values in (("score", result.scored.shown), ("raw value", result.values)):
            for value in values.values():
                three, about = numbers_of(result, value), value.uncertainty
                writer.writerow(
                    {
                        "model": harmless(name),
                        "revision": harmless(str(result.meta.get("revision", ""))),
                        "benchmark": harmless(result.benchmark),
                        "standard": harmless(result.standard),
                        "kind": kind,
                        "name": harmless(value.name),
                        "state": state_of(value),
                        "value": value.value,
                        "interval_low": None if about is None else about.low,
                        "interval_high": None if about is None else about.high,
                        "standard_error": None if about is None else about.error,
                        "chance": None if about is None else about.fair,
                        "chance_end": None if about is None else about.fair_high,
                        "verdict": three.verdict,
                        "missing": three.missing_text,
                        "if_missing_low": value.low,
                        "if_missing_high": value.high,
                        "valid": value.valid,
                        "expected": value.expected,
                        "reason": harmless(value.reason),
                    }
                )
    return out.getvalue()


def to_latex(report: Report) -> str:
    """Tables with booktabs, the methods paragraphs, and the citations in comments to copy into a .bib file."""
    tops = zip(report.names, report.headlines, strict=True)
    sentences = [latex(f"{name}: {sentence}") for name, top in tops for sentence in top.sentences]
    parts = ["% Needs \\usepackage{booktabs}.", *sentences, results_latex(report.results)]
    if (compared := report.table("differences")) is not None:
        name = f"{report.results[0].benchmark}-differences"
        parts.append(replace(compared, name=name, heading=f"{compared.heading}.").to_latex())
    parts.append("\n\n".join(latex(text) for text in report.methods))
    parts.append("".join(f"% {line}\n" for line in ["For the .bib file:", *report.citations.splitlines()]))
    return "\n".join(parts)
