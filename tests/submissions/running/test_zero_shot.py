from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.annotating.labellers import Package
from fairspace.builders.errors import CodedError
from fairspace.builders.models.labelling import PROTOTYPES, ClipLabeller
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import Manifest
from fairspace.submissions.reading.tables import META
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.zero_shot import InspectVlm, labelling_task, open_labeller
from tests.served.faults import Fault
from tests.served.running import Served
from tests.submissions.running.local import tiny_models

EYES = """
import json
COLOURS = {(255, 0, 0): ("female", "young", "dark"), (0, 0, 255): ("male", "none", "light")}
def answer(prompt, images):
    (image,) = images
    pixel = image.getpixel((3, 3))
    for colour, said in COLOURS.items():
        if all(abs(a - b) < 9 for a, b in zip(pixel, colour)):
            return json.dumps(dict(zip(("gender", "age", "skin_tone"), said)))
    if pixel[0] > 240:
        return json.dumps(dict.fromkeys(("gender", "age", "skin_tone"), "none"))
    return None if pixel[0] < 20 else "I see a woman."
"""
PICTURES = {"0": "#ff0000", "1": "#0000ff", "2": "white", "3": "grey", "4": "black"}
SAID = [
    ("ok", "female", "young", "dark"),
    ("ok", "male", None, "light"),
    ("no_face", None, None, None),
    ("abstained", None, None, None),
    ("abstained", None, None, None),
]


@pytest.fixture
def eyes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A function as a model, answering by colour: labels, an open one, nobody, prose, a refusal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eyes.py").write_text(EYES, encoding="utf-8")
    for name, colour in PICTURES.items():
        (tmp_path / "pictures").mkdir(exist_ok=True)
        Image.new("RGB", (32, 32), colour).save(tmp_path / "pictures" / f"{name}.png")
    return "vlm:python/./eyes.py:answer"


def labels(folder: Path) -> list[tuple[str, ...]]:
    table = pq.read_table(folder / "annotations-00000-of-00001.parquet")
    return [tuple(row[name] for name in ("status", "gender", "age", "skin_tone")) for row in table.to_pylist()]


def test_a_vision_language_model_labels_by_its_answers_alone(eyes: str, tmp_path: Path) -> None:
    labeller, model = open_labeller(f"{eyes}?concurrency=2")
    assert (isinstance(labeller, Package), model) == (True, "")
    report = annotate(model, tmp_path / "pictures", tmp_path / "out", names="files", labeller=labeller)
    assert labels(tmp_path / "out") == SAID
    again = annotate(model, tmp_path / "pictures", tmp_path / "two", names="files", labeller=labeller, batch=2)
    assert [file.read_bytes() for file in report.files] == [file.read_bytes() for file in again.files]
    named = report.data["model"]
    assert named["name"].startswith("vlm:python/eyes.py:answer (sha256 ")
    other, _ = open_labeller(f"{eyes}?attributes=gender,race")
    assert isinstance(other, Package)
    assert list(other.attributes) == ["gender", "race"]
    assert other.name.endswith("?attributes=gender,race")
    assert other.sha256 != named["sha256"]


def test_a_model_that_is_collected_while_another_loop_runs_closes_its_own(eyes: str) -> None:
    async def drop() -> None:
        model = InspectVlm(ModelSettings(eyes.removeprefix("vlm:")))
        seen.append(model._runner.get_loop())
        del model

    seen: list[asyncio.AbstractEventLoop] = []
    asyncio.run(drop())
    assert seen[0].is_closed()


def test_a_detector_finds_the_faces_that_a_general_model_labels(eyes: str, tmp_path: Path) -> None:
    from fairspace.ares.faces_ares import FaceBox

    class Halves:
        name = "halves"

        def detect(self, images: Any) -> list[list[FaceBox]]:
            return [[FaceBox(0, 0, 32, 32), FaceBox(32, 0, 48, 32)] for _ in images]

    (tmp_path / "two").mkdir()
    image = Image.new("RGB", (80, 32), "#ff0000")
    image.paste("#0000ff", (32, 0, 80, 32))
    image.save(tmp_path / "two" / "0.png")
    labeller, _ = open_labeller(eyes)
    annotate("", tmp_path / "two", tmp_path / "out", names="files", labeller=labeller, detector=Halves())
    assert [row[1] for row in labels(tmp_path / "out")] == ["male", "female"], "the largest face first"


