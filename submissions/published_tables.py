"""What a published row is made of: one model of a paper's table, its figures as values, and their footnotes.

The figures come from `builders.published`, which the datasets publish too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from builders.published import PAPERS, Figure, figures
from submissions.values import Value, measured, not_run


@dataclass(frozen=True)
class Footnote:
    """A remark on one printed number: where it stands, the erratum that explains it, and what it comes to."""

    score: str
    erratum: str
    text: str


@dataclass(frozen=True)
class Published:
    """One model of one paper's table.

    Args:
        model: as printed.
        organisation: who made it.
        source: paper and table.
        scores: printed scores by name; `not_run` where the table has none.
        ranking: the score that the board sorts by.
        unranked: why the row has no rank; empty if it has.
        labels: printed labels (profile codes, kind).
        values: further printed figures by name.
        cohort: rows are ranked among rows of the same cohort (GENRES: the evaluator; FACT-OR-FAIR: the kind of model).
        footnotes: remarks on contradicting numbers.
    """

    model: str
    organisation: str
    source: str
    scores: Mapping[str, Value]
    ranking: str
    unranked: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    cohort: str = ""
    footnotes: tuple[Footnote, ...] = ()


def models(benchmark: str) -> dict[tuple[str, str], list[Figure]]:
    """Model and cohort -> the printed figures of that row; the rows of the paper's main table, in its order."""
    cells = figures(benchmark)
    found: dict[tuple[str, str], list[Figure]] = {}
    for figure in cells:
        if figure.table == cells[0].table:
            found.setdefault((figure.model, figure.cohort), []).append(figure)
    for (model, _), own in found.items():
        own += [figure for figure in cells if figure.table != cells[0].table and figure.model == model]
    return found


def source(figure: Figure) -> str:
    """Paper and table of a figure."""
    return f"{PAPERS[figure.benchmark]}, {figure.table}"


def printed(figure: Figure) -> Value:
    """A printed figure as a value; `not_run` where the table has none."""
    if figure.value is None:
        return missing(figure.score, source(figure))
    return measured(figure.score, figure.value, evidence={"printed": figure.printed, "source": source(figure)})


def missing(name: str, place: str) -> Value:
    """A score that a table does not print for a model."""
    return not_run(name, f"{place} prints no such figure for this model")


def footnotes(own: Iterable[Figure]) -> tuple[Footnote, ...]:
    """The remarks on a model's printed numbers, in the order of the tables."""
    return tuple(Footnote(figure.score, figure.erratum, figure.note) for figure in own if figure.erratum)
