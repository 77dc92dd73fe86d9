import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub import HfApi
from PIL import Image

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import drawn_face
from tests.ares.image_sources import images, parquet, rows
from tests.ares.released import released
from tests.hub.running import OWNER, ROOT, Hub, online
from tests.tiny_ares import random_ares

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")]
IMAGES = 8
COMMAND = [sys.executable, "-c", "from fairspace.submissions.commands.main import main; main()"]
STRANGER = f"""
import importlib.util, json, sys
from pathlib import Path
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path({str(ROOT)!r}) and "editable" not in p]
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
for package in ("ares", "builders", "submissions", "metrics", "cards"):
    assert importlib.util.find_spec(package) is None, f"{{package}} is there"
import torch
torch.set_num_threads(1)
from PIL import Image
from transformers import AutoConfig, AutoImageProcessor, AutoModel, pipeline
images, folder = sorted(Path(sys.argv[1]).glob("*.png")), sys.argv[2]
model = AutoModel.from_pretrained("fairspace/ares", trust_remote_code=True)
processor = AutoImageProcessor.from_pretrained("fairspace/ares", trust_remote_code=True)
assert type(model).__module__.startswith("transformers_modules."), type(model)
assert type(processor).__module__.startswith("transformers_modules."), type(processor)
assert AutoConfig.from_pretrained("fairspace/ares", trust_remote_code=True).model_type == "ares"
labels = pipeline("image-classification", model="fairspace/ares", trust_remote_code=True)
assert type(labels).__module__.startswith("transformers_modules."), type(labels)
files = [str(file) for file in images[:3]]
opened = AutoModel.from_pretrained(folder, trust_remote_code=True)
assert type(opened).__module__.startswith("transformers_modules."), type(opened)
"""
PRINTED = """
print(json.dumps({
    "answers": answered(model, processor, images),
    "pipeline": [labels(files), labels(files[0]), labels(b"")],
    "folder": sorted(task["name"] for task in opened.config.tasks),
}))
"""


def answered(model: Any, processor: Any, images: list[Path]) -> list[Any]:
    """Decisions and outputs to the bit, and answers; its text runs in the stranger's process as well."""
    pixels = processor([Image.open(file) for file in images], return_tensors="pt")["pixel_values"]
    decided = model.eval().decide(pixels)
    decisions = {
        task: {
            "label": d.label.tolist(),
            "probability": [[p.hex() for p in row] for row in d.probability.tolist()],
            "route": d.route,
            "value": [v.hex() for v in d.value.tolist()],
            "escalation": [e.hex() for e in d.escalation.tolist()],
        }
        for task, d in decided.items()
    }
    with torch.inference_mode():
        forward = {name: value.double().sum().item().hex() for name, value in model(pixels).items()}
    return [decisions, forward, [[a.status, a.labels, a.routes] for a in model.answers(decided)]]


@dataclass(frozen=True)
class World:
    hub: Hub
    root: Path
    model: Path

    def publish(self, *more: str, expect: int = 0) -> str:
        done = subprocess.run(
            [*COMMAND, "publish", "ares", "--built", str(self.model.parent), *more],
            env=self.hub.environment(self.root / "owner", OWNER),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == expect, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def stranger(self) -> dict[str, Any]:
        environment = self.hub.environment(self.root / "stranger")
        del environment["PYTHONPATH"]
        code = f"from typing import Any\n{STRANGER}\n{inspect.getsource(answered)}\n{PRINTED}"
        done = subprocess.run(
            [sys.executable, "-c", code, str(self.root / "images"), str(self.model)],
            env=environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return printed


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("ares-hub")
    (root / "images").mkdir()
    for number in range(IMAGES):
        buffer = BytesIO()
        drawn_face("hub", number, size=96).image.save(buffer, "PNG")
        (root / "images" / f"{number:02}.png").write_bytes(buffer.getvalue())
    with Hub.start(root / "hub") as hub:
        world = World(hub, root, released(random_ares(), root / "trained"))
        world.publish("--tag", "sample-inaugural")
        yield world


@pytest.fixture(scope="module")
def stranger(world: World) -> dict[str, Any]:
    return world.stranger()


def test_a_stranger_s_process_gives_the_same_outputs_to_the_bit(world: World, stranger: dict[str, Any]) -> None:
    model, processor = (kind.from_pretrained(str(world.model)) for kind in (AresModel, AresImageProcessor))
    here = answered(model, processor, sorted((world.root / "images").glob("*.png")))
    assert stranger["answers"] == json.loads(json.dumps(here))
    decided, forward, answers = stranger["answers"]
    assert set(decided) == {"age_gender", "skin_tone"}
    assert len(answers) == IMAGES
    assert any(name.startswith("logits/") for name in forward)


def test_a_stranger_s_pipeline_labels_images(stranger: dict[str, Any]) -> None:
    several, single, unreadable = stranger["pipeline"]
    assert several[0] == single
    assert [[entry["attribute"] for entry in image] for image in several] == [["age", "gender", "skin_tone"]] * 3
    assert {(entry["status"], entry["score"] > 0, entry["label"] != "") for entry in single} == {("ok", True, True)}
    assert [(entry["status"], entry["reason"], entry["score"]) for entry in unreadable] == [
        ("unreadable", "zero_bytes", None)
    ]


def test_a_folder_of_training_opens_by_auto_model_without_a_hub(stranger: dict[str, Any]) -> None:
    assert stranger["folder"] == ["age_gender", "skin_tone"]


def test_by_tag_as_well_and_with_the_measured_error_beside_it(world: World, tmp_path: Path) -> None:
    api, tag = HfApi(world.hub.address), "sample-inaugural"
    with online():
        file = api.hf_hub_download("fairspace/ares", "measurement.json", revision=tag, cache_dir=tmp_path)
        names = api.list_repo_files("fairspace/ares", revision=tag)
    assert Path(file).read_text("utf-8") == (world.model / "measurement.json").read_text("utf-8")
    assert {"README.md", "modeling_ares.py", "model.safetensors", "config.json"} <= set(names)
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".joblib"))]


