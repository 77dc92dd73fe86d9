"""The figures that the four papers print: their tables as CSV, and one long table per benchmark that datasets publish.

`reference/published/` holds the tables as printed, cell by cell, with who made each model (`models.csv`) and remarks on
numbers that contradict their own formula (`footnotes.csv`; the errata are in `cards/errata.md`). `figures` gives every
printed cell under the name that scores of this repository have; the board, the tests and the config `published` of the
datasets read nothing else. A printed figure has no interval, no coverage and no records behind it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

from fairspace.builders import REFERENCE
from fairspace.builders.engine.dataset import Split

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = REFERENCE / "published"
PAPERS = {
    "iris": "IRIS (arXiv:2603.00590)",
    "fact_or_fair": "FACT-OR-FAIR",
    "stereotypical_bias": "Measuring Stereotypical Bias in Multi-modal Large Language Models",
    "genres": "GENRES (From Individuals to Interactions)",
}


@dataclass(frozen=True)
class Figure:
    """One cell of a printed table.

    Args:
        id: benchmark, file, cohort, model, row and column.
        benchmark: its name.
        table: where the paper prints it, for example `Table 2`.
        model: as the paper's main table writes it.
        organisation: who made the model.
        cohort: what the table ranks the model among: kind of model (IRIS, FACT-OR-FAIR) or judge (GENRES); else ''.
        row: what else says which row it is (attribute, context, scenario), joined by ' / '.
        column: as the table's file heads it.
        score: the name that this figure has in results and on the board.
        printed: the cell as printed; '' where the table leaves it empty.
        value: the number in the unit that the table prints (FACT-OR-FAIR and columns `_pct`: percent); 0 for a cell
            like '<0.0001'; None for an empty cell or one that holds no number.
        erratum: the erratum that explains the cell, or ''.
        note: what the cell comes to instead, or ''.
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


@dataclass(frozen=True)
class _Printed:
    """One file: where it is printed, which columns say the row and the cohort, and the score that a column holds."""

    file: str
    place: str
    score: Callable[[Mapping[str, str], str], str]
    keys: tuple[str, ...] = ()
    cohort: str = ""


_DETAILS = {"s_fact": "factuality", "s_e": "entropy", "s_kld": "kld", "s_fair": "fairness", "distance": "distance"}
_ERRORS = {
    "rep_high": "representativeness_high",
    "rep_low": "representativeness_low",
    "attr": "attribution",
    "avg_increase": "increase",
}
_IRIS = {name.lower(): name for name in ("IFS_Und", "RFS_Und", "BIS_Und", "IFS_Gen", "RFS_Gen", "BIS_Gen")}
_IRIS |= {"mbti_gen_printed": "profile_gen", "mbti_und_printed": "profile_und"}
_MODELS = {"FLUX-1.dev": "FLUX.1-dev"}
"""Tables 23 to 25 of IRIS -> the name in its Table 3."""
_COLUMNS = {"llava": "LLaVA-v1.5", "minigpt": "MiniGPT-v2", "cogvlm": "CogVLM", "ensemble": "Ensemble"}
"""Stereotypical bias, Table 2: one column per model."""


def _summary(row: Mapping[str, str], column: str) -> str:
    """FACT-OR-FAIR, Table 2: `obj_fact_gender` is `llm_factuality_gender`, `avg` is `average_llm`."""
    kind = _kind(row["model"])
    if column.startswith("avg"):
        return f"average_{kind}{column.removeprefix('avg')}"
    question, attribute = column.rsplit("_", 1)
    score = "factuality" if question == "obj_fact" else "fairness"
    return f"{kind}_{score}" + ("" if attribute == "avg" else f"_{attribute}")


def _detail(row: Mapping[str, str], column: str) -> str:
    """FACT-OR-FAIR, Tables 4 to 8: `s_e` of a context and an attribute is `entropy_llm_base_race`."""
    context = f"{row['kind']}_{row['context']}".replace("llm_subjective_", "llm_")
    return f"{_DETAILS[column]}_{context}_{row['attribute']}"


def _cognitive(row: Mapping[str, str], column: str) -> str:
    error, _, attribute = column.rpartition("_")
    return f"cognitive_error_{_ERRORS.get(error, error)}_{attribute}"


def _sector(name: str) -> Callable[[Mapping[str, str], str], str]:
    return lambda row, column: f"{name}.{column}"


def _stereotype(row: Mapping[str, str], column: str) -> str:
    filtered = "_na_filtered" if column.endswith("_na_filtered") else ""
    return f"{row['attribute']}_{row['scenario']}{filtered}"


