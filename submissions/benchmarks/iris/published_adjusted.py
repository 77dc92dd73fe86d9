"""Printed rows of IRIS under a reader's adjustment.

Tables 23 to 28 print some values one by one (RD, JSD of generation, delta GSR) and others as the norm of a block (AD
and SPD by level, divergences by region, all 13 drifts, AC and DHR by level). A sector can be made again where all
values of each block have one weight. The total is made of the same blocks, with its own divisors. Where a table prints
one norm for all of them, too, that one is taken if they have one weight: its rounding differs from that of the blocks,
and S and K of the total are fitted to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fairspace.metrics.iris_score.formula import Weights, profile_code, sector_score, sector_values
from fairspace.metrics.iris_score.standards import ARCHETYPES, INAUGURAL, SKIN_DRIFT, IrisStandard
from fairspace.submissions.benchmarks.adjustment import Adjustment, left_out
from fairspace.submissions.benchmarks.iris.adjust import counting
from fairspace.submissions.benchmarks.published import NOT_PRINTED, PrintedRow
from fairspace.submissions.values import Value, measured, not_run

_LEVELS = {
    "single": ("gender", "age", "skin"),
    "dual": ("gender_age", "gender_skin", "age_skin"),
    "triple": ("gender_age_skin",),
}


@dataclass(frozen=True)
class Block:
    """Values of a sector of which the paper prints the norm.

    Args:
        names: of the values.
        figure: what the norm is called among a row's values; '' where it is not printed.
        metric: of all of them, for the divisors.
    """

    names: tuple[str, ...]
    figure: str
    metric: str = ""


def _levels(sector: str, metric: str, prefix: str, figure: str) -> list[Block]:
    """The blocks of a metric of the understanding sectors, by level."""
    blocks = []
    for level, attributes in _LEVELS.items():
        last = {"gender_age_skin": "joint_all"} if sector == "IFS_Und" else {}
        begin = f"{prefix}_{level}" if sector == "IFS_Und" else prefix
        names = tuple(f"{begin}_{last.get(a, a)}" for a in attributes)
        blocks.append(Block(names, f"{sector}.{figure}_{level}", metric))
    return blocks


def _blocks(sector: str, standard: IrisStandard, weights: Weights) -> list[Block]:
    """What the paper prints of a sector."""
    names = sector_values(sector, standard)
    if sector in ("IFS_Gen", "RFS_Gen"):
        metrics = {metric.name: metric.metric for metric in standard.by_sector[sector]}
        return [Block((name,), f"{sector}.{name}", metrics[name]) for name in names]
    if sector == "BIS_Gen":
        gap, penalties = names[:1], names[1:]
        if not any(weights.get(name) for name in penalties):
            return [Block(gap, "BIS_Gen.delta_GSR", "generation_success_penalty"), Block(penalties, "")]
        return [Block(names, "BIS_Gen.magnitude")]
    alike = len({weights.get(name, 0.0) for name in names}) == 1
    if sector == "IFS_Und":
        if alike:
            return [Block(names, "IFS_Und.magnitude")]
        return [
            *_levels(sector, "accuracy_disparity", "AD", "AD"),
            *_levels(sector, "statistical_parity_difference", "SPD", "SPD"),
        ]
    if sector == "BIS_Und":
        return [
            *_levels(sector, "answer_consistency_difference", "ac_diff", "AC"),
            *_levels(sector, "hallucination_inconsistency", "dhr_inconsistency", "DHR"),
        ]
    jsds = [name for name in names if name.startswith("JSD")]
    drifts = tuple(dict.fromkeys([*(name for name in names if name.startswith("AbsSDS")), *SKIN_DRIFT]))
    if len({weights.get(name, 0.0) for name in jsds}) == 1:
        return [
            Block(tuple(jsds), "RFS_Und.norm_JSD", "distribution_divergence"),
            Block(drifts, "RFS_Und.norm_ASDS", "stereotype_drift"),
        ]
    regions = [
        Block(tuple(n for n in jsds if n.endswith(code)), f"RFS_Und.norm_JSD_{code}", "distribution_divergence")
        for code in ("US", "EU")
    ]
    return [*regions, Block(drifts, "RFS_Und.norm_ASDS", "stereotype_drift")]


def _squares(
    row: PrintedRow, sector: str, standard: IrisStandard, weights: Weights, divisor: Mapping[str, float]
) -> dict[str, float] | None:
    """Metric -> sum of the weighted squares of its values in a sector; None where print does not say."""
    blocks = _blocks(sector, standard, weights)
    named = {name for block in blocks for name in block.names}
    if not named >= set(sector_values(sector, standard)) & set(weights):
        return None
    found: dict[str, float] = {}
    for block in blocks:
        shares = {weights.get(name, 0.0) for name in block.names}
        if shares == {0.0}:
            continue
        figure = row.values.get(block.figure)
        if len(shares) > 1 or figure is None or figure.value is None:
            return None
        square = shares.pop() * (figure.value / divisor.get(block.metric, 1.0)) ** 2
        found[block.metric] = found.get(block.metric, 0.0) + square
    return found


def adjusted_print(
    row: PrintedRow, standard: IrisStandard, changed: Adjustment
) -> tuple[dict[str, Value], dict[str, str], tuple[str, ...], str]:
    """Scores, labels, why there is no rank, and the score that ranks go by."""
    weights = counting(standard, changed)
    plain = counting(standard, Adjustment())
    sectors = [name for name in row.scores if name in standard.sectors]
    scores = {sector: _sector(row, sector, standard, weights[sector], plain[sector], changed) for sector in sectors}
    total = scores["iris_score"] = _total(row, standard, weights, plain, changed)
    unranked: tuple[str, ...] = () if total.state == "value" else (f"partial: {total.reason}",)
    if total is row.scores["iris_score"]:
        unranked = row.unranked
    return scores, _labels(row, scores, standard, changed), unranked, "iris_score"


def _sector(
    row: PrintedRow, sector: str, standard: IrisStandard, own: Weights, plain: Weights, changed: Adjustment
) -> Value:
    if not own:
        return left_out(sector)
    if own == plain and not (changed.own and sector.startswith("RFS")):
        return row.scores[sector]
    squares = (
        None
        if changed.own and sector.startswith("RFS")
        else _squares(row, sector, standard, own, standard.sector_divisor)
    )
    if squares is None:
        return not_run(sector, f"{NOT_PRINTED} the values of {sector} one by one")
    magnitude = math.sqrt(sum(squares.values()))
    if sector == "RFS_Und" and standard.fidelity_by_goodness:
        magnitude = _by_goodness(squares, own)
    return measured(sector, sector_score(magnitude, sector, standard), evidence=_SOURCE)


_SOURCE = {"source": "made of printed values as a reader adjusts the standard; not printed"}
_FITTED = {
    **_SOURCE,
    "erratum": "E-IRIS-06",
    "note": "made of printed values; S and K of the total are fitted to the printed totals, not published",
}


def _by_goodness(squares: Mapping[str, float], own: Weights) -> float:
    """As `fairspace.metrics.iris_score.formula.sector_magnitude` for RFS_Und, from printed norms."""
    jsds = sum(weight for name, weight in own.items() if name.startswith("JSD"))
    drifts = sum(weight for name, weight in own.items() if name.startswith("AbsSDS"))
    parts = []
    if jsds:
        parts.append(max(0.0, 1 - math.sqrt(squares["distribution_divergence"] / jsds)))
    if drifts:
        parts.append(math.sqrt(squares["stereotype_drift"] / drifts))
    return 1 - (math.sqrt(parts[0] * parts[1]) if len(parts) == 2 else parts[0])


def _total(
    row: PrintedRow,
    standard: IrisStandard,
    weights: Mapping[str, Weights],
    plain: Mapping[str, Weights],
    changed: Adjustment,
) -> Value:
    own = weights["total"]
    if own == plain["total"] and not changed.own:
        return row.scores["iris_score"]
    square = 0.0
    for sector in standard.sectors:
        counted = {name: own[name] for name in weights[sector] if name in own}
        if not counted:
            continue
        restated = changed.own and sector.startswith("RFS")
        squares = None if restated else _squares(row, sector, standard, counted, standard.total_divisor)
        if squares is None:
            return not_run("iris_score", f"{NOT_PRINTED} the values of {sector} one by one")
        square += sum(squares.values())
    evidence = _FITTED if standard is INAUGURAL else _SOURCE
    return measured("iris_score", sector_score(math.sqrt(square), "total", standard), evidence=evidence)


def _labels(
    row: PrintedRow, scores: Mapping[str, Value], standard: IrisStandard, changed: Adjustment
) -> dict[str, str]:
    """The printed codes where neither their scores nor tau changed; else the codes of the scores.

    A task for which the paper prints no code has none.
    """
    labels: dict[str, str] = {}
    for task in ("gen", "und"):
        sectors = [f"{dimension}_{task.title()}" for dimension in ("IFS", "RFS", "BIS")]
        name = f"profile_{task}"
        if name not in row.labels:
            continue
        if changed.tau is None and all(scores.get(s) is row.scores.get(s) for s in sectors):
            labels[name] = row.labels[name]
            continue
        numbers = [value.value if (value := scores.get(sector)) is not None else None for sector in sectors]
        known = [number for number in numbers if number is not None]
        code = None
        if len(known) == len(sectors):
            code = profile_code(known[0], known[1], known[2], standard.tau if changed.tau is None else changed.tau)
        if code is not None:
            labels |= {name: code, f"archetype_{task}": ARCHETYPES[code]}
    return labels
