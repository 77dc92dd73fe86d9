r"""Tables for papers: LaTeX with booktabs, one model or several, and what to say below them.

A document needs `\usepackage{booktabs}` alone. Cells are escaped; a minus sign is one in mathematics.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import latex, plain
from fairspace.submissions.report.first_values import first_values, named, numbers_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of
from fairspace.submissions.values import Value

Rows = Sequence[Mapping[str, str]]


def latex_table(rows: Rows, *, caption: str, label: str) -> str:
    """A `table` of texts.

    Args:
        rows: column -> cell, the same columns in each; the first column is a name, the others stand to the right.
        caption: plain text.
        label: of the table, without blanks.
    """
    frame = pd.DataFrame([{latex(name): latex(text) for name, text in row.items()} for row in rows])
    columns = "l" + "r" * (len(frame.columns) - 1)
    text: str = frame.to_latex(
        index=False, escape=False, column_format=columns, caption=latex(caption), label=label, position="t"
    )
    return text.replace("\\begin{table}[t]\n", "\\begin{table}[t]\n\\centering\n")


def results_latex(results: Sequence[Result], names: Collection[str] = ()) -> str:
    """Values of one result, or of several side by side, as a table; its caption names what was not run.

    Args:
        results: of one benchmark; at least one.
        names: of scores and raw values; the first values of the benchmark if there are none.
    """
    first = results[0]
    shown = [named(result, names) if names else first_values(result) for result in results]
    states = {name: {values[name].state for values in shown if name in values} for each in shown for name in each}
    lacking = [name for name, state in states.items() if state == {"not_run"}]
    there = [name for name in states if name not in lacking]
    if len(results) == 1:
        rows = [_row(first, shown[0][name]) for name in there]
        if not any(row["Note"] for row in rows):
            rows = [{head: text for head, text in row.items() if head != "Note"} for row in rows]
    else:
        models = model_names(results)
        rows = [
            {"Value": name}
            | {
                model: _cell(result, values.get(name))
                for model, result, values in zip(models, results, shown, strict=True)
            }
            for name in there
        ]
    not_run = f" Not run: {', '.join(lacking)}." if lacking else ""
    return latex_table(rows, caption=caption(results) + not_run, label=f"tab:{first.benchmark}")


def caption(results: Sequence[Result]) -> str:
    """What a table or figure shows, by which rules, and how its intervals were made."""
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


def _row(result: Result, value: Value) -> dict[str, str]:
    three = numbers_of(result, value)
    texts = (value.name, three.value_text, three.interval_text, three.chance_text, "; ".join(three.notes))
    return dict(zip(("Name", "Value", "95 % interval", "By chance", "Note"), texts, strict=True))


def _cell(result: Result, value: Value | None) -> str:
    """The number with its interval, or the state in words."""
    return "not run" if value is None else numbers_of(result, value).cell_text


def model_names(results: Sequence[Result]) -> list[str]:
    """A column's name for each result, all of them different."""
    names = [str(result.meta.get("model", "not stated")) for result in results]
    return [f"{name} ({place})" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]