ANNOTATE = """
from pathlib import Path
import torch
torch.set_num_threads(1)
from fairspace.ares.annotating.annotate import annotate
annotate("fairspace/ares@main", "fairspace/faces", Path({out!r}), shard=7)
"""
CARD = """---
license: apache-2.0
dataset_info:
  features:
  - {name: task, dtype: string}
  - {name: id, dtype: string}
  - {name: sample, dtype: int32}
  - {name: sha256, dtype: string}
  - {name: image, dtype: image}
---
"""


def test_a_dataset_on_the_hub_is_labelled_by_a_model_on_the_hub(world: World, tmp_path: Path) -> None:
    faces = parquet(tmp_path / "repo" / "data", images(15, [b"broken"]), shards=1)
    (faces / "images-00000-of-00001.parquet").rename(faces / "train-00000-of-00001.parquet")
    (tmp_path / "repo" / "README.md").write_text(CARD)
    api, out, local = HfApi(world.hub.address, token=OWNER), tmp_path / "out", tmp_path / "local"
    with online():
        api.create_repo("fairspace/faces", repo_type="dataset")
        uploaded = api.upload_folder(repo_id="fairspace/faces", repo_type="dataset", folder_path=tmp_path / "repo")
        model = api.model_info("fairspace/ares").sha
    world.hub.run(ANNOTATE.format(out=str(out)), world.root / "user")
    data = json.loads((out / "annotation.json").read_text())
    assert (data["source"]["name"], data["source"]["revision"]) == ("fairspace/faces", uploaded.oid)
    assert (data["model"]["name"], data["model"]["revision"]) == ("fairspace/ares", model)
    annotate(world.model, faces, local, shard=7)
    assert len(rows(out)) == 16
    assert rows(out) == rows(local)
    assert rows(out, "routes") == rows(local, "routes")


ELSEWHERE = "elsewhere.example"
NAMES: tuple[str, ...] = (
    "../x",
    "a/../b",
    "owner/..%2fx",
    "owner/name?x=1",
    "owner/name#f",
    "owner\\name",
    "owner/name\r\nHost: x",
)
NAMES += (f"http://{ELSEWHERE}/owner/name", f"//{ELSEWHERE}/x", "hf://models/o/n", "file:///etc/passwd", "a" * 300)
REVISIONS = ("../../../x", "main?x", "%2e%2e%2f", f"http://{ELSEWHERE}", "refs/../x", f"user:key@{ELSEWHERE}/x")
ASK = """
from fairspace.ares.annotating.source import fetched
from fairspace.builders.errors import BuildError
from fairspace.builders.models.weights import find
for name in {names!r}:
    for ask in (lambda: fetched(name, "dataset", ["*"], "SOURCE_MISSING", "x", "y"), lambda: find(name, "config.json")):
        try:
            print("found", ask())
        except BuildError:
            pass
"""


@pytest.mark.process
def test_no_name_sends_a_request_elsewhere(world: World, tmp_path: Path) -> None:
    names = [*NAMES, *(f"owner/name@{revision}" for revision in REVISIONS)]
    world.hub.log(clear=True)
    code = ASK.format(names=names)
    told = world.hub.run(code, tmp_path, OWNER, HTTP_PROXY=world.hub.address)  # which would tell of others
    asked = [str(request["path"]) for request in world.hub.log()]
    assert told == ""
    ours = ("/api/datasets/owner/name/revision/", "/owner/name/resolve/", "/api/agent-harnesses")
    assert len(asked) >= 2 * len(REVISIONS)
    assert [path for path in asked if not path.startswith(ours)] == []
