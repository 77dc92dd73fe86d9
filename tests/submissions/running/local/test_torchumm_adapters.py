"""TorchUMM's own adapters: our table of backbones against facts of their source, and a real adapter in its own process.

`python -m tests.submissions.running.local.test_torchumm_adapters CLONE` writes the facts anew.
"""

import ast
import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.models import ModelSettings, found_revision
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.local import torchumm
from fairspace.submissions.running.local.torchumm import BACKBONES
from tests.submissions.probing.tiny_models import janus

FACTS = Path(__file__).parents[3] / "foreign" / "torchumm" / "adapters.toml"
CLONE = os.environ.get("FAIRSPACE_TORCHUMM_CLONE", "")
ADAPTERS: dict[str, Any] = tomllib.loads(FACTS.read_text()) if FACTS.exists() else {}
needs_clone = pytest.mark.skipif(not CLONE, reason="FAIRSPACE_TORCHUMM_CLONE names no clone")


def facts(file: Path) -> dict[str, Any]:
    """Methods, defaults and names that an adapter reads, from its source."""
    data = file.read_bytes()
    tree = ast.parse(data)
    (adapter,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("Backbone")]
    methods = {node.name: node for node in adapter.body if isinstance(node, ast.FunctionDef)}
    makes = [methods[name] for name in ("generation", "generate") if name in methods]
    read = [
        call.args[0].value
        for each in makes
        for call in ast.walk(each)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("get", "pop")
        if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    ]
    paths = [path for node in ast.walk(methods["__init__"]) if (path := _path(node))]
    answers = [methods[name] for name in ("understanding", "understand") if name in methods]
    loops = [node for each in answers for node in each.body if isinstance(node, ast.With)]
    return {
        "sha256": hashlib.sha256(data).hexdigest(),
        "methods": sorted({"generation", "generate", "understanding", "understand"} & methods.keys()),
        "seeds": sorted({name for name in read if name.endswith("seed")}),
        "process": any("subprocess.run" in ast.unparse(each) for each in makes),
        "several": '            "parallel_size": ' in data.decode(),
        "answers_empty": any(ast.unparse(each.body[-1]) == "return {'text': ''}" for each in answers),
        "answers_each_picture": any(ast.unparse(node.body[0]).startswith("for img_path in images") for node in loops),
        "text_by_v2_alone": "Text-only understanding requires Show-o2" in data.decode(),
        "vllm": "from vllm" in data.decode(),
        "length": "max_think_token_n" if "max_think_token_n" in data.decode() else "max_new_tokens",
        "places": sorted(path for path in paths if not any(other.startswith(f"{path}/") for other in paths)),
        "read_by_load": sorted(_texts(methods["load"])),
    }


def _path(node: ast.AST) -> str:
    """`a/b` of the expression `repo_root / "a" / "b"`, else ''."""
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant):
        parts, node = [str(node.right.value), *parts], node.left
    return "/".join(parts) if isinstance(node, ast.Name) and node.id == "repo_root" else ""


def _texts(node: ast.AST) -> set[str]:
    words = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {word for word in words if isinstance(word, str) and word.isidentifier()}


def of_clone(clone: Path) -> dict[str, Any]:
    return {file.parent.name: facts(file) for file in sorted(clone.glob("src/umm/backbones/*/adapter.py"))}


