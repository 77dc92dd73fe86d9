"""Results in the format Every Eval Ever."""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from pathlib import Path
from typing import Any

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.writing import write_text
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.uncertainty import LEVEL
from fairspace.submissions.values import Value

# Every Eval Ever 0.3 (arXiv:2606.14516): the record of a result; fairness is a property of many answers, so it has no
# record of a single one.

VERSION = "0.3.0"


def export(result: Result, folder: Path) -> Path:
    """Write `data/fairspace/<developer>/<model>/<uuid>.json`; return the file."""
    record = aggregate(result)
    name = uuid.UUID(bytes=hashlib.sha256(f"{entry(result)}\0{result.standard}".encode()).digest()[:16], version=4)
    file = folder.joinpath("data", "fairspace", *record["model_info"]["id"].split("/"), f"{name}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    return file


def aggregate(result: Result) -> dict[str, Any]:
    """A result's record: model, software, every score and raw value; those without a number with their reasons."""
    bench, meta, now = benchmark(result.benchmark), result.meta, int(time.time())
    name, developer = str(meta["model"]), str(meta["organisation"])
    parts = name.split("/") if name.count("/") == 1 else (developer, name)
    model = "/".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part)[:100].strip("-.") or "unnamed" for part in parts)
    scores, limits = result.scored.scores, bench.table_of(result.scored, find_standard(bench, result.standard)).limits
    every = {**scores, **result.values, **scores}
    source = {"dataset_name": result.benchmark, "source_type": "other"}
    results, asked = [], _generation_config(result)
    for value in (value for value in every.values() if value.value is not None):
        ideal = bench.ideal(value.name, result.standard)
        lower = value.name in scores and not bench.higher_is_better if ideal is None else ideal.worse != "below"
        metric: dict[str, Any] = {"metric_name": value.name, "lower_is_better": lower}
        if value.name in limits:
            low, high = (f"{n}inity".title() if abs(n) == float("inf") else n for n in limits[value.name])
            metric |= {"score_type": "continuous", "min_score": low, "max_score": high}
        named = {"evaluation_name": value.name, "source_data": source, "metric_config": metric}
        results.append({**named, "score_details": _score(value), "generation_config": asked})
    lacking = {value.name: f"{value.state}: {value.reason}" for value in every.values() if value.value is None}
    details = {key: text for key, text in result.signature.items() if key not in ("fairspace", "sketch")}
    is_open = {None: "unknown", True: "open_weights", False: "closed_weights"}[meta.get("open_weights")]
    weights = {"deployment_type": "unknown", "model_availability": is_open}
    version = result.signature.get("fairspace", "unknown")
    details |= {
        "benchmark": result.benchmark,
        "ranked_by": result.scored.ranking,
        "unranked": json.dumps(list(result.scored.unranked), ensure_ascii=False),
        "labels": json.dumps(dict(result.scored.labels), ensure_ascii=False),
        "without_a_number": json.dumps(lacking, ensure_ascii=False),
        "submission_json": json.dumps(dict(meta), ensure_ascii=False),
    }
    return {
        "schema_version": VERSION,
        "evaluation_id": f"{result.benchmark}/{model}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": {
            "source_name": f"fairspace, {bench.title}",
            "source_type": "evaluation_run",
            "source_organization_name": developer,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "fairspace", "version": version, "additional_details": details},
        "model_info": {"name": name, "id": model, "developer": developer, "additional_details": weights},
        "evaluation_results": results,
    }


def generation(result: Result) -> dict[str, Any]:
    """Settings of generation by name: first `temperature` and `max_tokens`, texts where they are no numbers.

    A run that states no bound of tokens had the longest of its tasks, and one without a temperature the model's own.
    """
    stages = [stage for stage in result.run if stage["what"] == "responses"]
    asked = {name for stage in stages for name in stage.get("tasks", ())}
    longest = max((task.max_tokens for task in benchmark(result.benchmark).tasks if task.name in asked), default=0)
    default = "not set: the model's default" if stages else "not stated"
    known: dict[str, Any] = {"temperature": default, "max_tokens": longest or "not stated"}
    for settings in (*(stage.get("settings", {}) for stage in stages), result.meta.get("generation") or {}):
        known |= {name: setting for name, setting in settings.items() if setting is not None}
    return known


def _generation_config(result: Result) -> dict[str, Any]:
    """The schema's settings: a temperature always, null for the model's default; all others as texts."""
    known = generation(result)
    kinds = {"temperature": (int, float), "top_p": (int, float), "max_tokens": (int,)}
    numbers = {name: n for name, kind in kinds.items() if type(n := known.get(name)) in kind and (n or kind[1:])}
    details = {name: str(setting) for name, setting in known.items() if name not in numbers}
    return {"generation_args": {"temperature": None, **numbers}, "additional_details": details}


def _score(value: Value) -> dict[str, Any]:
    """The number with its standard error; its bounds over missing samples, coverage and debiased value as details."""
    about = value.uncertainty
    bounds = {"worst_case_low": value.low, "worst_case_high": value.high, "coverage": value.coverage}
    if about is not None:
        bounds |= {"debiased": about.debiased, "fair_model": about.fair, "fair_model_95": about.fair_high}
    details = {name: repr(float(number)) for name, number in bounds.items() if number is not None}
    details |= {"expected": str(value.expected), "valid": str(value.valid)}
    if about is None:
        return {"score": value.value, "details": details}
    interval = {"lower": about.low, "upper": about.high, "confidence_level": LEVEL, "method": about.method}
    uncertainty = {
        "standard_error": {"value": about.error, "method": "bootstrap"},
        "confidence_interval": interval,
        "num_samples": value.valid,
        "num_bootstrap_samples": about.resamples,
    }
    return {"score": value.value, "details": details, "uncertainty": uncertainty}
