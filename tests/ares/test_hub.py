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
from PIL import Image

from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import drawn_face
from tests.ares.released import released
from tests.hub.running import OWNER, ROOT, Hub
from tests.tiny_ares import random_ares

pytestmark = pytest.mark.slow
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


def test_by_tag_as_well_and_with_the_measured_error_beside_it(world: World) -> None:
    code = (
        "import json\nfrom huggingface_hub import hf_hub_download, HfApi\n"
        "file = hf_hub_download('fairspace/ares', 'measurement.json', revision='sample-inaugural')\n"
        "names = HfApi().list_repo_files('fairspace/ares', revision='sample-inaugural')\n"
        "print(json.dumps([json.load(open(file)), names]))"
    )
    measurement, names = json.loads(world.hub.run(code, world.root / "reader").splitlines()[-1])
    assert measurement == json.loads((world.model / "measurement.json").read_text("utf-8"))
    assert {"README.md", "modeling_ares.py", "model.safetensors", "config.json"} <= set(names)
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".joblib"))]
