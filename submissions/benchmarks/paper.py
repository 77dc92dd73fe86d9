"""The tables and figures of a benchmark's paper as data: heads as printed, and the name of the value in each cell."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairspace.builders.registry import Figure
from fairspace.submissions.benchmarks.scoring_table import ScoringTable
from fairspace.submissions.drawing.svg import Svg
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Model:
    """A printed model, or one's `own`.

    `cohort`: kind of model, or judge; `values` by name, in the unit of results; `texts`: name -> text of a cell that is
    no number, such as a profile code; `notes`: name -> remark on a cell, '' -> on one's own row.
    """

    name: str
    own: bool
    cohort: str
    values: Mapping[str, Value]
    texts: Mapping[str, str]
    notes: Mapping[str, str]

    def number(self, name: str) -> float | None:
        """Number of a value; None without one."""
        return None if name not in self.values else self.values[name].value


@dataclass(frozen=True)
class Block:
    """A row for each model of a cohort (all for ''); `heads` stand before its name, `of` replaces `*` in names."""

    heads: Sequence[str] = ()
    of: str = ""
    cohort: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A printed table; `number` as printed, such as 'Table 2', and `caption` in our words.

    `columns`: their heads, with `groups` above; `names`: the value of each; `heads`: of the columns of `Block.heads`;
    `digits`, `unit`: decimals and factor of a column without printed figures.
    """

    number: str
    caption: str
    columns: Sequence[str]
    names: Sequence[str]
    blocks: Sequence[Block] = (Block(),)
    groups: Sequence[str] = ()
    heads: Sequence[str] = ()
    digits: int = 4
    unit: float = 1.0

    def names_of(self, block: Block) -> list[str]:
        """The value of each column in the rows of a block."""
        return [name.replace("*", block.of) for name in self.names]


@dataclass(frozen=True)
class PaperFigure:
    """A printed figure; `draw`: the models that have all values of one of `names`, own ones last -> its image."""

    number: str
    caption: str
    draw: Callable[[Sequence[Model]], Svg]
    names: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Paper:
    """Tables and figures; `printed`: a printed figure -> its name in them, and its unit, such as 100 for percent.

    `rules`: printed values that are no scores, such as norms; draws of their parts give the intervals of one's own.
    """

    parts: Sequence[PaperTable | PaperFigure]
    printed: Callable[[Figure], tuple[str, float]] = lambda figure: (figure.score, 1.0)
    rules: ScoringTable = field(default_factory=lambda: ScoringTable({}))


def read_tables(file: Path, **renamed: str) -> list[PaperTable]:
    """The tables of a `paper.toml`, an array `table` with the fields of `PaperTable`; `renamed`: parts of names."""
    text = file.read_text(encoding="utf-8")
    for old, new in renamed.items():
        text = text.replace(old, new)
    return [
        PaperTable(**{**fields, "blocks": [Block(**block) for block in fields.get("blocks", [{}])]})
        for fields in tomllib.loads(text)["table"]
    ]
