"""CLIP and DINOv2 against transformers' own arithmetic, with random weights; scores by hand; raters by name."""

import json
import math
import shutil
import sys
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.ares.faces_ares import FaceBox
from fairspace.builders.errors import BuildError
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.quality.models import (
    FACE,
    PHOTO,
    TILE,
    Antonyms,
    ClipFeatures,
    DinoFeatures,
    FaceCrops,
    PyiqaRating,
    Vector,
    Vectors,
    antonym_score,
    cosine,
    mean_to_others,
    open_quality,
)
from tests.builders.models import tiny
from tests.submissions.running.quality import factory

PHOTOS = [factory.face(n, size) for n, size in enumerate([48, 64, 40, 48, 56, 48, 48, 64, 48, 48, 72])]


@pytest.fixture(scope="module")
def clip(features: Path) -> ClipFeatures:
    return ClipFeatures(str(features / "clip"), device="cpu")


@pytest.fixture(scope="module")
def dino(features: Path) -> DinoFeatures:
    return DinoFeatures(str(features / "dinov2"), device="cpu")


def test_an_embedding_is_the_class_token_of_dinov2(features: Path, dino: DinoFeatures) -> None:
    import torch
    from transformers import BitImageProcessorPil, Dinov2Model

    model = Dinov2Model.from_pretrained(features / "dinov2").eval()
    pixels = BitImageProcessorPil.from_pretrained(features / "dinov2")(PHOTOS[:3], return_tensors="pt")
    with torch.inference_mode():
        expected = model(**pixels).last_hidden_state[:, 0].numpy()
    np.testing.assert_allclose(np.stack(dino.images(PHOTOS[:3])), expected, atol=1e-5)
    assert cosine(*dino.images(PHOTOS[:2])) < 0.9999


@pytest.mark.parametrize("kind", ["clip", "dino"])
def test_company_and_order_change_no_bit(kind: str, clip: ClipFeatures, dino: DinoFeatures) -> None:
    model: Any = {"clip": clip, "dino": dino}[kind]
    whole = [vector.tobytes() for vector in model.images(PHOTOS)]
    assert len(PHOTOS) > TILE
    assert len(set(whole)) == len(PHOTOS)
    assert [model.images([photo])[0].tobytes() for photo in PHOTOS] == whole
    assert [vector.tobytes() for vector in model.images(PHOTOS[::-1])] == whole[::-1]
    assert model.images([]) == []


def test_half_precision_weights_are_run_in_float32(features: Path, tmp_path: Path) -> None:
    import torch
    from transformers import CLIPModel, Dinov2Model

    for name, kind in (("clip", CLIPModel), ("dinov2", Dinov2Model)):
        shutil.copytree(features / name, tmp_path / name)
        kind.from_pretrained(features / name).to(torch.bfloat16).save_pretrained(tmp_path / name)
    half = ClipFeatures(str(tmp_path / "clip"), device="cpu")
    assert half.images(PHOTOS[:1])[0].dtype == np.float32
    assert half._clip._model.dtype == torch.float32
    coarse = DinoFeatures(str(tmp_path / "dinov2"), device="cpu")
    assert coarse._loaded[1].dtype == torch.float32


def test_names_tell_the_weights_but_no_path(features: Path, clip: ClipFeatures, dino: DinoFeatures) -> None:
    assert clip.name.startswith("clip clip (sha256 ")
    assert dino.name.startswith("dinov2 dinov2 (sha256 ")
    assert str(features) not in clip.name + dino.name


def test_a_model_of_another_type_is_refused(features: Path) -> None:
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*a model of the type dinov2\. Expected: the type clip"):
        ClipFeatures(str(features / "dinov2"))
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*a model of the type clip\. Expected: the type dinov2"):
        DinoFeatures(str(features / "clip"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    for kind in (ClipFeatures, DinoFeatures):
        with pytest.raises(BuildError, match=r"TOOL_MISSING.*no config\.json"):
            kind(str(tmp_path))
        with pytest.raises(BuildError, match=r"TOOL_MISSING at org/absent.*hf download org/absent"):
            kind("org/absent")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*config\.json.*Expected: JSON"):
        DinoFeatures(str(tmp_path))


def test_absent_and_incomplete_weights_are_refused(features: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(features / "dinov2", tmp_path / "without")
    (tmp_path / "without/model.safetensors").unlink()
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*all files of the model"):
        DinoFeatures(str(tmp_path / "without")).images(PHOTOS[:1])
    shutil.copytree(features / "dinov2", tmp_path / "part")
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


def vector(*values: float) -> Vector:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 0), (2, 0), 1.0),
        ((1, 0), (0, 3), 0.0),
        ((1, 0), (-1, 0), -1.0),
        ((1, 0), (3, 4), 0.6),
        ((3, 4), (4, 3), 0.96),
    ],
)
def test_the_cosine_is_that_of_the_angle(one: tuple[float], other: tuple[float], expected: float) -> None:
    assert cosine(vector(*one), vector(*other)) == expected
    assert cosine(vector(*other), vector(*one)) == expected


