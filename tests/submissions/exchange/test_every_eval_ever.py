import hashlib
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.exchange import VERSION, aggregate, export
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result
from tests.scored_baselines import scored_baseline
from tests.submissions.conftest import Run

SHIPPED = Path(__file__).parents[3] / "submissions" / "results" / "shipped"
FOREIGN = Path(__file__).parents[2] / "foreign" / "every_eval_ever"
CHECK = Path(__file__).parent / "validate_records.py"
TAKEN = {"valid": True, "errors": [], "warnings": []}
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
        sure = [
            e["score_details"]["uncertainty"]
            for e in record["evaluation_results"]
            if "uncertainty" in e["score_details"]
        ]
        for each in sure:
            of_draws = each["confidence_interval"]["method"] not in ("exact", "score")
            assert ("standard_error" in each) == of_draws
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


def test_the_command_writes_the_record(tmp_path: Path, run: Run) -> None:
    (tmp_path / "result.json").write_text(scored_baseline("stereotyped", "fact_or_fair").dumps(), encoding="utf-8")
    said = run.fine("report", tmp_path / "result.json", "--eee", tmp_path / "out")
    check_record(json.loads(Path(said.strip().removeprefix("Wrote ")).read_text(encoding="utf-8")))


NAMES_OF_MODELS = (
    *(
        "通义千问",
        "文心一言",
        "ЯндексGPT 5",
        "GPT-5",
        "GPT 5",
        "Sağlık-LLM",
        "Sa-l-k-LLM",
        "हिन्दी",
        "own.py:answer",
        "%41",
    ),
    *("con", "CON.txt", "data", "unknown", ".x.", "..", "a/b/c", "x" * 200, "x" * 199, "通" * 200, "Maker/model one"),
)


def named(result: Result, **facts: Any) -> Result:
    return replace(result, meta={**result.meta, **facts})


def test_different_names_have_different_ids_in_their_own_letters() -> None:
    result = scored_baseline("stereotyped", "fact_or_fair")
    ids = [aggregate(named(result, model=name))["model_info"]["id"] for name in NAMES_OF_MODELS]
    assert len(set(ids)) == len(NAMES_OF_MODELS)
    assert (ids[0], ids[7], ids[-1]) == ("fairspace/通义千问", "fairspace/हिन्दी", "Maker/model%20one")


ASKED = {"what": "responses", "engine": "inspect_ai", "engine_version": "1", "revision": "x"}


@pytest.mark.parametrize(
    ("stages", "place"),
    [
        ([], "unknown"),
        ([{"model": "local/x"}], "self_deployed"),
        ([{"model": "anthropic/x"}], "externally_managed"),
        ([{"model": "openai/x", "settings": {"base_url": "not shown"}}], "unknown"),
        ([{"model": "openai-api/server/x"}], "unknown"),
        ([{"model": "python/x"}], "unknown"),
        ([{"model": "local/x"}, {"model": "openai/x"}], "unknown"),
        ([{"model": "x", "what": "images", "engine": "diffusers"}], "self_deployed"),
        ([{"model": "x", "what": "images", "engine": "openai"}], "unknown"),
    ],
)
def test_place_and_time_are_those_of_the_manifest(stages: list[dict[str, Any]], place: str) -> None:
    ends = [{"ended": f"2026-11-0{day}T00:00:00Z"} for day, _ in enumerate(stages, 1)]
    run = tuple({**ASKED, **stage, **end} for stage, end in zip(stages, ends, strict=True))
    result = replace(named(scored_baseline("stereotyped", "fact_or_fair"), baseline=None), run=run)
    record = aggregate(result)
    check_record(record)
    assert record["model_info"]["additional_details"]["deployment_type"] == place
    assert record["source_metadata"]["source_organization_name"] == "unknown", "the maker is not the evaluator"
    assert record.get("evaluation_timestamp") == (str(1793491200 + 86400 * (len(stages) - 1)) if stages else None)


@pytest.mark.slow
@pytest.mark.process
def test_the_validator_of_the_project_takes_every_record(tmp_path: Path) -> None:
    python = os.environ.get("FAIRSPACE_EEE_PYTHON")
    if not python:
        pytest.skip("FAIRSPACE_EEE_PYTHON names no Python >= 3.12 with every-eval-ever")
    shipped = sorted(SHIPPED.glob("*_*.json"))
    for file in shipped:
        export(load_result(file), tmp_path)
    for name in NAMES_OF_MODELS:
        export(named(scored_baseline("stereotyped", "fact_or_fair"), model=name), tmp_path)
    done = subprocess.run([python, CHECK, tmp_path], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert len(said) == len(shipped) + len(NAMES_OF_MODELS)
    assert {path: each for path, each in said.items() if each != TAKEN} == {}


def test_what_the_validator_once_took_is_still_what_is_written(tmp_path: Path) -> None:
    """The records whose verdict lies in tests/foreign have these places; the schema holds what is in them."""
    said = json.loads((FOREIGN / "said.json").read_text(encoding="utf-8"))
    written = [export(load_result(file), tmp_path) for file in SHIPPED.glob("*_*.json")]
    assert said == {file.relative_to(tmp_path).as_posix(): TAKEN for file in written}
