"""Tables for the pages, as gr.Dataframe takes them: numbers to sort by, texts to show, and styles.

Every cell is plain text or a number; no cell is ever read as Markdown or HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard_space.text import MISSING, coverage, number, plain, shortened, superscript
from submissions.board import Row
from submissions.faults import Fault
from submissions.values import Value

Table = dict[str, Any]
LONGEST_NAME = 40
LONGEST_REASON = 90
"""Characters that a board's cell shows; a model's page shows all."""


@dataclass(frozen=True)
class Column:
    """One score column of a board.

    Args:
        score: name of the score.
        header: what stands above it.
        digits: decimals.
        signed: print a plus sign, and colour the cell by sign and size.
        width: in pixels.
        percent: the value is a share, shown in percent.
    """

    score: str
    header: str
    digits: int = 2
    signed: bool = False
    width: int = 92
    percent: bool = False

    def of(self, row: Row) -> Value | None:
        """The row's value, be it a score or a raw value."""
        return row.scores.get(self.score) or row.values.get(self.score)

    def number(self, row: Row) -> float | None:
        """The number to sort by and to show."""
        value = self.of(row)
        return None if value is None or value.value is None else self.scaled(value.value)

    def scaled(self, number: float) -> float:
        """A number of this column in the unit that it shows."""
        return 100 * number if self.percent else number

    def text(self, row: Row) -> str:
        """What stands in the cell: the number, or the state in words."""
        value = self.of(row)
        if value is not None and value.state != "value":
            return MISSING[value.state]
        return MISSING["not_run"] if value is None else self.format(self.number(row))

    def format(self, shown: float | None) -> str:
        """A number in this column's unit as text; without decimals from 10 000 on, where they say nothing."""
        return number(shown, 0 if shown is not None and abs(shown) >= 10_000 else self.digits, self.signed)


def board_table(
    rows: Sequence[Row],
    total: Column,
    columns: Sequence[Column],
    labels: Mapping[str, str],
    cohort: str,
    notes: Mapping[tuple[str, str], int],
) -> Table:
    """A board: rank, model, total, worst case, cohort, provenance, scores, labels, remarks, who, entry.

    Args:
        rows: in the board's order.
        total: the score that ranks go by.
        columns: the other scores to show.
        labels: label name -> header.
        cohort: header of the cohort's column, '' for none.
        notes: (entry, score) -> number of the footnote.
    """
    headers = ["Rank", "Model", total.header, "Worst case", *([cohort] if cohort else []), "Figures"]
    headers += [*(c.header for c in columns), *labels.values(), "Remarks", "Organisation", "Entry"]
    largest = {
        c.score: max((abs(n) for row in rows if (n := c.number(row)) is not None), default=0.0)
        for c in columns
        if c.signed
    }
    data, display, styling = [], [], []
    for row in rows:
        front = [*([plain(row.cohort) or "–"] if cohort else []), row.provenance]
        marks = [_marked(plain(row.labels.get(name, "–")), notes.get((row.entry, name))) for name in labels]
        ends = [*marks, remarks(row), plain(row.organisation), row.entry]
        shown_scores = [total, *columns]
        numbers = [c.number(row) for c in shown_scores]
        texts = [_marked(c.text(row), notes.get((row.entry, c.score))) for c in shown_scores]
        name = plain(row.model)
        ranked = None if row.ranked is None else total.scaled(row.ranked)
        data.append([row.rank, name, numbers[0], ranked, *front, *numbers[1:], *ends])
        first = [_rank(row), shortened(name, LONGEST_NAME), texts[0], _worst(row, total)]
        display.append([*first, *front, *texts[1:], *ends])
        colours = [_colour(c.number(row), largest[c.score]) if c.signed else "" for c in columns]
        styling.append([*[""] * (len(front) + 4), *colours, *[""] * len(ends)])
    return {"headers": headers, "data": data, "metadata": {"display_value": display, "styling": styling}}


