"""What `fairspace readings` prints: how right answers are read, and what they are read as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.text import Text

from fairspace.submissions.answers.measuring import Report, Split, Tally
from fairspace.submissions.answers.summary import COUNTED, Example, Summary
from fairspace.submissions.commands.show.tables import OUT, cell, new_table
from fairspace.submissions.errors import plain

_HEADERS = ("answers", "right", "false", "lost", "families alike", "male words", "female words")
_TITLES: Mapping[Split, str] = {"style": "manner of writing", "gender": "gender words", "family": "family"}
_ERRORS = 8
"""Errors that are shown; --json has all."""
_WIDTH = 78
_LEGEND = """\
right: share of all answers. false: read as a choice that the answer is not.
lost: the answer makes a choice, and none was read. words: share that is right
of the answers that make a choice and use the words of one gender alone."""


def show_report(report: Report, by: Split | None = None) -> None:
    """Print the counts per task, then those of a split, then some of the errors."""
    for benchmark, tallies in _by_benchmark(report.tasks).items():
        _counts(f"Readings of {benchmark}", "task", tallies)
    if report.weights:
        _estimates(report)
    for name, parts in sorted(report.splits[by].items()) if by is not None else ():
        shown = {part or "not stated": tally for part, tally in sorted(parts.items())}
        if by == "family":
            shown = {part: tally for part, tally in shown.items() if tally.right < tally.n}
        if shown:
            _counts(f"{name} by {_TITLES[by]}", _TITLES[by], shown, families=by == "family")  # type: ignore[index]
    if by == "family":
        OUT.print("Families of which every answer is read right are left out.")
    for line in _errors(report):
        OUT.print(cell(line))
    OUT.print(_LEGEND)


def _by_benchmark(tasks: Mapping[str, Tally]) -> dict[str, dict[str, Tally]]:
    by_benchmark: dict[str, dict[str, Tally]] = {}
    for name, tally in sorted(tasks.items()):
        benchmark, _, task = name.partition("/")
        by_benchmark.setdefault(benchmark, {})[task] = tally
    return by_benchmark


def _counts(title: str, first: str, tallies: Mapping[str, Tally], families: bool = True) -> None:
    table = new_table(title)
    table.add_column(first)
    for header in _HEADERS if families else [header for header in _HEADERS if "families" not in header]:
        table.add_column(header, justify="right", max_width=8)
    for name, tally in tallies.items():
        cells = (tally.n, _share(tally.right, tally.n), tally.false, tally.lost)
        alike = f"{tally.families_alike}/{tally.families}" if tally.families else "–"
        words = (_share(tally.right_male, tally.n_male), _share(tally.right_female, tally.n_female))
        table.add_row(*map(cell, (shortened(name, 17), *cells, *([alike] if families else []), *words)))
    OUT.print(table)


def _estimates(report: Report) -> None:
    table = new_table("Estimate for all answers of the submission, with 95 % intervals")
    for header in ("task", "right", "false", "lost"):
        table.add_column(header, justify="left" if header == "task" else "right")
    for name, shares in report.estimates.items():
        cells = (f"{share:.1%} ({low:.1%} to {high:.1%})" for share, low, high in shares.values())
        table.add_row(*map(cell, (shortened(name.partition("/")[2], 17), *cells)))
    OUT.print(table)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def _errors(report: Report) -> Iterator[str]:
    """Some errors, a line each."""
    for error in report.errors[:_ERRORS]:
        gold, read = (shortened(str(error[key]), 24) for key in ("gold", "read"))
        yield shortened(f"{error['verdict']}: {error['id'] or error['task']}: gold {gold}, read {read}", _WIDTH)
    if (more := len(report.errors) - _ERRORS) > 0:
        yield f"and {more:,} more errors; --json lists all"


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
