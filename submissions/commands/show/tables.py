"""Output of several commands: tables, faults, notes. Submitted text is never markup."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from fairspace.submissions.errors import plain

if TYPE_CHECKING:
    from fairspace.submissions.format.faults import Fault

WIDTH = 80
"""Columns of texts, and of the tables of values."""

OUT = Console(highlight=False, markup=False, emoji=False)
if not OUT.is_terminal and "COLUMNS" not in os.environ:
    OUT = Console(highlight=False, markup=False, emoji=False, width=160)
"""Standard output without markup; 160 columns if it is no terminal and COLUMNS is not set."""


def cell(text: object) -> Text:
    """Untrusted text as it is: no markup, no escape sequence, no mark that reorders it."""
    return Text(plain(str(text)))


def new_table(title: str) -> Drawn:
    """An empty table."""
    return Drawn(
        title=cell(title) if title else None,
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[object]], *, whole: int = 0) -> None:
    """Print a table; its first and last column are aligned to the left, and no line breaks the first `whole` ones."""
    drawn = new_table(title)
    for place, header in enumerate(headers):
        middle = 0 < place < len(headers) - 1
        drawn.add_column(cell(header), justify="right" if middle else "left", overflow="fold", no_wrap=place < whole)
    for row in rows:
        drawn.add_row(*map(cell, row))
    OUT.print(drawn)


def show_wrapped(text: str, indent: str = "", style: str = "", hanging: int = 0) -> None:
    """Print a text in lines of 80 columns; further lines are indented twice, or by `hanging` characters."""
    further = 2 * indent or " " * hanging
    for line in textwrap.wrap(
        plain(text), WIDTH, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False
    ):
        OUT.print(Text(line), style=style)


def faults(rows: Sequence[Fault]) -> None:
    """Print every fault with code, place, finding, expectation and remedy."""
    OUT.print(cell(f"{len(rows)} fault{'s' * (len(rows) != 1)}"), style="bold red")
    for fault in rows:
        more = f" (and {fault.count - 1} more like it)" if fault.count > 1 else ""
        OUT.print(cell(f"{fault.code} at {fault.where}{more}"), style="bold", soft_wrap=True)  # a path can be copied
        for label, text in (("found", fault.what), ("expected", fault.expected), ("mend", fault.mend)):
            OUT.print(cell(f"  {label}: {text}"))


def notes(lines: Iterable[str]) -> None:
    """Print notes for the submitter, which are no faults."""
    for note in lines:
        OUT.print(cell(f"Note: {note}"))
