"""A report as Markdown, as CSV of long format, and as LaTeX for the body of a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from fairspace.submissions.errors import harmless
from fairspace.submissions.report.contents import Report, Table
from fairspace.submissions.report.first_values import numbers_of
from fairspace.submissions.report.latex import escaped, latex_table, results_latex
from fairspace.submissions.results.three_numbers import state_of

COLUMNS = (
    *("model", "revision", "benchmark", "standard", "kind", "name", "state", "value", "low", "high"),
    *("standard_error", "chance", "chance_end", "verdict", "missing"),
    *("worst_low", "worst_high", "valid", "expected", "reason"),
)
"""Of the CSV: a line for each score and raw value of each model, numbers in full."""


def to_markdown(report: Report) -> str:
    """The report as Markdown with pipe tables."""
    lines = [f"# {report.title}", ""]
    for name, top in zip(report.names, report.headlines, strict=True):
        place = "not ranked" if top.unranked else "" if top.standing is None else top.standing.text
        chance = f"by chance {top.three.chance_words}" if top.three.value is not None else ""
        facts = [f"95 % interval {top.three.interval_text}" if top.three.interval else "", chance, top.direction, place]
        lines.append(f"- **{_md(name)}**: {top.score} {_md('; '.join(filter(None, [top.three.value_text, *facts])))}")
        lines.append(f"  - missing: {_md(top.missing)}")
        lines += [f"  - no rank: {_md(reason)}" for reason in top.unranked]
    for table in report.tables:
        lines += ["", f"## {table.heading}", "", *_pipes(table), *(("", table.note) if table.note else ())]
    lines += ["", "## Methods", "", *(f"{_md(text)}\n" for text in report.methods)]
    return "\n".join([*lines, "## Cite", "", "```bibtex", report.citations.rstrip(), "```", ""])


def _pipes(table: Table) -> list[str]:
    rows = [table.columns, ["---"] * len(table.columns), *table.rows]
    return ["| " + " | ".join(map(_md, row)) + " |" for row in rows]


def _md(text: str) -> str:
    """A text in which Markdown finds nothing: no markup, no HTML, no column."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text


def to_csv(report: Report) -> str:
    """Every score and raw value of every model, a line each; empty where something is not known."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for result, name in zip(report.results, report.names, strict=True):
        for kind, values in (("score", result.scored.scores), ("raw value", result.values)):
            for value in values.values():
                three, about = numbers_of(result, value), value.uncertainty
                writer.writerow(
                    {
                        "model": harmless(name),
                        "revision": harmless(str(result.meta.get("revision", ""))),
                        "benchmark": result.benchmark,
                        "standard": result.standard,
                        "kind": kind,
                        "name": value.name,
                        "state": state_of(value),
                        "value": value.value,
                        "low": None if about is None else about.low,
                        "high": None if about is None else about.high,
                        "standard_error": None if about is None else about.error,
                        "chance": None if about is None else about.fair,
                        "chance_end": None if about is None else about.fair_high,
                        "verdict": three.verdict,
                        "missing": three.missing_text,
                        "worst_low": value.low,
                        "worst_high": value.high,
                        "valid": value.valid,
                        "expected": value.expected,
                        "reason": harmless(value.reason),
                    }
                )
    return out.getvalue()


def to_latex(report: Report) -> str:
    """Tables with booktabs, the methods paragraphs, and the citations in comments to copy into a .bib file."""
    parts = ["% Needs \\usepackage{booktabs}.", results_latex(report.results)]
    if (compared := report.table("differences")) is not None:
        first, *columns = compared.columns
        rows: Sequence[dict[str, str]] = [dict(zip((first, *columns), row, strict=True)) for row in compared.rows]
        benchmark = report.results[0].benchmark
        parts.append(
            latex_table(rows, caption=f"{compared.heading}. {compared.note}", label=f"tab:{benchmark}-differences")
        )
    parts.append("\n\n".join(escaped(text) for text in report.methods))
    parts.append("".join(f"% {line}\n" for line in ["For the .bib file:", *report.citations.splitlines()]))
    return "\n".join(parts)
