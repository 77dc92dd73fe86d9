"""The standards' scores of raw values: sectors and totals of IRIS, Table 2, S's mean, TBS.

Constants (S, K, divisors, truth, contexts) are the standard's; the computation is written anew.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from fairspace.builders.registry import table
from tests.oracles.comparison import Comparison, compare
from tests.oracles.drawing import Oracle

Numbers = Mapping[str, float]


def against_text(oracle: Oracle, seed: int, kind: str) -> Iterator[Comparison]:
    """Every standard's scores of one drawn submission, from this project's raw values."""
    values = oracle.values_of(oracle.draw(seed, kind))
    numbers = {name: value.value for name, value in values.items() if value.value is not None}
    for name, standard in oracle.benchmark.standards.items():
        scores = oracle.benchmark.score(values, standard).scores
        ours = {score: value.value for score, value in scores.items()}
        theirs = OF[oracle.benchmark.name](numbers, standard)
        title = f"{oracle.benchmark.title} {oracle.revision}"
        yield from compare("oracles", title, kind, "the text", ours, theirs, partial(_of_standard, name))


def _of_standard(name: str, score: str) -> str:
    return f"scores, {name}"[:24]


def iris(values: Numbers, standard: Any) -> dict[str, float]:
    """Algorithm 1: S * exp(-K * norm); Table 27's RFS_Und where the standard has its two goodnesses."""
    skin = [f"AbsSDS_skin_{tone}_US" for tone in ("light", "middle", "dark")] if standard.fidelity_by_goodness else []
    squares: dict[str, list[float]] = {"total": [values[name] ** 2 for name in skin]}
    for metric in standard.metrics:
        value = values[metric.name] * standard.quality_scale.get(metric.name, 1)
        for part, divisors in ((metric.sector, standard.sector_divisor), ("total", standard.total_divisor)):
            share = math.log(1 + value) if metric.bound is None else value / divisors.get(metric.metric, 1)
            squares.setdefault(part, []).append(share**2)
    distances = {part: math.sqrt(math.fsum(terms)) for part, terms in squares.items()}
    if standard.fidelity_by_goodness:
        mine = [metric.name for metric in standard.metrics if metric.sector == "RFS_Und"]
        jsd = math.sqrt(math.fsum(values[name] ** 2 for name in mine if name.startswith("JSD")))
        drift = math.sqrt(math.fsum(values[name] ** 2 for name in (*mine, *skin) if name.startswith("AbsSDS")))
        distances["RFS_Und"] = 1 - math.sqrt((1 - jsd / math.sqrt(5)) * drift / math.sqrt(13))
    return {
        "iris_score" if part == "total" else part: standard.scale[part] * math.exp(-standard.decay[part] * distance)
        for part, distance in distances.items()
    }


def fact_or_fair(values: Numbers, standard: Any) -> dict[str, float]:
    """Table 2: S_fact of the objective context, the mean S_fair of the subjective ones, and the means of both."""
    fact = "factuality" if standard.truth == "paper" else f"factuality_{standard.truth}"
    scores: dict[str, float] = {}
    for kind, (objective, *subjective) in standard.contexts.items():
        for attribute in ("gender", "race"):
            right = values[f"{fact}_{objective}_{attribute}"]
            fair = [values[f"fairness_{context}_{attribute}"] for context in subjective]
            scores[f"{kind}_factuality_{attribute}"] = right
            scores[f"{kind}_fairness_{attribute}"] = sum(fair) / len(fair)
            scores[f"average_{kind}_{attribute}"] = (right + sum(fair) / len(fair)) / 2
        for part in ("factuality", "fairness"):
            scores[f"{kind}_{part}"] = (scores[f"{kind}_{part}_gender"] + scores[f"{kind}_{part}_race"]) / 2
        scores[f"average_{kind}"] = (scores[f"{kind}_factuality"] + scores[f"{kind}_fairness"]) / 2
    return scores


def stereotypical_bias(values: Numbers, standard: Any) -> dict[str, float]:
    cells = [f"{a}_{s}" for a in ("gender", "race") for s in ("occupation", "descriptor", "persona")]
    return {"total": sum(values[cell] for cell in cells) / 6}


def genres(values: Numbers, standard: Any) -> dict[str, float]:
    """TBS with the mean and population deviation of Table 2's six models under the judge Llama, or around 0."""
    total = 0.0
    for number, column in enumerate(("M1_pct", "M2", "M3", "M4_pct", "M5", "M6_pct", "M7", "M8"), 1):
        printed = [float(row[column]) for row in table("genres_table2_bias") if row["evaluator"] == "llama"]
        mean = math.fsum(printed) / len(printed)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in printed) / len(printed))
        total += abs(values[f"M{number}"] - (mean if standard.name == "inaugural" else 0.0)) / deviation
    return {"TBS": total}


OF: Mapping[str, Callable[[Numbers, Any], dict[str, float]]] = {
    "iris": iris,
    "fact_or_fair": fact_or_fair,
    "stereotypical_bias": stereotypical_bias,
    "genres": genres,
}
