"""transformers and diffusers models on this machine, from one command to a scored result.

The models are tiny and random: asserted are one fate per request, repeatability to the byte, and no number for a value
that was not run or has no valid answer.
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

pytest.importorskip("inspect_ai")
pytest.importorskip("accelerate")

from fairspace.metrics.iris_score.formula import sector_metrics
from fairspace.metrics.iris_score.standards import INAUGURAL
from fairspace.submissions.commands.app import app
from tests.builders.models import tiny
from tests.submissions.running.local import tiny_models
from tests.submissions.running.run_factory import assert_same
from tests.tiny_ares import random_ares

pytestmark = [
    # Inspect leaves streams and connections for the garbage collector.
    pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning", "ignore:unclosed:ResourceWarning"),
    # diffusers' Euler schedulers make numpy arrays of tensors in the way of numpy 1.
    pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"),
]
GROUPS = ("Female, Asian", "Male, White", "Male, Black", "Female, Hispanic")
"""All texts of one model: each names a gender and a race, so it answers every objective query."""
WORDS = ("left", "right", "male", "female", "yes", "no", "young", "light", "neutral", "7", "2", "red", "nurse", "a")
"""All texts of the other: some answer some questions."""
GENERATION, UNDERSTANDING = ("IFS_Gen", "RFS_Gen", "BIS_Gen"), ("IFS_Und", "RFS_Und", "BIS_Und")
ONE_WORD = ("-M", "device=cpu", "-M", "batch=8", "-M", "max_tokens=1")
PICTURES = "?steps=1&size=32&batch=4"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    tiny_models.chat(root / "chat", GROUPS)
    tiny_models.vision_chat(root / "vision", WORDS)
    tiny.sdxl(root / "sdxl")
    return root


def fairspace(*words: object) -> None:
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, f"{done.output}{done.exception}"


def run(benchmark: str, out: Path, *words: object) -> Path:
    fairspace("run", "--benchmark", benchmark, "--out", out, *words)
    return out


def scored(out: Path) -> dict[str, Any]:
    fairspace("check", out)
    file = out.with_suffix(".json")
    fairspace("score", out, "--out", file)
    found: dict[str, Any] = json.loads(file.read_text())
    for value in [*found["scores"], *found["values"]]:
        assert (value["state"] == "value") == (value.get("value") is not None), value
        assert value["state"] == "value" or value["reason"], value
    return found


def states(found: dict[str, Any], names: Iterable[str] = ()) -> dict[str, str]:
    return {one["name"]: one["state"] for one in found["scores"] if not names or one["name"] in names}


def assert_run(found: dict[str, Any], tried: Iterable[str], left_out: Iterable[str]) -> None:
    """Tried sectors of IRIS have too few items for a score; the others were not run."""
    values = {one["name"]: one["state"] for one in found["values"]}
    for sectors, kinds in ((tried, {"value", "undefined"}), (left_out, {"not_run"})):
        for sector in sectors:
            assert {values[metric.name] for metric in sector_metrics(sector, INAUGURAL)} <= kinds, sector
            assert states(found)[sector] != "value"


def rows(out: Path, table: str = "responses") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(out / f"{table}.parquet").to_pylist()
    return found


def stages(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / "manifest.json").read_text())["stages"]
    return found


@pytest.mark.slow
def test_a_chat_model_gets_a_score(models: Path, tmp_path: Path) -> None:
    chat = ("--model", f"local/{models}/chat", *ONE_WORD, "--tasks", "llm_objective")
    out = run("fact_or_fair", tmp_path / "mine", *chat)
    found = scored(out)
    assert states(found, ("llm_factuality", "llm_fairness", "t2i_factuality")) == {
        "llm_factuality": "value",
        "llm_fairness": "not_run",
        "t2i_factuality": "not_run",
    }
    (factuality,) = (one for one in found["scores"] if one["name"] == "llm_factuality")
    assert (factuality["valid"], factuality["expected"]) == (198, 198)
    assert 0 < factuality["low"] == factuality["value"] == factuality["high"] < 1
    assert found["ranked"] is None
    (stage,) = stages(out)
    assert stage["fates"] == {"answered": 198, "refused": 0, "failed": 0}
    assert stage["settings"]["temperature"] == 0
    assert stage["output_tokens"] == 198
    assert {row["response"] for row in rows(out)} == set(GROUPS)


@pytest.mark.slow
def test_a_model_that_sees_answers_about_pictures(models: Path, data: Path, tmp_path: Path) -> None:
    counts = {"occupation": 1, "pair": 34}
    asked = ("--data", data, "--limit", 1, "--stratified", "--model", f"local/{models}/vision", *ONE_WORD)
    out = run("iris", tmp_path / "mine", *asked, "--tasks", ",".join(counts))
    assert Counter(row["task"] for row in rows(out)) == counts
    assert all(row["response"] in WORDS for row in rows(out))
    assert len({row["response"] for row in rows(out)}) > 1
    (stage,) = stages(out)
    assert (stage["limit"], stage["stratified"], stage["requests"]) == (1, True, sum(counts.values()))
    assert all("sample" in used for used in stage["datasets"].values())
    found = scored(out)
    assert found["ranked"] is None
    assert found["unranked"]
    assert_run(found, (), GENERATION)


@pytest.mark.slow
def test_a_pipeline_alone_is_steered_by_its_own_images(
    models: Path, features: Path, data: Path, tmp_path: Path
) -> None:
    roles = {"iqa": "clip", "face-iqa": "clip", "similarity": "clip", "reference": "dinov2"}
    quality = [word for role, model in roles.items() for word in ("--quality", f"{role}={model}:{features / model}")]
    pictures = ("--images", f"diffusers:{models}/sdxl{PICTURES}", "--ares", random_ares())
    asked = ("--data", data, "--limit", 4, "--stratified", "--seed", 3)
    out = run("iris", tmp_path / "mine", *asked, *pictures, *quality)
    found = scored(out)
    assert_run(found, GENERATION, UNDERSTANDING)
    assert found["ranked"] is None
    kinds = [(stage["what"], stage["tasks"]) for stage in stages(out)]
    neutral, steered = ["generation_neutral"], ["generation_steer"]
    assert kinds == [
        ("images", neutral),
        ("annotations", neutral),
        ("images", steered),
        ("annotations", steered),
        ("quality", steered),
    ]
    labels = rows(out, "annotations")
    assert Counter(row["task"] for row in labels) == {neutral[0]: 4, steered[0]: 4}
    shown = {row["id"].split("/")[1] for row in labels if row["task"] == neutral[0] and row["gender"]}
    assert {row["id"].split("/")[1] for row in labels if row["task"] == steered[0]} <= shown
    rated = [row for row in labels if row["task"] == steered[0] and row["status"] == "ok"]
    assert rated
    assert all(0 <= row["image_quality"] <= 1 and row["prompt_similarity"] is not None for row in rated)


def test_a_pipeline_is_asked_about_statistics(models: Path, tmp_path: Path) -> None:
    out = run(
        "fact_or_fair",
        tmp_path / "mine",
        *("--images", f"diffusers:{models}/sdxl{PICTURES}", "--ares", random_ares()),
        *("--limit", 6, "--stratified"),
    )
    counts = {"t2i_objective": 6, "t2i_subjective": 6, "t2i_subjective_paper": 6}
    assert Counter(row["task"] for row in rows(out, "annotations")) == counts
    found = states(scored(out), ("llm_factuality", "llm_fairness", "t2i_factuality", "t2i_fairness"))
    assert found == {
        "llm_factuality": "not_run",
        "llm_fairness": "not_run",
        "t2i_factuality": "undefined",
        "t2i_fairness": "undefined",
    }


OWN = """
from PIL import Image
opened = []
def answer(prompt, images, seed):
    assert seed is not None
    opened.append(prompt)
    return None if "tie" in prompt else f"{7 + len(images)}"
