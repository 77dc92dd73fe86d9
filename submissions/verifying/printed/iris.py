"""IRIS' Tables 3, 7, 8 and 23 to 28 from the figures that they print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from fairspace.builders.printed import table
from fairspace.metrics.iris_score.formula import iris_score, profile_code, sector_magnitude, sector_score
from fairspace.metrics.iris_score.standards import INAUGURAL
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.iris.published import printed_values
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.standards.validation import leave_one_out
from fairspace.submissions.standards.validation_cohorts import published_cohort
from fairspace.submissions.verifying.comparison import Comparison, within_digits

TITLE = "IRIS"
_HALF = 5e-5
"""Magnitudes and their parts are printed with four digits behind the point, scores with two."""
_SECTORS = (
    ("IFS_Gen", "iris_table23_ifs_gen", "Table 23", "magnitude", 7),
    ("RFS_Gen", "iris_table24_rfs_gen", "Table 24", "magnitude", 5),
    ("BIS_Gen", "iris_table25_bis_gen", "Table 25", "magnitude", 0),
    ("IFS_Und", "iris_table26_ifs_und", "Table 26", "magnitude", 6),
    ("RFS_Und", "iris_table27_rfs_und", "Table 27", "fidelity_deviation", 5),
    ("BIS_Und", "iris_table28_bis_und", "Table 28", "magnitude", 6),
)
"""Sector, its file, where it is printed, its column of the magnitude, and how many printed parts that one has."""
_BY_LEVEL = ("AD_single", "AD_dual", "AD_triple", "SPD_single", "SPD_dual", "SPD_triple")
_IN_TABLE_3 = {"FLUX-1.dev": "FLUX.1-dev"}


def tables() -> Iterator[Comparison]:
    """The magnitudes and scores of the sectors, the total, the profile codes, and the ranks without one metric."""
    for sector, file, place, column, parts in _SECTORS:
        rows = table(file)
        if parts:
            slack = _HALF * (math.sqrt(parts) + 1)
            erratum = "E-IRIS-03" if sector == "IFS_Und" else ""
            cells = [(_magnitude(sector, row), float(row[column]), slack, erratum) for row in rows]
            yield from within_digits(TITLE, place, f"{sector} magnitude", cells)
        scores = [
            (
                sector_score(float(row[column]), sector, INAUGURAL),
                float(row["score"]),
                float(row["score"]) * INAUGURAL.decay[sector] * _HALF + 0.005,
                "",
            )
            for row in rows
        ]
        yield from within_digits(TITLE, place, f"{sector} score", scores)
    yield from _table_3()
    yield from _leave_one_out()


def _magnitude(sector: str, row: Mapping[str, str]) -> float:
    """The magnitude of a sector from the columns of its table."""
    figures = {f"{sector}.{name}": float(cell) for name, cell in row.items() if _is_number(cell)}
    if sector == "IFS_Und":
        return math.hypot(*(figures[f"{sector}.{name}"] for name in _BY_LEVEL))
    return float(sector_magnitude(printed_values(figures, scoring(INAUGURAL, AS_RELEASED)), sector, INAUGURAL))


def _table_3() -> Iterator[Comparison]:
    """The total from all printed figures, and the codes from the printed sector scores."""
    printed: dict[str, dict[str, float]] = {}
    for sector, file, _, _, _ in _SECTORS:
        for row in table(file):
            figures = printed.setdefault(_IN_TABLE_3.get(row["model"], row["model"]), {})
            figures.update((f"{sector}.{name}", float(cell)) for name, cell in row.items() if _is_number(cell))
    totals, codes = [], []
    for row in table("iris_table3_overall"):
        if _is_number(row["iris_score"]):
            values = printed_values(printed[row["model"]], scoring(INAUGURAL, AS_RELEASED))
            total = iris_score(values, INAUGURAL)["iris_score"]
            totals.append((total, float(row["iris_score"]), 0.005, "E-IRIS-06"))
        for task in ("gen", "und"):
            code = row[f"mbti_{task}_printed"]
            if code:
                formula = profile_code(*(float(row[f"{part}_{task}"]) for part in ("ifs", "rfs", "bis")))
                codes.append((float(formula == code), 1.0, 0.0, "" if formula == code else _noted(row["model"], task)))
    yield from within_digits(TITLE, "Table 3", "total score", totals)
    yield from within_digits(TITLE, "Table 3", "profile code (1: unlike)", codes)


def _noted(model: str, task: str) -> str:
    """The erratum that names a printed code, '' if none does."""
    names = [row["erratum"] for row in table("footnotes") if (row["model"], row["score"]) == (model, f"profile_{task}")]
    return names[0] if names else ""


def _leave_one_out() -> Iterator[Comparison]:
    """Spearman correlations of Tables 7 and 8, of the metrics whose values are printed one by one."""
    rows = [row for row in leave_one_out(published_cohort()) if row.rho is not None and row.printed is not None]
    cells = [(float(row.rho or 0), float(row.printed or 0), _HALF, "") for row in rows]
    yield from within_digits(TITLE, "Tables 7/8", "ranks without one metric", cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
