"""The rows of IRIS: Table 3, and what Tables 23 to 28 give under another standard."""

from __future__ import annotations

import math
from collections.abc import Mapping

from metrics.iris_score.formula import sector_magnitude, sector_score
from metrics.iris_score.standards import STANDARDS
from submissions.published_tables import Published, footnotes, models, printed, source
from submissions.values import Value, measured, not_run

SECTORS = ("IFS_Und", "RFS_Und", "BIS_Und", "IFS_Gen", "RFS_Gen", "BIS_Gen")
_LEVELS = ("single", "dual", "triple")
_NOT_AVAILABLE = "not available under {}: the paper does not print the figures that it asks for"


def rows(standard: str) -> list[Published]:
    """Table 3's models; under another standard the sectors that the printed figures still give."""
    released = standard == "inaugural"
    found = []
    for (model, _), own in models("iris").items():
        main = {figure.score: figure for figure in own if figure.table == own[0].table}
        further = [f for f in own if f.table != own[0].table and f.column != "score" and not f.column.endswith("_sign")]
        figures = {figure.score: printed(figure) for figure in further}
        places = {figure.score.split(".")[0]: source(figure) for figure in further}
        as_printed = {name: printed(main[name]) for name in (*SECTORS, "iris_score")}
        scores = as_printed if released else _rescored(figures, places, standard)
        missing = ", ".join(name for name, value in scores.items() if value.state != "value")
        why = "not printed" if released else f"not available under {standard} from the printed figures"
        profiles = {name: main[name].printed for name in ("profile_gen", "profile_und")}
        found.append(
            Published(
                model=model,
                organisation=own[0].organisation,
                source=source(own[0]),
                scores=scores,
                ranking="iris_score",
                unranked=(f"partial: {missing} {why}",) if missing else (),
                labels={name: code for name, code in profiles.items() if code and released},
                values=figures,
                footnotes=footnotes(own) if released else (),
            )
        )
    return found


def _rescored(figures: Mapping[str, Value], places: Mapping[str, str], name: str) -> dict[str, Value]:
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
            scores[sector] = measured(sector, score, evidence={"source": places[sector]})
    return scores


def _figure(figures: Mapping[str, Value], name: str) -> float:
    value = figures.get(name)
    return math.nan if value is None or value.value is None else value.value
