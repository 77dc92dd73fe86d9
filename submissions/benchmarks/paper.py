"""The tables and figures of a benchmark's paper as data: heads as printed, and the name of the value in each cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fairspace.builders.registry import Figure
from fairspace.submissions.benchmarks.scoring_table import ScoringTable
from fairspace.submissions.drawing.svg import Svg
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Model:
    """One model of a table or figure: a printed one, or one's own.

    Args:
        cohort: kind of model, or judge, where the paper has several tables or blocks for them.
        values: name -> value, in the unit of results; of a printed figure, the cell is the evidence `printed`.
        texts: name -> text of a cell that is no number, such as a profile code.
        notes: name -> remark on a cell; '' has the remarks on the whole row.
    """

    name: str
    own: bool
    cohort: str
    values: Mapping[str, Value]
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """Number of a value; None without one."""
        return None if name not in self.values else self.values[name].value

    def interval(self, name: str) -> tuple[float, float] | None:
        """The 95 % interval of a value; None without one."""
        return None if name not in self.values else self.values[name].interval


@dataclass(frozen=True)
class Block:
    """The rows of every model that has one of the values; `heads` stand before the model's name.

    `names`: the value of each column, '' for an empty cell; `cohort`: models of this cohort alone; all for ''.
    """

    names: Sequence[str]
    heads: tuple[str, ...] = ()
    cohort: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A printed table; `number` as printed, such as 'Table 2', and `caption` in our words.

    Args:
        columns: head of each column of values.
        blocks: rows, from top to bottom.
        groups: head above each column, equal neighbours are one; () for none.
        heads: heads of the columns of `Block.heads`.
        digits, unit: decimals and factor of a column without printed figures, which otherwise give both.
    """

    number: str
    caption: str
    columns: Sequence[str]
    blocks: Sequence[Block]
    groups: Sequence[str] = ()
    heads: tuple[str, ...] = ()
    digits: int = 4
    unit: float = 1.0


@dataclass(frozen=True)
class PaperFigure:
    """A printed figure; `draw`: the models that have all values of one of `names`, own ones last -> its image."""

    number: str
    caption: str
    draw: Callable[[Sequence[Model]], Svg]
    names: Sequence[Sequence[str]] = ((),)


@dataclass(frozen=True)
class Paper:
    """What a paper prints of each model.

    Args:
        parts: tables and figures, in the order of the paper.
        printed: a printed figure -> the value's name in `parts`, and the printed unit, such as 100 for percent.
        rules: printed values that are no scores, such as a norm, as rules over component metrics; their intervals
            come from the draws of a result.
    """

    parts: Sequence[PaperTable | PaperFigure]
    printed: Callable[[Figure], tuple[str, float]] = lambda figure: (figure.score, 1.0)
    rules: ScoringTable = field(default_factory=lambda: ScoringTable({}))
