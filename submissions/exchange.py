"""Results in the format Every Eval Ever."""

import hashlib
import json
import re
import time
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fairspace.builders.writing import write_text
from fairspace.metrics.intervals import LEVEL
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.values import Value

# Every Eval Ever 0.3 (arXiv:2606.14516): the record of a result; fairness is a property of many answers, so it has no
# record of a single one.

VERSION, UNKNOWN = "0.3.0", "unknown"
_NO_FOLDER = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|data|unknown", re.IGNORECASE)
"""Names that the format's validator, or Windows, has for something else."""
_SIGN = re.compile(r"[\x00-,/:-@\[-^`{-\x7f]|\s")
"""Signs of ASCII but letters, digits, `-`, `.` and `_`; and blanks."""
_LONGEST = 100
"""Bytes of a part of an id; file systems have 255."""
_HERE = ("hf", "local", "torchumm")
_HOSTED = (
    *("anthropic", "azureai", "bedrock", "cf", "fireworks", "google", "grok", "groq", "hf-inference-providers"),
    *("mistral", "openai", "openrouter", "perplexity", "sambanova", "together"),
)
"""Inspect's providers that run a model on this machine, and its providers that do not."""


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
    name, organisation = str(meta["model"]), str(meta["organisation"])
    developer, _, short = name.partition("/") if name.count("/") == 1 else (organisation, "", name)
    model = f"{_portable(developer)}/{_portable(short)}"
    scores, limits = result.scored.scores, bench.table_of(result.scored, find_standard(bench, result.standard)).limits
    every = {**scores, **result.values, **scores}
    data = {name: text for stage in result.run for name, text in stage.get("datasets", {}).items()}
    data["dataset_revision"] = result.signature.get("dataset_revision", UNKNOWN)
    source = {"dataset_name": result.benchmark, "source_type": "other", "additional_details": data}
    results, asked = [], _generation_config(result)
    for value in (value for value in every.values() if value.value is not None):
        ideal = bench.ideal(value.name, result.standard)
        lower = value.name in scores and not bench.higher_is_better if ideal is None else ideal.worse != "below"
        metric: dict[str, Any] = {"metric_id": f"{result.benchmark}.{value.name}", "metric_name": value.name}
        metric |= {"evaluation_description": bench.describe(value.name), "lower_is_better": lower}
        if value.name in limits:
            low, high = (f"{n}inity".title() if abs(n) == float("inf") else n for n in limits[value.name])
            metric |= {"score_type": "continuous", "min_score": low, "max_score": high}
        entry = {"evaluation_name": value.name, "source_data": source, "metric_config": metric}
        results.append({**entry, "score_details": _score(value), "generation_config": asked})
    lacking = {value.name: f"{value.state}: {value.reason}" for value in every.values() if value.value is None}
    details = {key: text for key, text in result.signature.items() if key not in ("fairspace", "sketch")}
    is_open = {None: UNKNOWN, True: "open_weights", False: "closed_weights"}[meta.get("open_weights")]
    weights = {"deployment_type": _deployment(result), "model_availability": is_open}
    ends = [datetime.fromisoformat(stage["ended"]).timestamp() for stage in result.run if "ended" in stage]
    version = result.signature.get("fairspace", UNKNOWN)
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
        **({"evaluation_timestamp": str(int(max(ends)))} if ends else {}),
        "source_metadata": {
            "source_name": f"fairspace, {bench.title}",
            "source_type": "evaluation_run",
            "source_organization_name": "fairspace" if meta.get("baseline") else UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "fairspace", "version": version, "additional_details": details},
        "model_info": {"name": name, "id": model, "developer": developer, "additional_details": weights},
        "evaluation_results": results,
    }


def _portable(name: str) -> str:
    """A name as one part of an id and path; different names stay different.

    Letters of every script are kept, and signs, ends and whole words that a path cannot have are percent-encoded.
    """
    name = "not-stated" if name == "not stated" else _SIGN.sub(lambda sign: quote(sign[0], safe=""), name)
    if _NO_FOLDER.fullmatch(name) or name[0] == ".":
        name = f"%{ord(name[0]):02X}{name[1:]}"
    name = f"{name[:-1]}%2E" if name[-1] == "." else name
    data = name.encode()
    short = f"{data[:_LONGEST].decode(errors='ignore')}-{hashlib.sha256(data).hexdigest()[:12]}"
    return name if len(data) <= _LONGEST else short


def _deployment(result: Result) -> str:
    """The place where the model ran, by the stages that asked it; unknown unless each of them says the same."""
    places = set()
    for stage in (stage for stage in result.run if stage["what"] in ("responses", "images")):
        provider = stage["model"].partition("/")[0] if stage["engine"] == "inspect_ai" else ""
        hosted = provider in _HOSTED and "base_url" not in stage.get("settings", {})
        here = provider in _HERE or stage["engine"] == "diffusers"
        places.add("self_deployed" if here else "externally_managed" if hosted else UNKNOWN)
    return places.pop() if len(places) == 1 else UNKNOWN


def generation(result: Result) -> dict[str, Any]:
    """Settings of generation by name: first `temperature` and `max_tokens`, texts where they are no numbers.

    A run that states no bound of tokens had the longest of its tasks, and one without a temperature the model's own.
    """
    stages = [stage for stage in result.run if stage["what"] == "responses"]
    asked = {name for stage in stages for name in stage.get("tasks", ())}
    longest = max((task.max_tokens for task in benchmark(result.benchmark).tasks if task.name in asked), default=0)
    default = "not set: the model's default" if stages else "not stated"
    settings_known: dict[str, Any] = {"temperature": default, "max_tokens": longest or "not stated"}
    for settings in (*(stage.get("settings", {}) for stage in stages), result.meta.get("generation") or {}):
        settings_known |= {name: setting for name, setting in settings.items() if setting is not None}
    return settings_known


def _generation_config(result: Result) -> dict[str, Any]:
    """The schema's settings: a temperature always, null for the model's default; all others as texts."""
    settings = generation(result)
    kinds = {"temperature": (int, float), "top_p": (int, float), "max_tokens": (int,)}
    numbers = {name: n for name, kind in kinds.items() if type(n := settings.get(name)) in kind and (n or kind[1:])}
    details = {name: str(setting) for name, setting in settings.items() if name not in numbers}
    return {"generation_args": {"temperature": None, **numbers}, "additional_details": details}


def _score(value: Value) -> dict[str, Any]:
    """The number with its interval and that one's standard error; bounds, coverage and debiased value as details."""
    about = value.uncertainty
    bounds = {"worst_case_low": value.low, "worst_case_high": value.high, "coverage": value.coverage}
    if about is not None:
        bounds |= {"debiased": about.debiased, "fair_model": about.fair, "fair_model_95": about.fair_high}
    details = {name: repr(float(number)) for name, number in bounds.items() if number is not None}
    details |= {"expected": str(value.expected), "valid": str(value.valid)}
    if about is None:
        return {"score": value.value, "details": details}
    interval = {"lower": about.low, "upper": about.high, "confidence_level": LEVEL, "method": about.method}
    error = about.shown_error
    uncertainty = {
        **({} if error is None else {"standard_error": {"value": error, "method": "bootstrap"}}),
        "confidence_interval": interval,
        "num_samples": value.valid,
        "num_bootstrap_samples": about.resamples,
    }
    return {"score": value.value, "details": details, "uncertainty": uncertainty}
