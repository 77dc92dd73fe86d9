"""Tables 3 and 20 to 28 of IRIS, its fairness space (`paper.toml`), and the radar of its sectors."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairspace.builders.iris.groups import OCCUPATIONS, REGIONS
from fairspace.metrics.iris_score.formula import norm
from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL, SECTORS
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.iris.about import BLOCKS, PRINTED_SECTORS
from fairspace.submissions.benchmarks.iris.score import scoring
from fairspace.submissions.benchmarks.paper import Block, Model, Paper, PaperFigure, PaperTable, read_parts
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Rule, ScoringTable, falling
from fairspace.submissions.drawing.svg import LINE, Svg, legend
from fairspace.submissions.plotting import GREY, INK, ORANGE
from fairspace.submissions.values import Value, measured

_NAMES = {f"{metric.sector}.{metric.name}": metric.name for metric in GRANULAR}
_NAMES |= {f"{sector}.score": sector for sector in SECTORS} | {"BIS_Gen.delta_GSR": "Penalty_delta_GSR"}
_NAMES |= {f"BIS_Gen.{name}_sign": f"Penalty_{name}" for name in ("QPS", "FQP", "SIL", "SCL")}
"""Printed figure -> its value."""
_TOP = 120.0
"""End of the axes of the radar, twice the threshold; a score beyond is drawn there."""


def paper(_values: Mapping[str, Value], scored: Scored, standard: str) -> Paper:
    """The paper's tables and figures."""
    radar = "The six sectors of one's own model with 95 % intervals; a larger score ends at 120. Dotted: the threshold."
    blocks, labour = {"Table 20": [Block((name,), name) for name in OCCUPATIONS]}, []
    for region, table in zip(REGIONS, ("Table 22", "Table 21"), strict=True):
        rows = [*csv.DictReader(region.file.read_text(encoding="utf-8").splitlines())]
        blocks[table] = [Block((row["occupation"], row["official"]), row["occupation"]) for row in rows]
        cells = {f"{r['occupation']}.{region.code}_{g}": float(r[g]) / 100 for r in rows for g in [*r][2:]}
        values = {name: measured(name, share) for name, share in cells.items()}
        labour.append(Model(f"{region.code}, {region.year}", False, "", values, {}, {}))
    parts = read_parts(Path(__file__).with_suffix(".toml"))
    parts = [
        replace(p, blocks=blocks[p.number]) if isinstance(p, PaperTable) and p.number in blocks else p for p in parts
    ]
    parts.append(PaperFigure("Radar", radar, _radar, [PRINTED_SECTORS]))
    rules = ScoringTable(_rules())
    return Paper(parts, lambda figure: (_NAMES.get(figure.score, figure.score), 1.0), rules, references=labour)


def _rules() -> dict[str, Rule]:
    """Printed norms, goodnesses and magnitudes, as the paper has them."""
    norms = {name: parts for blocks in BLOCKS.values() for block in blocks for name, parts in block}
    jsds = [metric.name for metric in INAUGURAL.by_sector["RFS_Gen"]]
    norms |= {f"RFS_Gen.norm_{code}": tuple(n for n in jsds if n.startswith(code)) for code in ("JSD_US", "JSD_EU")}
    length: Any = lambda columns, weights: norm([(1.0, column) for column in columns.values()])  # noqa: E731
    rules = [Rule(name, dict.fromkeys(parts, 1.0), length) for name, parts in norms.items() if name not in _NAMES]
    released = scoring(INAUGURAL, AS_RELEASED).rules
    rules += [Rule(f"{name}.magnitude", released[name].weights, released[name].combine) for name in SECTORS]
    jsd, drift, apart = (f"RFS_Und.{name}" for name in ("JSD_goodness", "ASDS_goodness", "fidelity_deviation"))
    rules += [
        Rule(jsd, {"RFS_Und.norm_JSD": 1.0}, lambda c, w: 1 - c["RFS_Und.norm_JSD"] / math.sqrt(5), bounds=falling),
        Rule(drift, {"RFS_Und.norm_ASDS": 1.0}, lambda c, w: c["RFS_Und.norm_ASDS"] / math.sqrt(13)),
        Rule(apart, {jsd: 1.0, drift: 1.0}, lambda c, w: 1 - (c[jsd] * c[drift]) ** 0.5, bounds=falling),
    ]
    return {rule.name: rule for rule in rules if rule.name}


def _radar(models: Sequence[Model]) -> Svg:
    svg = Svg(560, "The six sectors")
    x0, y0 = 280, 230 + legend(svg, {"one's own": (ORANGE, "circle"), "printed": (GREY, "circle")}, 4, 4, 552)

    def at(place: int, score: float, far: float = 1.0) -> tuple[float, float]:
        turn, length = math.radians(60 * place - 90), far * 190 * min(score, _TOP) / _TOP
        return x0 + length * math.cos(turn), y0 + length * math.sin(turn)

    def ring(scores: Sequence[float], *look: Any) -> None:
        svg.path([at(place, score) for place, score in enumerate((*scores, scores[0]))], *look)

    for level in (20, 40, 60, 80, 100, _TOP):
        ring([level] * 6, *((INK, 1.5, "2 4") if level == INAUGURAL.tau else (LINE,)))
        svg.text(*at(0, level), f"{level:g}", colour=GREY, size=11.5, halo=True)
    for place, name in enumerate(PRINTED_SECTORS):
        svg.line(*at(place, 0), *at(place, _TOP))
        svg.text(*at(place, _TOP, 1.2), name.replace("_", " "), anchor="middle", bold=True)
    for model in models:
        scores = [model.values[name].value or 0.0 for name in PRINTED_SECTORS]
        with svg.mark(f"{model.name}: {', '.join(f'{score:.1f}' for score in scores)}"):
            ring(scores, *((ORANGE, 2.5) if model.own else (GREY, 0.8)))
        for place, name in enumerate(PRINTED_SECTORS if model.own else ()):
            for low, high in filter(None, [model.values[name].interval]):
                svg.line(*at(place, low), *at(place, high), ORANGE, 5, opacity=0.45)
            x, y = at(place, scores[place])
            svg.symbol(x, y, ORANGE)
            svg.text(x + 9, y + 12, f"{scores[place]:.1f}", colour=ORANGE, size=11.5, halo=True)
    svg.height = y0 + 240
    return svg