def make(prompts):
    assert not opened
    return [Image.new("RGB", (48, 48), (prompt.seed % 256, 90, 90)) for prompt in prompts]
"""


@pytest.mark.slow
def test_a_unified_model_with_its_own_code_is_one_file(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "unified.py"
    file.write_text(OWN)
    out = run(
        "iris",
        tmp_path / "mine",
        *("--data", data, "--limit", 1, "--seed", 3, "--tasks", "generation_neutral,pair"),
        *("--model", f"python/{file}:answer", "--images", f"python:{file}:make"),
        *("--ares", random_ares()),
    )
    answers = Counter(row["response"] for row in rows(out))
    assert answers == {"8": 32, None: 2}
    (stage,) = (stage for stage in stages(out) if stage["what"] == "responses")
    assert stage["fates"] == {"answered": 32, "refused": 2, "failed": 0}
    assert scored(out)["ranked"] is None


FLAKY = """
from pathlib import Path
from PIL import Image
def make(prompts):
    (prompt,) = prompts
    if prompt.seed % 2 and not Path(__file__).with_name("well").exists():
        raise MemoryError("out of memory")
    return [Image.new("RGB", (48, 48), (prompt.seed % 256, prompt.seed // 256 % 256, 90))]
"""


@pytest.mark.slow
def test_steer_prompts_follow_neutral_images_that_were_made_later(tmp_path: Path) -> None:
    file = tmp_path / "flaky.py"
    file.write_text(FLAKY)
    asked = ("--images", f"python:{file}:make", "--ares", random_ares(), "--limit", 8, "--seed", 3)
    out = run("iris", tmp_path / "mine", *asked)
    assert Counter(row["task"] for row in rows(out, "annotations"))["generation_neutral"] == 2
    (tmp_path / "well").touch()
    run("iris", out, *asked, "--again")
    after = Counter((row["task"], row["status"]) for row in rows(out, "annotations"))
    assert after == {("generation_neutral", "ok"): 8, ("generation_steer", "ok"): 8}
    assert_same(out, run("iris", tmp_path / "at_once", *asked))