def test_clip_iqa_is_the_softmax_of_a_hundred_cosines() -> None:
    """Cosines 0.6 and 0.59 at scale 100: 1 / (1 + exp(-1)) = 0.731059 (to float32's digits of 0.59)."""
    good, bad = vector(1, 0), vector(0.59, math.sqrt(1 - 0.59**2))
    image = vector(0.6, 0.8)
    gap = 0.6 - (0.6 * 0.59 + 0.8 * math.sqrt(1 - 0.59**2))
    assert antonym_score(image, [(good, bad)], 100.0) == pytest.approx(1 / (1 + math.exp(-100 * gap)), abs=2e-6)
    assert antonym_score(good, [(image, bad)], 100.0) == pytest.approx(0.731059, abs=2e-5)


def test_clip_iqa_is_a_half_in_the_middle_and_reaches_both_ends() -> None:
    good, bad = vector(1, 0), vector(-1, 0)
    assert antonym_score(vector(0, 1), [(good, bad)], 100.0) == 0.5
    assert antonym_score(good, [(good, bad)], 100.0) == 1.0
    assert antonym_score(bad, [(good, bad)], 100.0) == 0.0
    assert antonym_score(good, [(good, bad), (bad, good)], 100.0) == 0.5


def test_the_words_are_those_of_the_paper_for_photos() -> None:
    assert PHOTO == (("Good photo.", "Bad photo."),)
    assert all("face" in word for pair in FACE for word in pair)


def test_reference_similarity_is_the_mean_cosine_to_the_others() -> None:
    a, b, c = vector(1, 0), vector(0, 2), vector(3, 4)
    assert mean_to_others([a, b, c]) == [pytest.approx(0.3), pytest.approx(0.4), pytest.approx(0.7)]
    assert mean_to_others([a, a]) == [1.0, 1.0]
    assert mean_to_others([a, -a]) == [-1.0, -1.0]
    assert mean_to_others([a]) == [None], "an image without others has no reference similarity"
    assert mean_to_others([]) == []


def test_the_sum_gives_what_the_pairs_give() -> None:
    many = list(np.random.default_rng(2).normal(size=(9, 32)).astype(np.float32))
    for place, mean in enumerate(mean_to_others(many)):
        pairs = [cosine(many[place], other) for number, other in enumerate(many) if number != place]
        assert mean == pytest.approx(sum(pairs) / 8, abs=2e-6)


def test_words_rate_by_the_share_of_the_good_one() -> None:
    assert PHOTO == (("Good photo.", "Bad photo."),)
    good, bad = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    assert antonym_score(good, [(good, bad)], 2.0) == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)
    assert antonym_score(good + bad, [(good, bad)], 100.0) == 0.5
    assert "'Good photo.' 'Bad photo.'" in Antonyms("image_quality", factory.Fixed({}), PHOTO).name
    assert Antonyms("face_quality", factory.Fixed({}), FACE).name.endswith("and 2 more")


def stand_in(monkeypatch: pytest.MonkeyPatch, answer: Any, lower_better: bool = False) -> list[Any]:
    import torch

    asked: list[Any] = []

    class Metric:
        def __init__(self) -> None:
            self.lower_better = lower_better

        def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
            asked.append(pixels)
            warnings.warn("Currently, this metric does not support batch size > 1", UserWarning, stacklevel=2)
            assert pixels.shape[-1] >= 48, "No face detected in the input image."
            return torch.tensor([[answer]])

    def create_metric(name: str, device: str) -> Metric:
        asked.append((name, device))
        return Metric()

    module = ModuleType("pyiqa")
    module.__spec__ = SimpleNamespace(name="pyiqa")  # type: ignore[assignment]
    module.list_models = lambda metric_mode: ["niqe", "topiq_nr-face"]  # type: ignore[attr-defined]
    module.create_metric = create_metric  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyiqa", module)
    return asked


