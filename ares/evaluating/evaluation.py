"""`Evaluation`: the measured quality of an ARES model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fairspace.ares.evaluating.ablations import Outcome, Point
from fairspace.ares.evaluating.measure import Measured
from fairspace.ares.evaluating.nonfaces import GateError
from fairspace.ares.evaluating.speed import Speed

FORMAT = 1


@dataclass(frozen=True)
class Evaluation:
    """What was measured.

    Args:
        model: `name` and `sha256` of the model's folder, `arbiter` that it escalated to or ''.
        data: `name`, `revision`, `sha256`, and `images` per task.
        attributes: attribute -> what was measured of the model as it is configured.
        ablations: row of Tables 11 and 12 -> outcome.
        pareto: outcomes for pairs of thresholds.
        speed: row -> seconds; {} where they were not taken.
        parts: part of the model -> seconds per image.
        notes: what a reader must know.
        gate: what the gate lets pass; None where the model has none, or nothing was shown to it.
    """

    model: Mapping[str, str]
    data: Mapping[str, Any]
    attributes: Mapping[str, Measured]
    ablations: Mapping[str, Outcome]
    pareto: tuple[Point, ...]
    speed: Mapping[str, Speed]
    parts: Mapping[str, float]
    notes: tuple[str, ...]
    gate: GateError | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {"format": FORMAT, **asdict(self)}