def board_layout(total: Column, columns: Sequence[Column], labels: Mapping[str, str], cohort: str) -> dict[str, Any]:
    """Datatypes and widths of `board_table`, for gr.Dataframe."""
    parts = [
        ("number", 60),
        ("str", 150),
        ("number", total.width),
        ("number", 86),
        *([("str", 92)] if cohort else []),
        ("str", 104),
        *(("number", c.width) for c in columns),
        *[("str", 92)] * len(labels),
        ("str", 480),
        ("str", 250),
        ("str", 130),
    ]
    return {"datatype": [kind for kind, _ in parts], "column_widths": [f"{width}px" for _, width in parts]}


def _rank(row: Row) -> str:
    return "–" if row.rank is None else str(row.rank)


def _worst(row: Row, total: Column) -> str:
    """The number that the row is ranked by; a printed one has no worst case."""
    if row.ranked is None:
        return "–"
    return "printed" if row.provenance == "published" else total.format(total.scaled(row.ranked))


def remarks(row: Row) -> str:
    """That a run is limited, why a row has no rank in short (the model's page says all) or that samples are missing."""
    said = "".join(f"{remark}; " for remark in row.remarks)
    reasons = [reason for reason in row.unranked if reason not in row.remarks]
    if len(reasons) > 1:
        return f"{said}{shortened(plain(reasons[0]), LONGEST_REASON)} (and {len(reasons) - 1} more)"
    parts = [shortened(plain(reason), LONGEST_REASON) for reason in reasons]
    if row.provenance == "baseline" and not parts:
        parts.append("a line to compare with, not ranked")
    partial = [v.name for v in row.scores.values() if v.state == "value" and v.coverage is not None and v.coverage < 1]
    if partial and not row.unranked and not parts:
        parts.append("some samples missing: ranked by the worst case")
    return "; ".join((*row.remarks, *parts)) or "–"


def values_table(values: Mapping[str, Value], digits: int = 4) -> Table:
    """Every value with its state, bounds, coverage and reason."""
    headers = ["Name", "Value", "State", "Lowest", "Highest", "Coverage", "Reason"]
    data, display = [], []
    for value in values.values():
        state = "value" if value.state == "value" else MISSING[value.state]
        if value.state == "value" and value.coverage is not None and value.coverage < 1:
            state = "partial"
        share = value.coverage
        numbers = [value.value, value.low, value.high]
        data.append([value.name, value.value, state, value.low, value.high, share, plain(value.reason) or "–"])
        printed = value.evidence.get("printed")
        texts = [number(n, digits if n is None or abs(n) < 1000 else 1) for n in numbers]
        if isinstance(printed, str):
            texts[0] = printed.replace("-", "\N{MINUS SIGN}")
        if value.state != "value":
            texts[0] = state
        display.append([value.name, texts[0], state, *texts[1:], coverage(value), plain(value.reason) or "–"])
    return {"headers": headers, "data": data, "metadata": {"display_value": display, "styling": None}}


VALUES_LAYOUT: dict[str, Any] = {
    "datatype": ["str", "number", "str", "number", "number", "number", "str"],
    "column_widths": ["250px", "104px", "104px", "104px", "104px", "220px", "320px"],
}


def faults_table(faults: Sequence[Fault]) -> Table:
    """All faults of a submission."""
    headers = ["Code", "Where", "What was found", "What is expected", "How to mend it", "Rows"]
    data = [[f.code, *map(plain, (f.where, f.what, f.expected, f.mend)), f.count] for f in faults]
    return {"headers": headers, "data": data}


FAULTS_LAYOUT: dict[str, Any] = {
    "datatype": ["str", "str", "str", "str", "str", "number"],
    "column_widths": ["200px", "180px", "260px", "240px", "260px", "80px"],
}


def _marked(text: str, note: int | None) -> str:
    return text if note is None else f"{text} {superscript(note)}"


def _colour(value: float | None, largest: float) -> str:
    """Orange for male-favouring, blue for female-favouring, stronger with size; readable on light and dark."""
    if not value or not largest:
        return ""
    strength = 0.10 + 0.45 * abs(value) / largest
    colour = "230, 97, 1" if value > 0 else "33, 113, 181"
    return f"background-color: rgba({colour}, {strength:.2f})"