def test_pyiqa_rates_one_face_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = stand_in(monkeypatch, 0.75)
    rating = PyiqaRating(device="cpu")
    assert not asked
    found = rating.images([factory.face(0), Images.new("RGB", (40, 40)), factory.face(1)])
    assert asked[0] == ("topiq_nr-face", "cpu")
    pixels = list(asked[1:])
    assert [tuple(tensor.shape) for tensor in pixels] == [(1, 3, 48, 48), (1, 3, 40, 40), (1, 3, 48, 48)]
    assert all(0 <= float(tensor.min()) <= float(tensor.max()) <= 1 for tensor in pixels)
    np.testing.assert_allclose(pixels[0][0, :, 5, 7] * 255, np.asarray(factory.face(0))[5, 7], atol=1e-3)
    assert [vector.size for vector in found] == [1, 0, 1]
    with closing(Vectors(tmp_path / "cache.sqlite")) as vectors:
        assert rating.scores({("", "", 0): found[0]}, {}, vectors) == {("", "", 0): 0.75}
    assert rating.features is rating
    assert rating.name == "pyiqa topiq_nr-face"


def test_pyiqa_that_gives_no_score_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, float("nan"))
    with pytest.raises(RunError, match=r"MODEL_OUTPUT at pyiqa topiq_nr-face: the score nan"):
        PyiqaRating(device="cpu").images([factory.face(0)])
    stand_in(monkeypatch, 3.0, lower_better=True)
    with pytest.raises(BuildError, match=r"TOOL_MISSING at niqe: lower is better"):
        PyiqaRating("niqe", device="cpu").images([factory.face(0)])
    with pytest.raises(BuildError, match=r"TOOL_MISSING at topiq: no metric of pyiqa\. Expected: one of topiq_nr-face"):
        PyiqaRating("topiq", device="cpu").images([factory.face(0)])


def test_one_clip_in_memory_serves_every_role(features: Path) -> None:
    named = f"clip:{features}/clip"
    roles = {"reference": f"dinov2:{features}/dinov2", "face-iqa": named, "iqa": named, "similarity": named}
    image, face, similarity, reference = open_quality(roles, device="cpu")
    assert isinstance(image, Antonyms)
    assert isinstance(face, Antonyms)
    assert image.features is face.features is similarity.features
    assert (image.pairs, face.pairs) == (PHOTO, FACE)
    assert [each.features.name.split()[0] for each in (similarity, reference)] == ["clip", "dinov2"]
    columns = [measure.column for measure in (image, face, similarity, reference)]
    assert columns == ["image_quality", "face_quality", "prompt_similarity", "reference_similarity"]
    assert all(str(features) not in measure.name for measure in (image, face, similarity, reference))


def test_a_detector_makes_the_face_rating_look_at_faces(features: Path, tmp_path: Path) -> None:
    detector = {"source": str(tiny.yolos(tmp_path / "yolos", ("person", "face"))), "threshold": 0.2}
    roles = {"face-iqa": f"clip:{features}/clip"}
    (face,) = open_quality(roles, detector=detector, device="cpu")
    assert isinstance(face.features, FaceCrops)
    assert "threshold 0.2" in face.name
    assert face.column == "face_quality"
    with pytest.raises(BuildError, match=r"TOOL_MISSING at --faces.*cannot be opened"):
        open_quality(roles, detector={"source": str(features / "clip")})


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"iqa": "pyiqa:topiq_nr"}, r"--iqa pyiqa:topiq_nr: no scheme 'pyiqa'"),
        ({"reference": "dino:x"}, r"no scheme 'dino' \(did you mean 'dinov2'\?\)"),
        ({"similarity": "clip:x?batch=3"}, r"no setting 'batch'"),
        ({"reference": "dinov2:./none"}, "no such folder"),
        ({"face-iqa": "pyiqa"}, r"pyiqa is not installed.*pip install .*\[iqa\]'"),
        ({"iqa": "clip:org/absent@v2"}, r"hf download org/absent --revision v2"),
    ],
)
def test_what_cannot_be_opened_is_said(named: dict[str, str], said: str) -> None:
    with pytest.raises(BuildError, match=f"TOOL_MISSING.*{said}"):
        open_quality(named)
