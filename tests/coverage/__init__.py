"""Every numbered item of the four papers, and the place where a user reaches it.

`items.csv` has a row per item; `python -m tests.coverage` writes `cards/coverage.md` from it. A place is a kind, a name
and the text to be seen there, `kind name: text`; several are divided by `; `:

- `evaluate MODULE: KEY`: a value that the module returns;
- `paper BENCHMARK: PART`: a table or figure of `fairspace report --paper`;
- `verify HEADING: TABLE`: a line of `fairspace verify`;
- `fairspace WORDS: TEXT`: a command and a text that it prints;
- `items BENCHMARK TASK: TEXT`: a prompt of `fairspace items`;
- `dataset NAME: TEXT`: a dataset and a text of its card;
- `page PATH: TEXT`: a page of the board;
- `file PATH: TEXT`: a file of the repository.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATES = {
    "right": "as in the paper",
    "other": "other by choice, and said where it is seen",
    "no result": "an illustration or an example: nothing to compute",
    "not possible": "cannot be made, for the reason in the last column",
}
NUMBERED = {
    "IRIS": {"Table": (37, 0), "Figure": (22, 0)},
    "FACT-OR-FAIR": {"Table": (9, 0), "Figure": (5, 0)},
    "stereotypical bias": {"Table": (3, 11), "Figure": (6, 8)},
    "GENRES": {"Table": (13, 0), "Figure": (17, 0)},
}
"""Paper -> tables and figures that it numbers, and those of its appendix with an A before the number."""
_RANGE = re.compile(r"(A?)(\d+)(?: to A?(\d+))?")


@dataclass(frozen=True)
class Place:
    """A place of one kind, and the text to be seen there."""

    kind: str
    name: str
    text: str

    def __str__(self) -> str:
        shown = {
            "evaluate": f'`evaluate.load("fairspace/{self.name}")`: `{self.text}`',
            "paper": f"`fairspace report --paper`, {self.text}",
            "verify": f"`fairspace verify`, {self.text}",
            "fairspace": f"`fairspace {self.name.replace('--help', self.text)}`",
            "items": f"`fairspace items {self.name.partition(' ')[0]}`, {self.name.partition(' ')[2]}",
            "dataset": f'`load_dataset("fairspace/{self.name}")`',
            "page": f"the board, `/{self.name}`",
            "file": f"[{self.name}](../{self.name})",
        }
        return shown[self.kind]


@dataclass(frozen=True)
class Item:
    """A row of `items.csv`."""

    paper: str
    item: str
    what: str
    places: tuple[Place, ...]
    state: str
    note: str

    def numbers(self) -> Iterator[tuple[str, str]]:
        """Tables and figures that the row is about, such as (`Table`, `A3`)."""
        if match := re.match(r"(Table|Figure)s? (.*)", self.item):
            for appendix, first, last in _RANGE.findall(match[2]):
                for number in range(int(first), int(last or first) + 1):
                    yield match[1], f"{appendix}{number}"


def items() -> list[Item]:
    """All rows."""
    with Path(__file__).with_name("items.csv").open(encoding="utf-8", newline="") as file:
        return [
            Item(row["paper"], row["item"], row["what"], tuple(_places(row["where"])), row["state"], row["note"] or "")
            for row in csv.DictReader(file)
        ]


def _places(where: str) -> Iterator[Place]:
    for part in where.split("; ") if where != "-" else ():
        place, _, text = part.partition(": ")
        kind, _, name = place.partition(" ")
        yield Place(kind, name, text)


def document() -> str:
    """`cards/coverage.md`."""
    rows = items()
    lines = [
        "# Coverage",
        "",
        "Every numbered formula, table, figure, dataset and protocol of the four papers, and where it is reached.",
        "Do not edit: written by `python -m tests.coverage` from its `items.csv`; a test goes to each place.",
        "",
        *(f"- *{state}*: {meaning} ({sum(row.state == state for row in rows)})." for state, meaning in STATES.items()),
    ]
    for paper in NUMBERED:
        lines += ["", f"## {paper}", "", "| item | what | where | state | remark |", "|---|---|---|---|---|"]
        for row in rows:
            if row.paper == paper:
                where = "; ".join(map(str, row.places)) or "–"
                lines.append(f"| {row.item} | {row.what} | {where} | {row.state} | {row.note} |")
    return "\n".join(lines) + "\n"
