"""The tables in `published/`, as printed: rows, organisations and footnotes, and what a published row is made of."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from submissions.values import Value, measured, not_run

FOLDER = Path(__file__).parent / "published"
SOURCES = {
    "iris": "IRIS (arXiv:2603.00590)",
    "fact_or_fair": "FACT-OR-FAIR",
    "stereotypical_bias": "Measuring Stereotypical Bias in Multi-modal Large Language Models",
    "genres": "GENRES (From Individuals to Interactions)",
}


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


@lru_cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of one table in `published/`, every cell as printed."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def printed(name: str, text: str, source: str) -> Value:
    """A printed number as a value; `not_run` where the table has none ('' or 'n/a')."""
    if text in ("", "n/a", "-"):
        return not_run(name, f"{source} prints no such figure for this model")
    return measured(name, float(text.lstrip("<")), evidence={"printed": text, "source": source})


def organisation(benchmark: str, model: str) -> str:
    """Who made a model of a benchmark's paper (`models.csv`)."""
    return next(r["organisation"] for r in table("models") if (r["benchmark"], r["model"]) == (benchmark, model))


def footnotes(benchmark: str, model: str) -> tuple[Footnote, ...]:
    """The remarks on a model's printed numbers (`footnotes.csv`)."""
    rows = (r for r in table("footnotes") if (r["benchmark"], r["model"]) == (benchmark, model))
    return tuple(Footnote(r["score"], r["erratum"], r["text"]) for r in rows)
