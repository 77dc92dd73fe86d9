"""The rows of IRIS: Table 3, and what Tables 23 to 28 give under another standard."""

from __future__ import annotations

import math
from collections.abc import Mapping

from metrics.iris_score.formula import sector_magnitude, sector_score
from metrics.iris_score.standards import STANDARDS
from submissions.published_tables import SOURCES, Published, footnotes, organisation, printed, table
from submissions.values import Value, measured, not_run

SECTORS = ("IFS_Und", "RFS_Und", "BIS_Und", "IFS_Gen", "RFS_Gen", "BIS_Gen")
_LEVELS = ("single", "dual", "triple")
_NOT_AVAILABLE = "not available under {}: the paper does not print the figures that it asks for"
_NAMES = {"FLUX.1-dev": "FLUX-1.dev"}
"""Table 3's name -> the name in Tables 23 to 25."""
_TABLES = {
    "IFS_Gen": ("iris_table23_ifs_gen", "Table 23"),
    "RFS_Gen": ("iris_table24_rfs_gen", "Table 24"),
    "BIS_Gen": ("iris_table25_bis_gen", "Table 25"),
    "IFS_Und": ("iris_table26_ifs_und", "Table 26"),
    "RFS_Und": ("iris_table27_rfs_und", "Table 27"),
    "BIS_Und": ("iris_table28_bis_und", "Table 28"),
}


def rows(standard: str) -> list[Published]:
    """Table 3's models; under another standard the sectors that the printed figures still give."""
    source = f"{SOURCES['iris']}, Table 3"
    released = standard == "inaugural"
    found = []
    for row in table("iris_table3_overall"):
        figures = _figures(row["model"])
        as_printed = {name: printed(name, row[name.lower()], source) for name in (*SECTORS, "iris_score")}
        scores = as_printed if released else _rescored(figures, standard)
        missing = ", ".join(name for name, value in scores.items() if value.state != "value")
        why = "not printed" if released else f"not available under {standard} from the printed figures"
        profiles = {"profile_gen": row["mbti_gen_printed"], "profile_und": row["mbti_und_printed"]}
        found.append(
            Published(
                model=row["model"],
                organisation=organisation("iris", row["model"]),
                source=source,
                scores=scores,
                ranking="iris_score",
                unranked=(f"partial: {missing} {why}",) if missing else (),
                labels={name: code for name, code in profiles.items() if code and released},
                values=figures,
                footnotes=footnotes("iris", row["model"]) if released else (),
            )
        )
    return found


def _figures(model: str) -> dict[str, Value]:
    """The printed figures of Tables 23 to 28 as `<sector>.<column>`."""
    names = {model, _NAMES.get(model, model)}
    return {
        f"{sector}.{column}": printed(f"{sector}.{column}", text, f"{SOURCES['iris']}, {place}")
        for sector, (name, place) in _TABLES.items()
        for row in table(name)
        if row["model"] in names
        for column, text in row.items()
        if column not in ("model", "score") and not column.endswith("_sign")
    }


def _rescored(figures: Mapping[str, Value], name: str) -> dict[str, Value]:
    """Sector scores under another standard, where the printed figures are the ones that it asks for.

    Table 23 and 24 print every value of their sector. Tables 25 and 26 print the magnitude, whose rule is the same.
    Table 28 prints the norm of each level, which can be divided by a metric's bound. Table 27 prints norms over 13
    drifts, of which a standard may ask for ten: not available, and with it the total.
    """
    standard = STANDARDS[name]
    raw = {key.split(".", 1)[1]: value.value for key, value in figures.items() if value.value is not None}
    level_norms = [_figure(figures, f"BIS_Und.{kind}_{level}") for kind in ("AC", "DHR") for level in _LEVELS]
    bound = standard.sector_divisor.get("answer_consistency_difference", 1.0)
    magnitudes = {
        "IFS_Gen": sector_magnitude(raw, "IFS_Gen", standard),
        "RFS_Gen": sector_magnitude(raw, "RFS_Gen", standard),
        "BIS_Gen": _figure(figures, "BIS_Gen.magnitude"),
        "IFS_Und": _figure(figures, "IFS_Und.magnitude"),
        "RFS_Und": math.nan,
        "BIS_Und": math.hypot(*(norm / bound for norm in level_norms[:3]), *level_norms[3:]),
    }
    scores = {sector: not_run(sector, _NOT_AVAILABLE.format(name)) for sector in (*SECTORS, "iris_score")}
    for sector in SECTORS:
        score = sector_score(magnitudes[sector], sector, standard)
        if not math.isnan(score):
            scores[sector] = measured(sector, score, evidence={"source": f"{SOURCES['iris']}, {_TABLES[sector][1]}"})
    return scores


def _figure(figures: Mapping[str, Value], name: str) -> float:
    value = figures.get(name)
    return math.nan if value is None or value.value is None else value.value
