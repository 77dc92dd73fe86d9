"""ARES on the Hub: published with the command, loaded by transformers in a process without this software."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

from fairspace.ares.drawn_faces import drawn_face
from tests.ares.released import released
from tests.hub.running import OWNER, ROOT, Hub
from tests.tiny_ares import random_ares

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-c", "from fairspace.submissions.commands.main import main; main()"]
HERE = """
import json, sys, torch
torch.set_num_threads(1)
from pathlib import Path
from PIL import Image
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
model = AresModel.from_pretrained(sys.argv[1])
processor = AresImageProcessor.from_pretrained(sys.argv[1])
"""
STRANGER = f"""
import importlib.util, json, sys
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path({str(ROOT)!r}) and "editable" not in p]
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
for package in ("ares", "builders", "submissions", "metrics", "cards"):
    assert importlib.util.find_spec(package) is None, f"{{package}} is there"
import torch
torch.set_num_threads(1)
from PIL import Image
from transformers import AutoConfig, AutoImageProcessor, AutoModel
model = AutoModel.from_pretrained(sys.argv[1], trust_remote_code=True)
processor = AutoImageProcessor.from_pretrained(sys.argv[1], trust_remote_code=True)
assert type(model).__module__.startswith("transformers_modules."), type(model)
assert type(processor).__module__.startswith("transformers_modules."), type(processor)
assert AutoConfig.from_pretrained(sys.argv[1], trust_remote_code=True).model_type == "ares"
"""
ANSWER = """
files = sorted(Path(sys.argv[2]).glob("*.png"))
pixels = processor([Image.open(file) for file in files], return_tensors="pt")["pixel_values"]
decided = model.eval().decide(pixels)
found = {task: {"label": d.label.tolist(), "probability": [[p.hex() for p in row] for row in d.probability.tolist()],
                "route": d.route, "value": [v.hex() for v in d.value.tolist()],
                "escalation": [e.hex() for e in d.escalation.tolist()]} for task, d in decided.items()}
with torch.inference_mode():
    forward = {name: value.double().sum().item().hex() for name, value in model(pixels).items()}
answers = [[a.status, a.labels, a.routes] for a in model.answers(decided)]
print(json.dumps([found, forward, answers], sort_keys=True))
"""


@dataclass(frozen=True)
class World:
    """A Hub with a published ARES."""

    hub: Hub
    root: Path
    model: Path

    def publish(self, *more: str, expect: int = 0) -> str:
        done = subprocess.run(
            [*COMMAND, "publish", "ares", "--ares", str(self.model), *more],
            env=self.hub.environment(self.root / "owner", OWNER),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == expect, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def commits(self) -> int:
        code = "from huggingface_hub import HfApi; print(len(HfApi().list_repo_commits('fairspace/ares')))"
        return int(self.hub.run(code, self.root / "owner", OWNER))

    def answers(self, code: str, model: str, home: str) -> str:
        environment = self.hub.environment(self.root / home)
        if code.startswith(STRANGER):
            del environment["PYTHONPATH"]
        done = subprocess.run(
            [sys.executable, "-c", f"from pathlib import Path\n{code}", model, str(self.root / "images")],
            env=environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("ares-hub")
    (root / "images").mkdir()
    for number in range(24):
        buffer = BytesIO()
        drawn_face("hub", number, size=96).image.save(buffer, "PNG")
        (root / "images" / f"{number:02}.png").write_bytes(buffer.getvalue())
    with Hub.start(root / "hub") as hub:
        world = World(hub, root, released(random_ares(), root / "trained"))
        world.publish("--tag", "inaugural")
        yield world


def test_a_stranger_s_process_gives_the_same_outputs_to_the_bit(world: World) -> None:
    here = world.answers(HERE + ANSWER, str(world.model), "here")
    there = world.answers(STRANGER + ANSWER, "fairspace/ares", "stranger")
    assert json.loads(there) == json.loads(here)
    decided, forward, answers = json.loads(there)
    assert set(decided) == {"age_gender", "skin_tone"}
    assert len(answers) == 24
    assert any(name.startswith("logits/") for name in forward)


def test_by_tag_as_well_and_with_the_measured_error_beside_it(world: World) -> None:
    code = (
        "import json\nfrom huggingface_hub import hf_hub_download, HfApi\n"
        "file = hf_hub_download('fairspace/ares', 'measurement.json', revision='inaugural')\n"
        "names = HfApi().list_repo_files('fairspace/ares', revision='inaugural')\n"
        "print(json.dumps([json.load(open(file)), names]))"
    )
    measurement, names = json.loads(world.hub.run(code, world.root / "reader").splitlines()[-1])
    assert measurement == json.loads((world.model / "measurement.json").read_text("utf-8"))
    assert {"README.md", "modeling_ares.py", "model.safetensors", "config.json"} <= set(names)
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".joblib"))]


def test_a_second_publish_makes_no_commit_and_a_pickle_none_either(world: World) -> None:
    before = world.commits()
    world.publish("--tag", "inaugural")
    assert world.commits() == before
    spoilt = world.model / "router.pkl"
    spoilt.write_bytes(b"x")
    try:
        assert "MODEL_UNSAFE" in world.publish(expect=1)
    finally:
        spoilt.unlink()
    assert world.commits() == before
