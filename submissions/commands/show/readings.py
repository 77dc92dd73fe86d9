"""What `fairspace readings` prints: what answers are read as."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from fairspace.submissions.answers.rows import COUNTED, Example, Summary
from fairspace.submissions.commands.show.tables import OUT, cell, new_table
from fairspace.submissions.errors import plain


def show_summaries(name: str, summaries: Mapping[str, Summary]) -> None:
    """Print per task how many answers were read as what and by which rule, then examples with the span marked."""
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
    """Print per task how many answers are choices, refuse, name several, are unusable, or were not handed in."""
    table = new_table(title)
    table.add_column("task")
    for header in COUNTED:
        table.add_column(header.replace("_", " "), justify="right", max_width=10)
    for task, summary in summaries.items():
        table.add_row(*map(cell, (task, *(f"{summary.outcomes[outcome]:,}" for outcome in COUNTED))))
    OUT.print(table)


def _example(example: Example) -> Text:
    """An answer in a line: how it is read, and its text with what was read between brackets and in reverse."""
    read = example.outcome if example.value is None else f"{example.outcome} {shortened(example.value, 40)}"
    line = cell(f"  {read} ({example.rule}): {example.before}" if example.rule else f"  {read}: {example.before}")
    if example.marked:
        line.append_text(Text(f"[{plain(example.marked)}]", style="reverse"))
    return line.append_text(cell(example.after))


def shortened(text: str, length: int) -> str:
    """A text in one line, without what steers a terminal; its end is left out if it is longer."""
    text = " ".join(plain(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
