"""Printed figures of the papers as rows of a board. `fairspace.builders.registry` reads the tables.

A published row has printed numbers and those computed from them: no intervals, no coverage, no records. A printed
number that contradicts its own formula stays, with a footnote that names the erratum in `cards/errata.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fairspace.builders.registry import PrintedCell, figures, paper
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.values import Value, measured, not_run

__all__ = ["PRINTED", "Footnote", "Published", "published"]
PRINTED = "paper"
"""Protocol of printed rows, unless a benchmark says more."""
COMPUTED = "computed here from the paper's tables"
PAPER_PRINTS = "paper_prints"
"""Evidence key of a computed number: the number that the paper prints in its place."""


@lru_cache
def published(benchmark: str, standard: str = "") -> tuple[Published, ...]:
    """Every model that the paper of a benchmark prints, in its order; by another standard maybe without a rank."""
    bench = find_benchmark(benchmark)
    return tuple(bench.published(standard or bench.default))


@dataclass(frozen=True)
class Footnote:
    """A remark on one printed number: its score, the erratum that explains it, and the correction."""

    score: str
    erratum: str
    text: str


@dataclass(frozen=True)
class Published:
    """One model of one paper's table.

    Args:
        scores: printed scores by name; `not_run` where the table has none.
        labels: profile codes from its scores, or a printed kind.
        cohort: rows of the same cohort are ranked together (GENRES: the evaluator; FACT-OR-FAIR: the kind of model).
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
    protocol: str = PRINTED


def models(benchmark: str) -> dict[tuple[str, str], list[PrintedCell]]:
    """Model and cohort -> its printed figures; the rows of the paper's main table, in its order."""
    cells = figures(benchmark)
    rows: dict[tuple[str, str], list[PrintedCell]] = {}
    for figure in cells:
        if figure.table == cells[0].table:
            rows.setdefault((figure.model, figure.cohort), []).append(figure)
    for (model, cohort), row in rows.items():
        further = (figure for figure in cells if figure.table != cells[0].table and figure.model == model)
        row += [figure for figure in further if figure.cohort in ("", cohort)]
    return rows


def source(figure: PrintedCell) -> str:
    """Paper and table of a figure."""
    return f"{paper(figure.benchmark).title}, {figure.table}"


def printed(figure: PrintedCell) -> Value:
    """A printed figure as a value; `not_run` where the table has none."""
    if figure.value is None:
        return missing(figure.score, source(figure))
    return measured(figure.score, figure.value, evidence={"printed": figure.printed, "source": source(figure)})


def computed(name: str, number: float, place: str, beside: Value | None = None, **evidence: Any) -> Value:
    """A number computed from the printed figures at `place`; `beside` is the number that the paper prints for it."""
    print_of = {} if beside is None or "printed" not in beside.evidence else {PAPER_PRINTS: beside.evidence["printed"]}
    return measured(name, number, evidence={"source": f"{COMPUTED}: {place}", **print_of, **evidence})


def missing(name: str, place: str) -> Value:
    """A score that a table does not print for a model."""
    return not_run(name, f"{place} prints no such figure for this model")


def published_row(cells: Sequence[PrintedCell], scores: Mapping[str, Value], ranking: str, **further: Any) -> Published:
    """The row of a model from its printed figures, main table first, with footnotes in the order of the tables."""
    first = cells[0]
    further.setdefault("footnotes", tuple(Footnote(c.score, c.erratum, c.note) for c in cells if c.erratum))
    return Published(first.model, first.organisation, source(first), scores, ranking, **further)
