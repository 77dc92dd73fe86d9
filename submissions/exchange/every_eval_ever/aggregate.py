"""A result as an aggregate record: who evaluated what model with which software, and every number that it has."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.exchange.every_eval_ever.schema import VERSION
from fairspace.submissions.results.answer_sketch import SKETCH
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.uncertainty import LEVEL
from fairspace.submissions.values import Value

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
LIBRARY = "fairspace"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
ARGUMENTS = ("temperature", "top_p", "top_k", "max_tokens")
"""Settings of generation that the schema has fields for."""
_LONGEST = 100
"""Characters of a part of a model's id, which names a folder."""
_FACTS = ("revision", "licence", "parameters", "architecture")


def aggregate(
    result: Result, relationship: Relationship, retrieved: int, namespace: str = "fairspace"
) -> dict[str, Any]:
    """The record.

    Args:
        result: every score and raw value with a number becomes an evaluation result; the others are named with their
            reasons in `eval_library.additional_details`.
        relationship: of whoever ran the model to whoever made it.
        retrieved: when the record is made, in seconds since 1970.
        namespace: of the datasets on the Hub.
    """
    bench, model = benchmark(result.benchmark), model_id(result)
    return {
        "schema_version": VERSION,
        "evaluation_id": f"{result.benchmark}/{model}/{retrieved}",
        "retrieved_timestamp": str(retrieved),
        "source_metadata": {
            "source_name": f"fairspace, {bench.title}",
            "source_type": "evaluation_run",
            "source_organization_name": str(result.meta["organisation"]),
            "evaluator_relationship": "other" if "baseline" in result.meta else relationship,
            "additional_details": {"fairspace_class": "baseline" if "baseline" in result.meta else "handed in"},
        },
        "eval_library": {
            "name": LIBRARY,
            "version": result.signature.get("fairspace", "unknown"),
            "additional_details": _library(result),
        },
        "model_info": _model(result, model),
        "evaluation_results": list(_numbers(result, bench, namespace)),
    }


def model_id(result: Result) -> str:
    """`developer/model`: the model's name if it is of this form, else made of organisation and name."""
    name = str(result.meta["model"])
    parts = name.split("/") if name.count("/") == 1 else [str(result.meta["organisation"]), name]
    return "/".join(_UNSAFE.sub("-", part)[:_LONGEST].strip("-.") or "unnamed" for part in parts)


def _library(result: Result) -> dict[str, str]:
    """What the numbers rest on: signature, ranking, values without a number, and `submission.json`."""
    every = [*result.scored.scores.values(), *result.values.values()]
    lacking = {value.name: f"{value.state}: {value.reason}" for value in every if value.state != "value"}
    return {
        "benchmark": result.benchmark,
        **{name: text for name, text in result.signature.items() if name not in ("fairspace", SKETCH)},
        "ranked_by": result.scored.ranking,
        "unranked": json.dumps(list(result.scored.unranked), ensure_ascii=False),
        "labels": json.dumps(dict(result.scored.labels), ensure_ascii=False),
        "without_a_number": json.dumps(lacking, ensure_ascii=False),
        "submission_json": json.dumps(dict(result.meta), ensure_ascii=False),
    }


def _model(result: Result, model: str) -> dict[str, Any]:
    is_open = result.meta.get("open_weights")
    facts = {name: str(result.meta[name]) for name in _FACTS if name in result.meta}
    availability = "unknown" if is_open is None else "open_weights" if is_open else "closed_weights"
    return {
        "name": str(result.meta["model"]),
        "id": model,
        "developer": str(result.meta["organisation"]),
        "additional_details": {"deployment_type": "unknown", "model_availability": availability, **facts},
    }


def _numbers(result: Result, bench: Benchmark, namespace: str) -> Iterator[dict[str, Any]]:
    """The scores, and the raw values that are no scores of the same name."""
    limits = bench.table_of(result.scored, find_standard(bench, result.standard)).limits
    config, source = _generation(result), _source(result, namespace)
    for value in {**result.scored.scores, **result.values, **result.scored.scores}.values():
        if value.value is not None:
            yield {
                "evaluation_result_id": f"{result.benchmark}/{value.name}",
                "evaluation_name": value.name,
                "source_data": source,
                "metric_config": _metric(result, bench, value.name, limits.get(value.name)),
                "score_details": _score(value),
                "generation_config": config,
            }


def _metric(result: Result, bench: Benchmark, name: str, limits: tuple[float, float] | None) -> dict[str, Any]:
    """Direction and range. The schema has two directions; `additional_details` says what else there is to know."""
    ideal, is_score = bench.ideal(name, result.standard), name in result.scored.scores
    if ideal is not None:
        target = "what chance gives" if ideal.number is None else f"{ideal.number:g}"
        side = {"above": "more", "below": "less", "either": "more or less"}[ideal.worse]
        lower, about = ideal.worse != "below", f"{target}; {side} is less fair"
    else:
        lower = is_score and not bench.higher_is_better
        about = "none: no number of it is fair"
    metric: dict[str, Any] = {
        "metric_id": f"fairspace.{result.benchmark}.{name}",
        "metric_name": name,
        "lower_is_better": lower,
        "additional_details": {"ideal": about, "kind": "score" if is_score else "raw value"},
    }
    if limits is not None:
        least, most = (number if math.isfinite(number) else _infinity(number) for number in limits)
        metric |= {"score_type": "continuous", "min_score": least, "max_score": most}
    return metric


def _infinity(number: float) -> str:
    return "Infinity" if number > 0 else "-Infinity"


def _score(value: Value) -> dict[str, Any]:
    """The number with its error; its bounds over missing samples, coverage and debiased value as details."""
    bounds = {"worst_case_low": value.low, "worst_case_high": value.high, "coverage": value.coverage}
    about = value.uncertainty
    if about is not None:
        bounds |= {"debiased": about.debiased, "fair_model": about.fair, "fair_model_95": about.fair_high}
    details = {name: repr(float(number)) for name, number in bounds.items() if number is not None}
    score = {"score": value.value, "details": {**details, "expected": str(value.expected), "valid": str(value.valid)}}
    if about is None:
        return score
    uncertainty = {
        "standard_error": {"value": about.error, "method": "bootstrap"},
        "confidence_interval": {
            "lower": about.low,
            "upper": about.high,
            "confidence_level": LEVEL,
            "method": about.method,
        },
        "num_samples": value.valid,
        "num_bootstrap_samples": about.resamples,
    }
    return {**score, "uncertainty": uncertainty}


def _source(result: Result, namespace: str) -> dict[str, Any]:
    from fairspace.builders.registry import headlined

    repositories = [f"{namespace}/{dataset.name}" for dataset in headlined(result.benchmark)]
    return {
        "dataset_name": result.benchmark,
        "source_type": "hf_dataset",
        "hf_repo": repositories[0],
        "hf_split": "test",
        "additional_details": {
            "repositories": ", ".join(repositories),
            "revision": result.signature.get("dataset_revision", "unknown"),
        },
    }


def _generation(result: Result) -> dict[str, Any]:
    """Settings of generation: numbers where the schema has fields, all others as text."""
    settings: Mapping[str, Any] = result.meta.get("generation") or {}
    numbers = {name: settings[name] for name in ARGUMENTS if type(settings.get(name)) in (int, float)}
    if type(numbers.get("max_tokens", 1)) is not int or numbers.get("max_tokens", 1) < 1:
        del numbers["max_tokens"]
    others = {name: json.dumps(setting) for name, setting in settings.items() if name not in numbers}
    return {"generation_args": numbers, "additional_details": others}
