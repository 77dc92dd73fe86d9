"""A table of plain texts, its writers (text, Markdown, HTML, LaTeX), and the table of results for papers.

Writers escape the cells. A LaTeX document needs the package `booktabs` alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import latex, markdown, plain, web
from fairspace.submissions.report.first_values import first_values, lines_of, named, numbers_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Table:
    """A table of plain texts; its first columns are names. `name` is for files, such as `scores`."""

    name: str
    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def to_text(self) -> str:
        """Header and rows in aligned columns, without heading and note."""
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def to_markdown(self) -> str:
        """Header and rows with pipes, without heading and note."""
        head, *rows = ["| " + " | ".join(map(markdown, line)) + " |" for line in (self.columns, *self.rows)]
        return "\n".join([head, "| --- " * len(self.columns) + "|", *rows])

    def to_html(self) -> str:
        """Header and rows below the heading as a caption, if there is one, without note."""
        caption = f"<caption>{web(self.heading)}</caption>" if self.heading else ""
        head = "".join(f"<th>{web(text)}</th>" for text in self.columns)
        rows = "".join(f"<tr>{''.join(f'<td>{web(text)}</td>' for text in row)}</tr>" for row in self.rows)
        return f"<table>{caption}<tr>{head}</tr>{rows}</table>"

    def to_latex(self) -> str:
        """A `table` labelled `tab:NAME` whose caption is heading and note; columns but the first are right-aligned."""
        import pandas as pd

        frame = pd.DataFrame([[latex(text) for text in row] for row in self.rows], columns=[*map(latex, self.columns)])
        text: str = frame.to_latex(
            index=False,
            escape=False,
            column_format="l" + "r" * (len(self.columns) - 1),
            caption=latex(" ".join(filter(None, (self.heading, self.note)))),
            label=f"tab:{self.name}",
            position="t",
        )
        return text.replace("\\begin{table}[t]\n", "\\begin{table}[t]\n\\centering\n")


def results_latex(results: Sequence[Result], names: Collection[str] = ()) -> str:
    """Values of one result, or of several of one benchmark, as a table; its caption names what was not run.

    Without `names` of scores and raw values, the first values of the benchmark.
    """
    first = results[0]
    shown = [named(result, names) if names else first_values(result) for result in results]
    states = {name: {values[name].state for values in shown if name in values} for each in shown for name in each}
    lacking = [name for name, state in states.items() if state == {"not_run"}]
    there = [name for name in states if name not in lacking]
    columns: Sequence[str]
    if len(results) == 1:
        columns = ("Name", "Value", "95 % interval", "By chance", "Note")
        rows = lines_of(first, {name: shown[0][name] for name in there})
        if not any(row[-1] for row in rows):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
    else:
        columns = ("Value", *model_names(results))
        pairs = [*zip(results, shown, strict=True)]
        rows = [(name, *(_cell(result, values.get(name)) for result, values in pairs)) for name in there]
    not_run = f"Not run: {', '.join(lacking)}." if lacking else ""
    return Table(first.benchmark, caption(results), columns, rows, not_run).to_latex()


def caption(results: Sequence[Result]) -> str:
    """Contents, rules and interval methods of a table or figure."""
    first = results[0]
    title = benchmark(first.benchmark).title
    named = f" of {first.meta['model']}" if len(results) == 1 and first.meta.get("model") != "not stated" else ""
    about = [
        f"standard {first.standard}",
        f"dataset revision {first.signature.get('dataset_revision', 'not stated')}",
        f"fairspace {first.signature.get('fairspace', '')}".strip(),
    ]
    text = f"{title}{named} ({', '.join(about)}): values with 95 % intervals"
    if drawn := first.signature.get("resamples"):
        text += f" from {drawn.partition(',')[0]} bootstrap replicates"
    marks = dict.fromkeys(mark for result in results for mark in limits_of(result))
    return plain(". ".join([text, *(mark[0].upper() + mark[1:] for mark in marks)]) + ".")


def _cell(result: Result, value: Value | None) -> str:
    return "not run" if value is None else numbers_of(result, value).cell_text


def model_names(results: Sequence[Result]) -> list[str]:
    """A unique column name for each result."""
    names = [str(result.meta.get("model", "not stated")) for result in results]
    return [f"{name} ({place})" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
