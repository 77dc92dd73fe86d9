"""A result: every value with its state, coverage and evidence, the scores under one standard, and the signature.

A result holds the raw values, so `rescore` needs no submission. Files of format 1 stay readable for ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pydantic import TypeAdapter

from fairspace.submissions.answers.items import Items, items_from_json
from fairspace.submissions.answers.rows import Summary
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.checking.consistency import TaskConsistency
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import Architecture
from fairspace.submissions.format.schema import Parameters
from fairspace.submissions.results.draws import Draws
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import Value

FORMAT = 1
MOST_PARTS = 64
"""Most variants of a result, and most tasks with readings."""
_SHAPE: Mapping[str, tuple[type, ...]] = {
    "benchmark": (str,),
    "standard": (str,),
    "meta": (dict,),
    "signature": (dict,),
    "ranking": (str,),
    "ranked": (int, float, type(None)),
    "unranked": (list,),
    "labels": (dict,),
    "scores": (list,),
    "values": (list,),
}
"""Field of every result -> its types; all others are left out where they are empty."""
_PARTS: Mapping[str, type] = {"variants": list, "readings": dict, "consistency": dict}
_FACTS: Mapping[str, TypeAdapter[Any]] = {
    "parameters": TypeAdapter(Parameters),
    "open_weights": TypeAdapter(bool),
    "architecture": TypeAdapter(Architecture),
}
"""Fields of `meta` that readers filter by; older results have none."""


@dataclass(frozen=True)
class Result:
    """The outcome of scoring one submission under one standard; older results lack some parts.

    Args:
        meta: `submission.json` without the contact.
        signature: Standard, dataset revision, submission digest, software version, label source, parser, judge.
        run: Stages of the submission's manifest; empty if it has none.
        draws: Resampled raw values behind the errors of scores; None if nothing was resampled.
        readings: Task, or part of a judge's answer -> summary of how its answers were read.
        consistency: Task -> comparison of its items, answers and readings.
        items: Value -> a few of its answers, the worst and typical ones.
        derived: Numbers that boards computed from this very result: its errors, its draws of the ranked number.
    """

    benchmark: str
    standard: str
    meta: Mapping[str, Any]
    values: Mapping[str, Value]
    scored: Scored
    signature: Mapping[str, str] = field(default_factory=dict)
    run: tuple[Mapping[str, Any], ...] = ()
    draws: Draws | None = None
    variants: tuple[Variant, ...] = ()
    readings: Mapping[str, Summary] = field(default_factory=dict)
    consistency: Mapping[str, TaskConsistency] = field(default_factory=dict)
    items: Items = field(default_factory=dict)
    derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """JSON data, with the same bytes for the same submission and standard."""
        data = {
            "format": FORMAT,
            "benchmark": self.benchmark,
            "standard": self.standard,
            "meta": dict(self.meta),
            "signature": dict(self.signature),
            "run": [dict(stage) for stage in self.run],
            "ranking": self.scored.ranking,
            "ranked": self.scored.ranked,
            "unranked": list(self.scored.unranked),
            "labels": self.scored.labels,
            "chances": self.scored.chances,
            "variants": [variant.to_json() for variant in self.variants],
            "readings": {task: read.to_json() for task, read in self.readings.items()},
            "consistency": {task: held.to_json() for task, held in self.consistency.items()},
            "items": {name: [item.to_json() for item in items] for name, items in self.items.items()},
            "draws": None if self.draws is None else self.draws.to_json(),
            "scores": [value.to_json() for value in self.scored.scores.values()],
            "values": [value.to_json() for value in self.values.values()],
        }
        return {name: part for name, part in data.items() if part or name in _SHAPE}

    def dumps(self) -> str:
        """JSON text."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Read `to_json`'s data. UsageError for another format."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT or "values" not in data:
            raise UsageError(f"This is no result of format {FORMAT}. `fairspace score` writes one with --out.")
        _check_shape(data)
        values = {v["name"]: Value.from_json(v) for v in data["values"]}
        if len(values) < len(data["values"]):
            raise ValueError("a value stands there twice")
        scores = {v["name"]: Value.from_json(v) for v in data["scores"]}
        about = (data["ranking"], data["ranked"], tuple(data["unranked"]), dict(data["labels"]))
        scored = Scored(scores, *about, dict(data.get("chances", {})))
        result = cls(
            data["benchmark"], data["standard"], data["meta"], values, scored, data["signature"], **further(data)
        )
        parts = [variant.values for variant in result.variants]
        if not {*(() if result.draws is None else result.draws.names), *chain.from_iterable(parts)} <= {*values}:
            raise ValueError("draws or variants of a value that the result does not have")
        return result


def further(data: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that older results lack, from JSON data. ValueError, KeyError, TypeError: not ours."""
    variants, readings, consistency = (data.get(name, kind()) for name, kind in _PARTS.items())
    for name, kind in _PARTS.items():
        if type(data.get(name, kind())) is not kind or len(data.get(name, ())) > MOST_PARTS:
            raise ValueError(f"{name}: expected at most {MOST_PARTS:,} parts in a {kind.__name__}")
    draws = Draws.from_json(data["draws"]) if "draws" in data else None
    loaded = tuple(map(Variant.from_json, variants))
    return {
        "run": tuple(data.get("run", ())),
        "draws": draws,
        "variants": loaded,
        "readings": {task: Summary.from_json(read) for task, read in readings.items()},
        "consistency": {task: TaskConsistency.from_json(held) for task, held in consistency.items()},
        "items": items_from_json(data.get("items", {})),
    }


def _check_shape(data: Mapping[str, Any]) -> None:
    for name, kinds in _SHAPE.items():
        if type(data.get(name, ...)) not in kinds:
            raise ValueError(f"{name} is not what `fairspace score` writes")
    texts = [*data["signature"].values(), *data["labels"].values(), *data["unranked"]]
    texts += [data["meta"].get(name) for name in ("model", "revision", "organisation", "licence")]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("signature, labels, unranked and meta hold something that is no text")
    for name, kind in _FACTS.items():
        if name in data["meta"]:
            kind.validate_python(data["meta"][name], strict=True)
    if data["benchmark"] not in NAMES:
        raise ValueError(f"there is no benchmark {data['benchmark']!r}")
    _check_run(data.get("run", []))


def _check_run(run: Any) -> None:
    from fairspace.submissions.format.manifest import RUN, STAGES, Stage

    unknown = "1970-01-01T00:00:00Z"
    if type(run) is not list or len(run) > STAGES:
        raise ValueError("run is not what `fairspace score` writes")
    for stage in run:
        if type(stage) is not dict or not set(stage) <= set(RUN):
            raise ValueError("a stage of run is not what `fairspace score` writes")
        Stage.model_validate({"started": unknown, "ended": unknown, **stage})