def test_clip_labels_by_the_prototypes_that_builds_use(features: Path, tmp_path: Path) -> None:
    clip = features / "clip"
    state = [Image.effect_noise((40, 40), 90 + n).convert("RGB") for n in range(4)]
    (tmp_path / "pictures").mkdir()
    for number, image in enumerate(state):
        image.save(tmp_path / "pictures" / f"{number}.png")
    labeller, _ = open_labeller(f"clip:{clip}?margin=0&attributes=gender,age,skin_tone,race")
    assert isinstance(labeller, Package)
    report = annotate("", tmp_path / "pictures", tmp_path / "out", names="files", labeller=labeller)
    from fairspace.builders.models.clip import Clip

    expected = ClipLabeller(Clip(str(clip), device="cpu"), margin=0).label(state)
    assert [row[1:] for row in labels(tmp_path / "out")] == [
        tuple(getattr(each, name) or None for name in ("gender", "age", "skin_tone")) for each in expected
    ]
    routes = pq.read_table(tmp_path / "out" / "routes").to_pylist()
    for row in (row for row in routes if row["faces"]):
        assert sum(row[f"probability/race/{name}"] for name in PROTOTYPES["race"]) == pytest.approx(1)
        assert row["label/race"] in PROTOTYPES["race"]
    assert report.data["model"]["name"].startswith("clip:clip (sha256 ")
    assert report.data["model"]["name"].endswith("?margin=0.0&attributes=gender,age,skin_tone,race")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("vlm:", "nothing behind the scheme"),
        ("vlm:nobody/model", "MODEL_UNKNOWN"),
        ("vlm:python/./eyes.py:answer?size=3", "settings of vlm: tokens, concurrency, attributes"),
        ("vlm:python/./eyes.py:answer?attributes=gender,shoe", "some of gender, age, skin_tone, race"),
        ("clip:./nowhere", "TOOL_MISSING"),
    ],
)
def test_a_labeller_that_cannot_be_had_is_refused(eyes: str, named: str, message: str) -> None:
    with pytest.raises(CodedError, match=message):
        open_labeller(named)


def test_each_combination_of_labels_is_one_answer() -> None:
    task = labelling_task(("gender", "race"))
    assert len(task["labels"]) == len(set(task["labels"])) == 3 * 5


@pytest.mark.slow
def test_run_score_and_evaluate_take_one_labeller_and_its_rows_stand_apart(
    run: Callable[..., tuple[int, str, str]], eyes: str, tmp_path: Path
) -> None:
    (tmp_path / "paint.py").write_text(
        "from PIL import Image\n"
        "def make(prompts):\n"
        "    colours = ((255, p.seed % 89, 0) if p.seed % 2 else (0, p.seed % 89, 255) for p in prompts)\n"
        "    return [Image.new('RGB', (32, 32), colour) for colour in colours]\n",
        encoding="utf-8",
    )
    (tmp_path / "labels.csv").write_text("file,gender,age\n0.png,female,older\n1.png,female,young\n3.png,male,\n")
    asked = "run --benchmark fact_or_fair --dataset-revision v2-core --tasks t2i_objective --limit 3 --out mine"

    def said(line: str) -> str:
        code, out, err = run(*line.split())
        assert code == 0, err
        return out

    measured = said(f"ares evaluate {eyes} --data pictures --labels labels.csv --out measured")
    assert "gender: right 33.3%" in measured
    assert "1 without an answer" in measured
    said(f"{asked} --images python:./paint.py:make --labeller {eyes} --measurement measured/measurement.json")
    meta = json.loads((tmp_path / "mine" / META).read_text(encoding="utf-8"))
    assert meta["labels"]["name"].startswith("vlm:python/eyes.py:answer")
    assert meta["label_error"]["attributes"]["gender"]["counts"] == [[1, 1], [0, 0]]
    stages = Manifest.model_validate_json((tmp_path / "mine" / "manifest.json").read_text(encoding="utf-8")).stages
    assert [stage.engine for stage in stages if stage.what == "annotations"] == ["fairspace"]
    said(f"{asked}2 --images python:./paint.py:make")
    said(f"score mine2 --labeller {eyes} --resamples 0 --out result.json")
    result = load_result(tmp_path / "result.json")
    protocol = f"v2-core, labelled by {meta['labels']['name']}"
    assert benchmark("fact_or_fair").protocols.of(result.signature, result.scored) == protocol
    assert scored_row(result, result.standard).group.endswith(protocol)
    assert "nobody trained for it" in benchmark("fact_or_fair").protocol_text(protocol)


@pytest.mark.usefixtures("eyes")
def test_real_models_that_say_no_json_label_nothing(served: Served, tmp_path: Path) -> None:
    folder = tiny_models.seeing(tmp_path / "qwen", "qwen2_5_vl")
    for number, named in enumerate((f"vlm:local/{folder}?tokens=4", "vlm:openai-api/served/served-text")):
        labeller, _ = open_labeller(named)
        annotate("", tmp_path / "pictures", tmp_path / f"{number}", names="files", labeller=labeller)
        assert {row[0] for row in labels(tmp_path / f"{number}")} == {"abstained"}
    assert served.requests().total == 2 * len(PICTURES), "each is asked about once more"
    served.inject(Fault("status", status=400, times=None, code="invalid_request"))
    with pytest.raises(RunError, match="MODEL_SILENT at openai-api/served/served-text"):
        annotate("", tmp_path / "pictures", tmp_path / "failed", names="files", labeller=labeller)
