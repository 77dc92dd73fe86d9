"""GENRES' values of whole submissions against those of the oracle."""

from __future__ import annotations

from fairspace.submissions.benchmarks.genres.declaration import BENCHMARK
from tests.oracles.drawing import Oracle, tool
from tests.oracles.genres.drawn import draw, instruments, tables
from tests.oracles.genres.scores import values


def scorer(name: str) -> str:
    """`M4_cs` belongs to M4."""
    if name.startswith("M1_directed"):
        return "M1, directed"
    if "_p" in name:
        return "p of M7, M8"
    if "warmth_" in name:
        return "warmth"
    return name.split("_")[0] if name.startswith("M") else "refusals" if "refusal" in name else "floors"


ORACLE = Oracle(BENCHMARK, "v1", draw, tables, values, scorer, {"judge": tool("Llama-3.1-8B-Instruct")}, instruments)
