from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.exchange import VERSION, aggregate
from fairspace.submissions.results.scoring import load_result
from tests.scored_baselines import scored_baseline

SHIPPED = Path(__file__).parents[3] / "submissions" / "results" / "shipped"
SCHEMA = "c9c6195aec8a9dfa0b2aba4924ac1aa8a184c9d8ca97cee778cb531088e39b48"
"""The sha256 of the schema of Every Eval Ever 0.3.0 as its package publishes it (MIT, `schemas/LICENSE`)."""


def check_record(data: Any) -> None:
    content = (Path(__file__).parent / "schemas" / "eval.schema.json").read_bytes()
    assert hashlib.sha256(content).hexdigest() == SCHEMA
    Draft7Validator(json.loads(content)).validate(data)
    assert data["schema_version"] == VERSION


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "genres" else []) for name in NAMES]
)
def test_every_bundled_result_passes_the_schema(name: str) -> None:
    for baseline in BASELINES:
        record = aggregate(scored_baseline(baseline, name))
        check_record(record)
        lower = {e["evaluation_name"]: e["metric_config"]["lower_is_better"] for e in record["evaluation_results"]}
        higher = benchmark(name).higher_is_better
        assert lower.get(scored_baseline(baseline, name).scored.ranking, not higher) is not higher


@pytest.mark.parametrize(
    ("name", "temperature", "said"),
    [
        ("fact_or_fair_core", 0.0, None),
        ("stereotypical_bias", None, "not set: the model's default"),
        ("genres_phi4", None, "not stated"),
    ],
)
def test_every_score_says_its_temperature_and_greatest_length(name: str, temperature: float | None, said: str) -> None:
    file = next(SHIPPED.glob(f"{name}*.json"))
    record = aggregate(load_result(file))
    check_record(record)
    (asked,) = {json.dumps(score["generation_config"]) for score in record["evaluation_results"]}
    args, details = json.loads(asked)["generation_args"], json.loads(asked)["additional_details"]
    assert (args["temperature"], details.get("temperature")) == (temperature, said)
    longest = {"fact_or_fair_core": 1024, "stereotypical_bias": 64}.get(name)
    assert (args.get("max_tokens"), details.get("max_tokens")) == (longest, None if longest else "not stated")


def test_the_command_writes_the_record(tmp_path: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    (tmp_path / "result.json").write_text(scored_baseline("stereotyped", "fact_or_fair").dumps(), encoding="utf-8")
    code, said, _ = run("report", tmp_path / "result.json", "--eee", tmp_path / "out")
    assert code == 0
    check_record(json.loads(Path(said.strip().removeprefix("Wrote ")).read_text(encoding="utf-8")))
