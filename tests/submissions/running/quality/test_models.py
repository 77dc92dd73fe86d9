"""CLIP and DINOv2 against transformers' own arithmetic, with random weights."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.ares.faces_ares import FaceBox
from fairspace.builders.errors import BuildError
from fairspace.submissions.running.quality.models import TILE, ClipFeatures, DinoFeatures, FaceCrops, cosine
from tests.builders.models import tiny
from tests.submissions.running.quality import factory

PHOTOS = [factory.face(n, size) for n, size in enumerate([48, 64, 40, 48, 56, 48, 48, 64, 48, 48, 72])]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    tiny.clip(root / "clip")
    factory.dinov2(root / "dinov2")
    return root


@pytest.fixture(scope="module")
def clip(models: Path) -> ClipFeatures:
    return ClipFeatures(str(models / "clip"), device="cpu")


@pytest.fixture(scope="module")
def dino(models: Path) -> DinoFeatures:
    return DinoFeatures(str(models / "dinov2"), device="cpu")


def test_an_embedding_is_the_class_token_of_dinov2(models: Path, dino: DinoFeatures) -> None:
    import torch
    from transformers import BitImageProcessorPil, Dinov2Model

    model = Dinov2Model.from_pretrained(models / "dinov2").eval()
    pixels = BitImageProcessorPil.from_pretrained(models / "dinov2")(PHOTOS[:3], return_tensors="pt")
    with torch.inference_mode():
        expected = model(**pixels).last_hidden_state[:, 0].numpy()
    np.testing.assert_allclose(np.stack(dino.images(PHOTOS[:3])), expected, atol=1e-5)
    assert cosine(*dino.images(PHOTOS[:2])) < 0.9999


@pytest.mark.parametrize("kind", ["clip", "dino"])
def test_company_and_order_change_no_bit(kind: str, clip: ClipFeatures, dino: DinoFeatures) -> None:
    features: Any = {"clip": clip, "dino": dino}[kind]
    whole = [vector.tobytes() for vector in features.images(PHOTOS)]
    assert len(PHOTOS) > TILE
    assert len(set(whole)) == len(PHOTOS)
    assert [features.images([photo])[0].tobytes() for photo in PHOTOS] == whole
    assert [vector.tobytes() for vector in features.images(PHOTOS[::-1])] == whole[::-1]
    assert features.images([]) == []


def test_half_precision_weights_are_run_in_float32(models: Path, tmp_path: Path) -> None:
    import torch
    from transformers import CLIPModel, Dinov2Model

    for name, kind in (("clip", CLIPModel), ("dinov2", Dinov2Model)):
        shutil.copytree(models / name, tmp_path / name)
        kind.from_pretrained(models / name).to(torch.bfloat16).save_pretrained(tmp_path / name)
    half = ClipFeatures(str(tmp_path / "clip"), device="cpu")
    assert half.images(PHOTOS[:1])[0].dtype == np.float32
    assert half._clip._model.dtype == torch.float32
    coarse = DinoFeatures(str(tmp_path / "dinov2"), device="cpu")
    assert coarse._loaded[1].dtype == torch.float32


def test_names_tell_the_weights_but_no_path(models: Path, clip: ClipFeatures, dino: DinoFeatures) -> None:
    assert clip.name.startswith("clip clip (sha256 ")
    assert dino.name.startswith("dinov2 dinov2 (sha256 ")
    assert str(models) not in clip.name + dino.name


def test_a_model_of_another_type_is_refused(models: Path) -> None:
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*a model of the type dinov2\. Expected: the type clip"):
        ClipFeatures(str(models / "dinov2"))
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*a model of the type clip\. Expected: the type dinov2"):
        DinoFeatures(str(models / "clip"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    for kind in (ClipFeatures, DinoFeatures):
        with pytest.raises(BuildError, match=r"TOOL_MISSING.*no config\.json"):
            kind(str(tmp_path))
        with pytest.raises(BuildError, match=r"TOOL_MISSING at org/absent.*hf download org/absent"):
            kind("org/absent")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*config\.json.*Expected: JSON"):
        DinoFeatures(str(tmp_path))


def test_absent_and_incomplete_weights_are_refused(models: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(models / "dinov2", tmp_path / "without")
    (tmp_path / "without/model.safetensors").unlink()
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*all files of the model"):
        DinoFeatures(str(tmp_path / "without")).images(PHOTOS[:1])
    shutil.copytree(models / "dinov2", tmp_path / "part")
    tensors = load_file(tmp_path / "part/model.safetensors")
    tensors.pop("layernorm.weight")
    save_file(tensors, tmp_path / "part/model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*no weights layernorm\.weight"):
        DinoFeatures(str(tmp_path / "part")).images(PHOTOS[:1])


class Boxes:
    name = "boxes"

    def detect(self, images: Sequence[Image]) -> list[list[FaceBox]]:
        return [[FaceBox(0, 0, 8, 8), FaceBox(10, 10, 30, 30)] if image.width >= 48 else [] for image in images]


def test_the_largest_face_is_looked_at_and_no_face_is_nothing(clip: ClipFeatures) -> None:
    crops = FaceCrops(clip, Boxes())
    small = Images.new("RGB", (40, 40))
    found = crops.images([PHOTOS[0], small, PHOTOS[1]])
    assert found[1].size == 0
    expected = clip.images([PHOTOS[0].crop((10, 10, 40, 40)), PHOTOS[1].crop((10, 10, 40, 40))])
    assert [found[0].tobytes(), found[2].tobytes()] == [vector.tobytes() for vector in expected]
    assert crops.images([small])[0].size == 0
    assert crops.name == f"{clip.name} on faces by boxes"
    assert json.dumps(crops.text("a").tolist()) == json.dumps(clip.text("a").tolist())
