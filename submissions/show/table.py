"""`Table` as text, Markdown, HTML and LaTeX, lines of CSV and of 80 columns. Writers escape: no text is trusted."""

import csv
import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from fairspace.submissions.errors import harmless, latex, markdown, plain

WIDTH = 80
"""Columns of texts, and of tables where their cells are short enough."""
NAME = 24
"""Characters of a name that never has a line of its own."""
TEXTS = ("what it is", "note")
"""Columns that `Table.to_text` writes below a row."""
_NUMBER = re.compile(r"[+\N{MINUS SIGN}-]?\d[\d,]*(\.\d+)?(e-?\d+)?( ?%)?|–")


def wrapped(text: str, indent: str = "", hanging: int = 0) -> str:
    """A text in lines of 80 columns; further lines are indented twice, or by `hanging` characters."""
    further = 2 * indent or " " * hanging
    lines = textwrap.wrap(plain(text), WIDTH, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False)
    return "\n".join(lines)


def shortened(text: str, length: int) -> str:
    """A text in one line of at most `length` characters, without control sequences."""
    text = " ".join(plain(text).split())
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


@dataclass(frozen=True)
class Table:
    """A table of texts and whole numbers; the first cell of a row is its name.

    `name` is for files, such as `scores`; `groups`: head above each column, '' for none; equal neighbours are one head.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    heading: str = ""
    note: str = ""
    name: str = ""
    groups: Sequence[str] = ()

    def __str__(self) -> str:
        return "\n".join(filter(None, (wrapped(self.heading), self.to_text(), wrapped(self.note))))

    def to_text(self) -> str:
        """Header and rows in aligned columns, `TEXTS` below their row, without heading and note.

        Columns of numbers are aligned to the right. A name that is too long for 80 columns has a line of its own.
        """
        texts = [place for place, column in enumerate(self.columns) if column in TEXTS]
        every = (self.columns, *self.rows)
        lines = [[plain(str(cell)) for place, cell in enumerate(row) if place not in texts] for row in every]
        columns = [*zip(*lines, strict=True)]
        widths = [max(map(len, column)) for column in columns]
        numeric = [{*cells} > {"–"} & {*cells} and all(map(_NUMBER.fullmatch, cells)) for _, *cells in columns]
        others = sum(width + 2 for width in widths[1:])
        room = max(NAME, WIDTH - others)
        widths[0] = max((len(line[0]) for line in lines if len(line[0]) <= room), default=0)
        aligned = [str.rjust if number else str.ljust for number in (False, *numeric[1:])]
        written = []
        for line, row in zip(lines, every, strict=True):
            first, *rest = line
            if len(first) > widths[0]:
                written.append(first)
                first = ""
            cells = (align(cell, width) for align, cell, width in zip(aligned, (first, *rest), widths, strict=True))
            written.append("  ".join(cells).rstrip())
            below = (plain(str(row[place])) for place in texts if row is not self.columns)
            written += [f"    {part}" for text in below for part in textwrap.wrap(text, WIDTH - 4)]
        return "\n".join(written)

    def to_markdown(self) -> str:
        """Header and rows with pipes, without heading and note."""
        head, *rows = [
            "| " + " | ".join(markdown(str(cell)) for cell in line) + " |" for line in (self.columns, *self.rows)
        ]
        return "\n".join([head, "| --- " * len(self.columns) + "|", *rows])

    @cached_property
    def html(self) -> Markup:
        """Header and rows as HTML, without heading and note; made once."""
        head = "".join(f'<th scope="col">{_web(column)}</th>' for column in self.columns)
        if self.groups:
            above = [(text, len(list(same))) for text, same in groupby(self.groups)]
            head = "".join(f'<th colspan="{n}">{_web(text)}</th>' for text, n in above) + f"</tr><tr>{head}"
        lines = []
        for first, *cells in self.rows:
            lines.append(f'<tr><th scope="row">{_web(first)}</th>')
            lines.extend(f"<td>{_web(cell)}</td>" for cell in cells)
            lines.append("</tr>\n")
        content = "".join(lines)
        text = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{content}</tbody>\n</table>"
        return Markup(text)  # noqa: S704 every cell is escaped above

    def to_latex(self) -> str:
        """A `table` (booktabs) labelled `tab:NAME` whose caption is heading and note; the first column is left."""
        import pandas as pd

        columns: Any = [*map(latex, self.columns)]
        if self.groups:
            columns = pd.MultiIndex.from_arrays([[*map(latex, self.groups)], columns])
        frame = pd.DataFrame([[latex(str(cell)) for cell in row] for row in self.rows], columns=columns)
        text: str = frame.to_latex(
            index=False,
            escape=False,
            multicolumn_format="c",
            column_format="l" + "r" * (len(self.columns) - 1),
            caption=latex(" ".join(filter(None, (self.heading, self.note)))),
            label=f"tab:{self.name}",
            position="t",
        )
        return text.replace("\\begin{table}[t]\n", "\\begin{table}[t]\n\\centering\n")


def _web(cell: object) -> Markup:
    return escape(plain(str(cell)))


def csv_line(cells: Iterable[Any], end: str = "\n") -> str:
    """A line of CSV, safe for spreadsheets: texts by `harmless`, lists joined by "; ", yes or no, None as nothing."""
    text = io.StringIO()
    csv.writer(text, lineterminator=end).writerow(map(_csv_cell, cells))
    return text.getvalue()


def _csv_cell(cell: Any) -> Any:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = "; ".join(cell) if isinstance(cell, list) else cell
    return harmless(text) if isinstance(text, str) else text
