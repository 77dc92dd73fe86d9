"""Results in formats of others: evaluation results of the Hub, and Every Eval Ever."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard, rescore
from fairspace.submissions.uncertainty.uncertainty import LEVEL
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

    from fairspace.builders.engine.dataset import Dataset

# Every Eval Ever 0.3 (arXiv:2606.14516): the record of a result; fairness is a property of many answers, so it has no
# record of a single one.

VERSION = "0.3.0"


def export(result: Result, folder: Path) -> Path:
    """Write `data/fairspace/<developer>/<model>/<uuid>.json`; return the file."""
    record = aggregate(result)
    name = uuid.UUID(bytes=hashlib.sha256(f"{entry(result)}\0{result.standard}".encode()).digest()[:16], version=4)
    file = folder.joinpath("data", "fairspace", *record["model_info"]["id"].split("/"), f"{name}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")
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
    results = []
    for value in (value for value in every.values() if value.value is not None):
        ideal = bench.ideal(value.name, result.standard)
        lower = value.name in scores and not bench.higher_is_better if ideal is None else ideal.worse != "below"
        metric: dict[str, Any] = {"metric_name": value.name, "lower_is_better": lower}
        if value.name in limits:
            low, high = (f"{n}inity".title() if abs(n) == float("inf") else n for n in limits[value.name])
            metric |= {"score_type": "continuous", "min_score": low, "max_score": high}
        named = {"evaluation_name": value.name, "source_data": source, "metric_config": metric}
        results.append({**named, "score_details": _score(value)})
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


# `.eval_results` has one number for each task: a percentage, more is better (`percent_of`), with missing samples at
# their worst, as in our ranks. Interval and size go into the notes.

SOURCE = "fairspace leaderboard"


def eval_results_path(result: Result) -> str:
    """Path of the entries in the model's repository."""
    return f".eval_results/{result.benchmark}.yaml"


def row_path(result: Result) -> str:
    """Path of the result's row on a Space."""
    return f"/model/{result.benchmark}/{entry(result)}"


def publishable(result: Result) -> Result:
    """The result under its benchmark's default standard. BuildError RESULT_UNRANKED for a baseline, or no rank."""
    bench = benchmark(result.benchmark)
    result = rescore(result, bench.default)
    if baseline := result.meta.get("baseline"):
        why = f"the answers of the trivial model {baseline}"
    elif result.scored.ranked is None:
        why = "; ".join(result.scored.unranked)
    else:
        return result
    where, expected = f"the result of {result.meta['model']}", f"a result that {bench.default} ranks"
    mend = "answer what is missing and score again; what has no rank here is no number there"
    raise BuildError("RESULT_UNRANKED", where, why, expected, mend)


def eval_result_entries(
    result: Result,
    namespace: str,
    commit_of: Callable[[Dataset], str | None],
    *,
    date: str = "",
    source: str = "",
) -> list[EvalResultEntry]:
    """One entry per headline score of a result of `publishable`.

    `commit_of`: dataset -> the commit with the answered items; None if unknown. `date` (ISO 8601) of the run and
    `source`, the address of the result's row, can be ''.
    """
    from huggingface_hub import EvalResultEntry

    from fairspace.builders.registry import headlined

    worst = "low" if benchmark(result.benchmark).higher_is_better else "high"
    entries = []
    for dataset in headlined(result.benchmark):
        scores = {head.task: result.scored.scores.get(head.score) for head in dataset.headlines}
        values = {task: score for task, score in scores.items() if score is not None and score.state == "value"}
        commit = commit_of(dataset) if values else None
        for task, score in values.items():
            if (bound := getattr(score, worst)) is None:
                continue
            entries.append(
                EvalResultEntry(
                    dataset_id=f"{namespace}/{dataset.name}",
                    task_id=task,
                    value=percent_of(result, score.name)(bound),
                    dataset_revision=commit,
                    date=date or None,
                    source_url=source or None,
                    source_name=SOURCE if source else None,
                    notes=_notes(result, score.name),
                )
            )
    return entries


def percent_of(result: Result, name: str) -> Callable[[float], float]:
    """A score of a result -> its percentage, under the result's standard.

    It is the share of the way from the worst to the best possible score, the latter at most 100 % (IRIS' `inaugural`
    can be above). A score without a largest number, a sum of n distances from the ideal, becomes 100 · exp(-score / n).
    """
    bench = benchmark(result.benchmark)
    table = bench.table_of(result.scored, find_standard(bench, result.standard))
    (least, most), parts = table.limits[name], len(table.rules[name].weights)

    def percent(number: float) -> float:
        if math.isinf(most):
            share = math.exp(-number / parts)
        else:
            share = (number - least) / (min(most, 100.0) - least)
            share = share if bench.higher_is_better else 1 - share
        return round(100 * min(1.0, max(0.0, share)), 2)

    return percent


def as_yaml(entries: list[EvalResultEntry]) -> str:
    """The entries as YAML."""
    from huggingface_hub import eval_result_entries_to_yaml

    return yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=100)


def _notes(result: Result, name: str) -> str:
    """Facts without a field in the format, on one line."""
    score, percent = result.scored.scores[name], percent_of(result, name)
    about, bench = score.uncertainty, benchmark(result.benchmark)
    parts = []
    if about is not None:
        low, high = sorted((percent(about.low), percent(about.high)))
        parts.append(f"95 % interval {low:g} to {high:g}")
    parts.append(f"n = {score.valid:,} of {score.expected:,} samples")
    handed_in = sum(read.handed_in for read in result.readings.values())
    if handed_in:
        choices = sum(read.outcomes.get("choice", 0) for read in result.readings.values())
        parts.append(f"{100 * choices / handed_in:.1f} % of the answers read as a choice")
    parts += [f"standard {result.standard}", f"protocol {bench.protocols.of(result.signature, result.scored)}"]
    if score.value is not None:
        parts.append(f"{name} in its own unit {score.value:.4g}")
    return "; ".join([*parts, f"fairspace {result.signature.get('fairspace', 'of an earlier version')}"])
