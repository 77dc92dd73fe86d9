"""What several commands print: tables of values, faults, notes. Submitted text is never markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairspace.submissions.commands.show.numbers import number, span, without_number
from fairspace.submissions.errors import plain
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    from fairspace.submissions.format.faults import Fault
    from fairspace.submissions.uncertainty.uncertainty import Uncertainty

OUT = Console(highlight=False)
if not OUT.is_terminal:
    OUT = Console(highlight=False, width=160)
"""Standard output; 160 columns where it is no terminal."""


def cell(text: object) -> Text:
    """Untrusted text as it is: no markup, no escape sequence, no mark that reorders it."""
    return Text(plain(str(text)))


def new_table(title: str) -> Table:
    """An empty table."""
    return Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; its first and last column are aligned to the left."""
    drawn = new_table(title)
    for place, header in enumerate(headers):
        drawn.add_column(header, justify="right" if 0 < place < len(headers) - 1 else "left")
    for row in rows:
        drawn.add_row(*map(cell, row))
    OUT.print(drawn)


def values(title: str, rows: Iterable[Value]) -> None:
    """Print values with a number as a table, and below it the others by their reason."""
    everything = list(rows)
    numbers = [value for value in everything if value.state == "value"]
    if numbers:
        _numbers(title, numbers)
    else:
        OUT.print(cell(title), style="italic")
    OUT.print(*map(cell, without_number(everything)), sep="\n", end="\n" * (len(numbers) < len(everything)))


def _numbers(title: str, rows: Sequence[Value]) -> None:
    sure = any(value.uncertainty is not None for value in rows)
    table = new_table(title)
    table.add_column("name", no_wrap=True)
    headers = ("95 % interval", "error", "debiased", "fair model") if sure else ()
    for column in ("value", *headers, "lowest", "highest", "coverage", "valid/expected"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("state")
    for value in rows:
        coverage = "–" if value.coverage is None else f"{value.coverage:.1%}"
        counts = f"{value.valid}/{value.expected}" if value.expected else "–"
        state = value.state + (f": {value.reason}" if value.reason else "")
        errors = _error_cells(value.uncertainty) if sure else ()
        cells = (number(value.value), *errors, number(value.low), number(value.high), coverage, counts, state)
        table.add_row(*map(cell, (value.name, *cells)))
    OUT.print(table)


def _error_cells(about: Uncertainty | None) -> tuple[str, ...]:
    """Interval, standard error, debiased value, and what 95 % of perfectly fair models stay within."""
    if about is None:
        return ("–",) * 4
    return (interval(about), number(about.error), number(about.debiased), number(about.fair_high))


def interval(about: Uncertainty | None) -> str:
    """The 95 % interval; a dash for none."""
    return span(None if about is None else (about.low, about.high))


def faults(rows: Sequence[Fault]) -> None:
    """Print every fault with its code, place, what was found, what was expected and the remedy."""
    OUT.print(cell(f"{len(rows)} fault{'s' * (len(rows) != 1)}"), style="bold red")
    for fault in rows:
        more = f" (and {fault.count - 1} more like it)" if fault.count > 1 else ""
        OUT.print(cell(f"{fault.code} at {fault.where}{more}"), style="bold")
        for label, text in (("found", fault.what), ("expected", fault.expected), ("mend", fault.mend)):
            OUT.print(cell(f"  {label}: {text}"))


def notes(lines: Iterable[str]) -> None:
    """Print what a submitter may want to know, though it is no fault."""
    for note in lines:
        OUT.print(cell(f"Note: {note}"))


def chance(chances: Mapping[str, float], name: str) -> str:
    """`, P = 0.93`, the probability of a label; never 0 or 1, which a few hundred draws cannot show; '' without one."""
    if name not in chances:
        return ""
    share = chances[name]
    return f", P {'> 0.99' if share > 0.995 else '< 0.01' if share < 0.005 else f'= {share:.2f}'}"
