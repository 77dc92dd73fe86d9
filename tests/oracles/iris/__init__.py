"""IRIS' values of whole submissions against those of the oracle."""

from __future__ import annotations

from functools import partial

from fairspace.submissions.benchmarks.iris.declaration import BENCHMARK
from tests.oracles.drawing import Oracle, tool
from tests.oracles.iris.drawn import Drawn, draw, tables
from tests.oracles.iris.generation import neutral, steer
from tests.oracles.iris.understanding import occupations, pairs, refusals, tournament


def scorer(name: str) -> str:
    """`AD_single_gender` belongs to AD."""
    if name.startswith("JSD"):
        return "JSD, images" if name.startswith(("JSD_US", "JSD_EU")) else "JSD, tournament"
    labels = {"ac_diff": "AC difference", "dhr": "DHR inconsistency", "refusal": "refusal disparity"}
    labels |= {"Penalty_delta": "success penalty", "Penalty": "quality penalties", "competence": "competences"}
    labels |= {"AbsSDS": "|SDS|", "RD": "RD", "AD": "AD", "SPD": "SPD"}
    return next(label for start, label in labels.items() if name.startswith(start))


def oracle(drawn: Drawn) -> dict[str, float]:
    """Every value from what was drawn."""
    parts = (neutral, steer, occupations, tournament, pairs, refusals)
    return {name: value for part in parts for name, value in part(drawn).items()}


ORACLES = [
    Oracle(BENCHMARK, revision, partial(draw, revision), tables, oracle, scorer, {"labels": tool("drawn")})
    for revision in ("v2", "v1")
]