_TABLES: Mapping[str, tuple[_Printed, ...]] = {
    "iris": (
        _Printed("iris_table3_overall", "Table 3", lambda row, column: _IRIS.get(column, column), cohort="kind"),
        _Printed("iris_table23_ifs_gen", "Table 23", _sector("IFS_Gen")),
        _Printed("iris_table24_rfs_gen", "Table 24", _sector("RFS_Gen")),
        _Printed("iris_table25_bis_gen", "Table 25", _sector("BIS_Gen")),
        _Printed("iris_table26_ifs_und", "Table 26", _sector("IFS_Und")),
        _Printed("iris_table27_rfs_und", "Table 27", _sector("RFS_Und")),
        _Printed("iris_table28_bis_und", "Table 28", _sector("BIS_Und")),
    ),
    "fact_or_fair": (
        _Printed("fof_table2_summary", "Table 2", _summary),
        _Printed("fof_table4_8_scores", "Tables 4 to 8", _detail, ("attribute", "context"), "kind"),
        _Printed("fof_table3_cognitive_errors", "Table 3", _cognitive),
    ),
    "stereotypical_bias": (_Printed("stereobias_table2_scores", "Table 2", _stereotype, ("attribute", "scenario")),),
    "genres": (
        _Printed("genres_table2_bias", "Table 2", lambda row, column: column.removesuffix("_pct"), cohort="evaluator"),
    ),
}


@lru_cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of one file in `reference/published/`, every cell as printed."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@lru_cache
def figures(benchmark: str) -> tuple[Figure, ...]:
    """Every printed cell of a benchmark's paper, in the paper's order. KeyError for another benchmark."""
    organisations = {row["model"]: row["organisation"] for row in table("models") if row["benchmark"] == benchmark}
    footnotes = {(row["model"], row["score"]): row for row in table("footnotes") if row["benchmark"] == benchmark}

    def cells(printed: _Printed) -> Iterator[Figure]:
        known = {"model", printed.cohort, *printed.keys}
        for line in table(printed.file):
            for column in (column for column in line if column not in known):
                model = line.get("model") or _COLUMNS[column.removesuffix("_na_filtered")]
                model = _MODELS.get(model, model)
                cohort = line[printed.cohort] if printed.cohort else _kind(model) if "fof" in printed.file else ""
                row = " / ".join(line[key] for key in printed.keys)
                score = printed.score(line, column)
                note = footnotes.get((model, score), {})
                yield Figure(
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

    return tuple(figure for printed in _TABLES[benchmark] for figure in cells(printed))


@lru_cache
def published_rows(benchmark: str) -> pa.Table:
    """`figures` as a table, one row per printed cell, columns as `Figure` has them."""
    import pyarrow as pa

    kinds = {field.name: pa.float64() if field.name == "value" else pa.string() for field in fields(Figure)}
    return pa.Table.from_pylist([asdict(figure) for figure in figures(benchmark)], schema=pa.schema(kinds.items()))


def published_split(benchmark: str) -> Split:
    """The config `published` of a benchmark's dataset."""
    return Split(
        config="published",
        split="test",
        about=f"A figure as {PAPERS[benchmark]} prints it, with the erratum where it contradicts its own formula.",
        features=_features,
        units=published_rows(benchmark),
        rows=lambda part: part,
        shard=10_000,
        fields={
            "benchmark": "whose paper prints it",
            "table": "where the paper prints it",
            "model": "as the paper's main table writes it",
            "organisation": "who made the model",
            "cohort": "kind of model, or judge, that the table ranks it among",
            "row": "attribute, context or scenario of the cell, where the table has them",
            "column": "as the table's file heads it",
            "score": "the name of the figure in results and on the board",
            "printed": "the cell as printed",
            "value": "the number, in the unit that the table prints; 0 for a cell like <0.0001; null for no number",
            "erratum": "entry of the errata that explains the cell",
            "note": "what the cell comes to instead",
        },
    )


def _features() -> object:
    from datasets import Features, Value

    kinds = {field.name: Value("float64" if field.name == "value" else "string") for field in fields(Figure)}
    return Features(kinds)


def _number(text: str) -> float | None:
    """The number of a cell; None for '', 'n/a', a sign or a word."""
    if text.startswith("<"):
        return 0.0
    try:
        return float(text)
    except ValueError:
        return None


@lru_cache
def _kind(model: str) -> str:
    """`llm` or `t2i`: Table 2 of FACT-OR-FAIR prints it as a heading, Tables 4 to 8 in the row."""
    return next(row["kind"] for row in table("fof_table4_8_scores") if row["model"] == model)
