"""FACT-OR-FAIR's Tables 2, 3, 5 and 8 from the scores and rates that the paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from fairspace.builders.fact_or_fair.published import PAPER
from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.builders.printed import table
from fairspace.metrics.cognitive_error_rate.formula import BASELINES, average_increase, increase
from fairspace.metrics.fact_or_fair.formula import fairness
from fairspace.metrics.fact_or_fair.tradeoff import distance
from fairspace.submissions.verifying.comparison import Comparison, within_digits

TITLE = "FACT-OR-FAIR"
_HALF = 0.005
"""Percentages are printed with two digits behind the point."""
_TABLE_3 = ("rep_high", "rep_low", "attr", "ingroup", "outgroup")
"""Columns of the rates, in the order of the baselines."""
_CUT = {("LLaMA-3.2", "gender"), ("Qwen-2.5", "gender")}
"""E-FOF-06."""
Row = Mapping[str, str]


def tables() -> Iterator[Comparison]:
    """Averages (Table 2), increases (Table 3), S_fair (Table 5) and distances (Table 8)."""
    yield from within_digits(TITLE, "Table 2", "averages", list(_averages()))
    yield from within_digits(TITLE, "Table 3", "average increase", list(_increases()))
    scores, errata = table("fof_table4_8_scores"), _errata()
    fair, apart = [], []
    for row in scores:
        s_fact, s_e, s_kld = (_percent(row[name]) for name in ("s_fact", "s_e", "s_kld"))
        names = [_score_name(row, column) for column in ("s_fair", "distance")]
        errata_of_row = [errata.get((row["model"], name), "") for name in names]
        fair.append((100 * float(fairness(s_e, s_kld)), float(row["s_fair"]), 3 * _HALF + 1e-4, errata_of_row[0]))
        d = 100 * distance(s_fact, s_e, len(GROUPS[row["attribute"]]))
        apart.append((d, float(row["distance"]), _HALF * (math.sqrt(2) + 1), errata_of_row[1]))
    fair = [(*cell[:3], cell[3] or _inherited(row)) for cell, row in zip(fair, scores, strict=True)]
    yield from within_digits(TITLE, "Table 5", "S_fair", fair)
    yield from within_digits(TITLE, "Table 8", "distance", apart)


def _inherited(row: Row) -> str:
    """E-FOF-01: S_fair of one cell is printed as its distance."""
    return "E-FOF-01" if row["s_fair"] == row["distance"] else ""


def _averages() -> Iterator[tuple[float, float, float, str]]:
    """Each average of Table 2 from Tables 4 and 5."""
    for row in table("fof_table2_summary"):
        mine = [cells for cells in table("fof_table4_8_scores") if cells["model"] == row["model"]]
        columns: dict[str, list[float]] = {"fact": [], "fair": []}
        for attribute in GROUPS:
            cells = [each for each in mine if each["attribute"] == attribute]
            fact = [float(each["s_fact"]) for each in cells if each["context"] == "objective"]
            fair = [float(each["s_fair"]) for each in cells if each["context"] != "objective"]
            columns["fact"] += fact
            columns["fair"].append(_mean(fair))
            yield _mean(fact), float(row[f"obj_fact_{attribute}"]), 2 * _HALF, ""
            yield columns["fair"][-1], float(row[f"subj_fair_{attribute}"]), 2 * _HALF + 1e-9, ""
            yield _mean([*fact, _mean(fair)]), float(row[f"avg_{attribute}"]), 3 * _HALF, ""
        fact, fair = columns["fact"], columns["fair"]
        yield _mean(fact), float(row["obj_fact_avg"]), 3 * _HALF, ""
        yield _mean(fair), float(row["subj_fair_avg"]), 3 * _HALF, ""
        yield _mean([_mean(fact), _mean(fair)]), float(row["avg"]), 3 * _HALF, ""


def _increases() -> Iterator[tuple[float, float, float, str]]:
    """The mean increase over chance of Table 3 from its rates."""
    for row in table("fof_table3_cognitive_errors"):
        for attribute in GROUPS:
            rates = [float(row[f"{column}_{attribute}"]) / 100 for column in _TABLE_3]
            baselines = BASELINES[attribute].values()
            above = [increase((rate,) * 3, chance) for rate, chance in zip(rates, baselines, strict=True)]
            erratum = "E-FOF-06" if (row["model"], attribute) in _CUT else ""
            yield 100 * average_increase(above)[0], float(row[f"avg_increase_{attribute}"]), 2 * _HALF, erratum


def _errata() -> Mapping[tuple[str, str], str]:
    """Model and score -> the erratum that a footnote gives."""
    return {(row["model"], row["score"]): row["erratum"] for row in table("footnotes")}


def _score_name(row: Row, column: str) -> str:
    """The name that a cell of Tables 4 to 8 has in results."""
    printed = next(each for each in PAPER.tables if each.file == "fof_table4_8_scores")
    return printed.score(row, column)


def _percent(cell: str) -> float:
    """A printed percentage as a share; '<0.0001' is 0 to the printed precision."""
    return 0.0 if cell.startswith("<") else float(cell) / 100


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
