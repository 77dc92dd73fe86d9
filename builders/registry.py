"""The datasets by name, and the papers' printed figures; `builders/<benchmark>/published.py` describes their tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from fairspace.builders import REFERENCE
from fairspace.builders.engine.dataset import Dataset, Split
from fairspace.builders.names import NAMES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NAMES", "dataset", "paper"]

FOLDER = REFERENCE / "published"


@dataclass(frozen=True)
class Printed:
    """One file of printed figures in `reference/published/`.

    `place` is its place in the paper, such as `Table 2`; `score` and `model` map row and column to the name in results
    and the model in the paper's main table; `keys` identify the row, beside the model; `cohort` is the column of the
    cohort ranked together, or ''; `cohort_of` has model -> cohort, where no column says it.
    """

    file: str
    place: str
    score: Callable[[Mapping[str, str], str], str]
    keys: tuple[str, ...] = ()
    cohort: str = ""
    model: Callable[[Mapping[str, str], str], str] = lambda row, column: row["model"]
    cohort_of: Callable[[str], str] = lambda model: ""


@dataclass(frozen=True)
class Paper:
    """The paper of a benchmark: title in sources, tables (the main one first), tags of cards, BibTeX entry, address."""

    title: str
    tables: tuple[Printed, ...]
    tags: tuple[str, ...] = ()
    citation: str = ""
    url: str = ""


@lru_cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of one file in `reference/published/`, every cell as printed."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def dataset(name: str) -> Dataset:
    """The dataset called `name`; imports only that one. KeyError names the known ones."""
    if name not in NAMES:
        close = get_close_matches(name, NAMES, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise KeyError(f"There is no dataset {name!r}{hint}. Known: {', '.join(NAMES)}.")
    return cast(Dataset, import_module(f"fairspace.builders.{name}.dataset").DATASET)


def paper(benchmark: str) -> Paper:
    """The paper of a benchmark, from `builders/<benchmark>/published.py`; one without tables if there is none."""
    if not (REFERENCE.parent / benchmark / "published.py").is_file():
        return Paper(benchmark.replace("_", " "), ())
    return cast(Paper, import_module(f"fairspace.builders.{benchmark}.published").PAPER)


# `reference/published/` holds the tables as printed, the makers of models (`models.csv`) and remarks on numbers that
# contradict their own formula (`footnotes.csv`; errata: `cards/errata.md`). A printed figure has no interval,
# coverage or records.


@dataclass(frozen=True)
class PrintedCell:
    """One cell of a printed table; `published_split` says what each field holds.

    `id` joins benchmark, file, cohort, model, row and column. Fields of keys are joined by ' / '; texts are '' where
    there is nothing, and `value` is None.
    """

    id: str
    benchmark: str
    table: str
    model: str
    organisation: str
    cohort: str
    row: str
    column: str
    score: str
    printed: str
    value: float | None
    erratum: str
    note: str


@lru_cache
def figures(benchmark: str) -> tuple[PrintedCell, ...]:
    """Every printed cell of a benchmark's paper, in the paper's order."""
    organisations = {row["model"]: row["organisation"] for row in table("models") if row["benchmark"] == benchmark}
    footnotes = {(row["model"], row["score"]): row for row in table("footnotes") if row["benchmark"] == benchmark}

    def cells(printed: Printed) -> Iterator[PrintedCell]:
        columns = {"model", printed.cohort, *printed.keys}
        for line in table(printed.file):
            for column in (column for column in line if column not in columns):
                model = printed.model(line, column)
                cohort = line[printed.cohort] if printed.cohort else printed.cohort_of(model)
                row = " / ".join(line[key] for key in printed.keys)
                score = printed.score(line, column)
                note = footnotes.get((model, score), {})
                yield PrintedCell(
                    id="/".join(filter(None, (benchmark, printed.file, cohort, model, *row.split(" / "), column))),
                    benchmark=benchmark,
                    table=printed.place,
                    model=model,
                    organisation=organisations[model],
                    cohort=cohort,
                    row=row,
                    column=column,
                    score=score,
                    printed=line[column],
                    value=_number(line[column]),
                    erratum=note.get("erratum", ""),
                    note=note.get("text", ""),
                )

    return tuple(figure for printed in paper(benchmark).tables for figure in cells(printed))


@lru_cache
def published_rows(benchmark: str) -> pa.Table:
    """`figures` as a table, one row per printed cell, columns as `PrintedCell` has them."""
    import pyarrow as pa

    kinds = {field.name: pa.float64() if field.name == "value" else pa.string() for field in fields(PrintedCell)}
    return pa.Table.from_pylist([asdict(figure) for figure in figures(benchmark)], schema=pa.schema(kinds.items()))


def published_split(benchmark: str) -> Split:
    """The config `published` of a benchmark's dataset."""
    return Split(
        config="published",
        about=f"A figure as {paper(benchmark).title} prints it, with the erratum where it contradicts its own formula.",
        columns={
            "benchmark": ("string", "whose paper prints it"),
            "table": ("string", "where the paper prints it"),
            "model": ("string", "as the paper's main table writes it"),
            "organisation": ("string", "who made the model"),
            "cohort": ("string", "kind of model, or judge, that the table ranks it among"),
            "row": ("string", "attribute, context or scenario of the cell, where the table has them"),
            "column": ("string", "as the table's file heads it"),
            "score": ("string", "the name of the figure in results and on the board"),
            "printed": ("string", "the cell as printed"),
            "value": (
                "float64",
                "the number, in the unit that the table prints; 0 for a cell like <0.0001; null for no number",
            ),
            "erratum": ("string", "entry of the errata that explains the cell"),
            "note": ("string", "what the cell comes to instead"),
        },
        units=published_rows(benchmark),
        shard=10_000,
    )


def _number(text: str) -> float | None:
    if text.startswith("<"):
        return 0.0
    try:
        return float(text)
    except ValueError:
        return None