def test_the_table_of_backbones_is_that_of_the_adapters() -> None:
    """`show_o2` is `show_o`'s adapter with another model."""
    assert BACKBONES.keys() == {*ADAPTERS, "show_o2"}
    for name, ours in BACKBONES.items():
        theirs = ADAPTERS[name.rstrip("2") if name == "show_o2" else name]
        understands = bool({"understand", "understanding"} & set(theirs["methods"])) and not theirs["answers_empty"]
        assert (ours.answers != "none") == understands, name
        only = theirs["answers_each_picture"] or (theirs["text_by_v2_alone"] and name != "show_o2")
        assert (ours.answers == "picture") == only, name
        assert {"generate", "generation"} & set(theirs["methods"]), name
        own_process = theirs["process"] or theirs["vllm"]
        assert [ours.seed] == (theirs["seeds"] or ["no" if own_process else "torch"]), name
        assert ours.many == (theirs["process"] and not theirs["seeds"]), name
        assert (ours.asked == {"parallel_size": 1}) == theirs["several"], name
        assert ours.length == theirs["length"], name
        assert set(ours.needs) <= set(theirs["read_by_load"]), name
        assert {place for place in ours.needs.values() if place} <= set(theirs["places"]), name


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda root: found_revision(ModelSettings("torchumm/blip3o")), "a backbone that answers nothing.*--images"),
        (lambda root: found_revision(ModelSettings("torchumm/tokenflow")), "a backbone that answers nothing"),
        (lambda root: open_image_model("torchumm:ovis_u1"), "no model_path, and nothing at its default"),
        (lambda root: open_image_model(f"torchumm:show_o?cfg=model_path:{root},show_o_root:./nowhere"), "no folder"),
        (lambda root: torchumm.TorchUmm("emu3").answer("Who?", []), "a question without a picture"),
    ],
)  # fmt: skip
def test_what_a_backbone_cannot_do_is_refused_before_anything_loads(asked: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=says):
        asked(tmp_path)


@needs_clone
def test_the_facts_are_those_of_a_clone() -> None:
    assert of_clone(Path(CLONE)) == ADAPTERS


@pytest.fixture
def umm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Weights, and TorchUMM's own package from the clone; its adapters import torchvision, of which none is called."""
    weights = janus(tmp_path / "janus")
    for name in ("torchvision", "torchvision.transforms"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["torchvision"], "transforms", sys.modules["torchvision.transforms"], raising=False)
    monkeypatch.syspath_prepend(f"{CLONE}/src")
    torchumm._opened.cache_clear()
    yield weights
    for name in [name for name in sys.modules if name.partition(".")[0] == "umm"]:
        del sys.modules[name]


STAND_IN = """
import torch
from PIL import Image


class blip3oQwenForInferenceLM:
    @classmethod
    def from_pretrained(cls, path, torch_dtype):
        return cls()

    def to(self, device):
        return self

    def generate_images(self, ids, mask, **asked):
        return None, [Image.fromarray((torch.rand(32, 32, 3) * 255).byte().numpy())]
"""


@needs_clone
@pytest.mark.slow
def test_a_real_adapter_makes_the_images_of_a_list_in_one_process(umm: Path, tmp_path: Path) -> None:
    """BLIP3-o's adapter with noise in its model's place: process, list, files and order are the adapter's."""
    package = tmp_path / "root" / "blip3o"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model.py").write_text(STAND_IN)
    cfg = {"model_path": str(umm), "blip3o_root": str(tmp_path / "root"), "device": "cpu"}
    cfg["output_dir"] = str(tmp_path / "out")
    model = open_image_model(f"torchumm:blip3o?cfg={json.dumps(cfg)}")
    made = model.make([ImagePrompt("a nurse", seed) for seed in range(3)])
    assert [each.fate for each in made] == ["answered"] * 3, made
    assert len({each.image for each in made}) == 3
    assert (model.batch, model.settings()["seeded"]) == (16, "no")
    with pytest.raises(RunError, match="MODEL_UNKNOWN at torchumm:mmada: no mmada_root, and nothing at its default"):
        open_image_model("torchumm:mmada")


if __name__ == "__main__":
    found = of_clone(Path(sys.argv[1]))
    lines = ["# Facts of the adapters of AIFrontierLab/TorchUMM at commit 083395e."]
    for backbone, stated in found.items():
        lines += ["", f"[{backbone}]", *(f"{name} = {json.dumps(value)}" for name, value in stated.items())]
    FACTS.write_text("\n".join(lines) + "\n")
