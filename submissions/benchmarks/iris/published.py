"""The rows of IRIS: Table 3, and what Tables 23 to 28 give under another standard."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fairspace.metrics.iris_score.formula import sector_magnitude, sector_metrics, sector_score
from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL, STANDARDS, Granular, IrisStandard
from fairspace.submissions.benchmarks.published import Published, footnotes, models, printed, source
from fairspace.submissions.values import Value, measured, not_run

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
    """Sector scores under another standard, where the printed figures are the ones that it asks for; never a total."""
    standard = STANDARDS[name]
    magnitudes = printed_magnitudes(figures, standard)
    names = dict.fromkeys((*SECTORS, *standard.sectors, "iris_score"))
    scores = {sector: not_run(sector, _NOT_AVAILABLE.format(name)) for sector in names}
    for sector in standard.sectors:
        if sector in magnitudes:
            score = sector_score(magnitudes[sector], sector, standard)
            scores[sector] = measured(sector, score, evidence={"source": places[sector]})
    return scores


def printed_magnitudes(figures: Mapping[str, Value], standard: IrisStandard) -> dict[str, float]:
    """Sector (and `total`) -> its distance from the ideal under a standard, where the printed figures give it.

    Table 23 and 24 print every value of their sector. Tables 25 and 26 print the magnitude, whose rule is the same.
    Table 28 prints the norm of each level, which can be divided by a metric's bound. Table 27 prints norms over 13
    drifts, which fit the inaugural rule alone: where a standard asks for ten, its RFS_Und is not available. A sector
    with other metrics than the paper's is not either, nor is a total.
    """
    raw = {key.split(".", 1)[1]: value.value for key, value in figures.items() if value.value is not None}
    levels = [_figure(figures, f"BIS_Und.{kind}_{level}") for kind in ("AC", "DHR") for level in _LEVELS]
    divisors = {"sector": standard.sector_divisor, "total": standard.total_divisor}
    pairs = {
        part: math.hypot(*(norm / by.get("answer_consistency_difference", 1.0) for norm in levels[:3]), *levels[3:])
        for part, by in divisors.items()
    }
    divergence = standard.total_divisor.get("distribution_divergence", 1.0)
    norms = [_figure(figures, f"RFS_Und.norm_{kind}") for kind in ("JSD", "ASDS")]
    found = {
        "BIS_Gen": _figure(figures, "BIS_Gen.magnitude"),
        "IFS_Und": _figure(figures, "IFS_Und.magnitude"),
        "BIS_Und": pairs["sector"],
    }
    for sector in ("IFS_Gen", "RFS_Gen"):
        if sector in standard.sectors:
            found[sector] = sector_magnitude(raw, sector, standard)
    if standard.fidelity_by_goodness and standard.metrics == GRANULAR:
        goodness = max(0.0, 1 - norms[0] / math.sqrt(5)) * norms[1] / math.sqrt(13)
        found["RFS_Und"] = 1 - math.sqrt(goodness) if not math.isnan(goodness) else math.nan
        same = [found[name] for name in ("IFS_Gen", "BIS_Gen", "IFS_Und")]
        generated = math.hypot(*(raw.get(m.name, math.nan) for m in sector_metrics("RFS_Gen", standard)))
        found["total"] = math.hypot(*same, generated / divergence, norms[0] / divergence, norms[1], pairs["total"])
    return {
        name: magnitude
        for name, magnitude in found.items()
        if not math.isnan(magnitude) and _metrics(name, standard) == _metrics(name, INAUGURAL)
    }


def _metrics(name: str, standard: IrisStandard) -> tuple[Granular, ...]:
    return standard.metrics if name == "total" else standard.by_sector.get(name, ())


def _figure(figures: Mapping[str, Value], name: str) -> float:
    value = figures.get(name)
    return math.nan if value is None or value.value is None else value.value
