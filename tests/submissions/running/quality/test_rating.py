from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image as Images

from fairspace.builders.errors import BuildError
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.quality.models import (
    FACE,
    PHOTO,
    Antonyms,
    FaceCrops,
    PyiqaRating,
    open_quality,
)
from tests.builders.models import tiny
from tests.submissions.running.quality import factory


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    tiny.clip(root / "clip")
    factory.dinov2(root / "dinov2")
    tiny.yolos(root / "yolos", ("person", "face"))
    return root


def test_words_rate_by_the_share_of_the_good_one() -> None:
    rating = Antonyms(factory.Fixed({}), PHOTO)
    assert rating.texts == ("Good photo.", "Bad photo.")
    good, bad = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    assert rating.rate(good, [good, bad], 2.0) == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)
    assert rating.rate(good + bad, [good, bad], 100.0) == 0.5
    assert "'Good photo.' 'Bad photo.'" in rating.name
    assert Antonyms(factory.Fixed({}), FACE).name.endswith("and 2 more")


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


def test_pyiqa_rates_one_face_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert rating.rate(found[0], (), 1.0) == 0.75
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


def test_pyiqa_missing_is_said_with_the_command() -> None:
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*pyiqa is not installed.*pip install .*\[iqa\]'"):
        open_quality(iqa="", face_iqa="pyiqa", similarity="", reference="")


def test_one_clip_in_memory_serves_every_role(models: Path) -> None:
    named = f"clip:{models}/clip"
    found = open_quality(iqa=named, face_iqa=named, similarity=named, reference=f"dinov2:{models}/dinov2", device="cpu")
    assert isinstance(found.image, Antonyms)
    assert isinstance(found.face, Antonyms)
    assert found.image.features is found.face.features is found.similarity
    assert (found.image.pairs, found.face.pairs) == (PHOTO, FACE)
    assert [features.name.split()[0] for features in found.looking()] == ["clip", "dinov2"]
    assert list(found.about()) == ["image_quality", "face_quality", "prompt_similarity", "reference_similarity"]
    assert all(str(models) not in name for name in found.about().values())


def test_a_detector_makes_the_face_rating_look_at_faces(models: Path) -> None:
    found = open_quality(
        iqa="",
        face_iqa=f"clip:{models}/clip",
        similarity="",
        reference="",
        detector={"source": str(models / "yolos"), "threshold": 0.2},
        device="cpu",
    )
    assert found.face is not None
    assert isinstance(found.face.features, FaceCrops)
    assert "threshold 0.2" in found.face.name
    assert list(found.about()) == ["face_quality"]
    with pytest.raises(BuildError, match=r"TOOL_MISSING at --faces.*cannot be opened"):
        open_quality(iqa="", face_iqa=f"clip:{models}/clip", detector={"source": str(models / "clip")})


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"iqa": "pyiqa:topiq_nr"}, r"--iqa pyiqa:topiq_nr: no scheme 'pyiqa'"),
        ({"reference": "dino:x"}, r"no scheme 'dino' \(did you mean 'dinov2'\?\)"),
        ({"similarity": "clip:x?batch=3"}, r"no setting 'batch'"),
        ({"reference": "dinov2:./none"}, "no such folder"),
        ({"iqa": "clip:org/absent@v2"}, r"hf download org/absent --revision v2"),
    ],
)
def test_what_cannot_be_opened_is_said(named: dict[str, str], said: str) -> None:
    nothing = {"iqa": "", "face_iqa": "", "similarity": "", "reference": ""}
    with pytest.raises(BuildError, match=f"TOOL_MISSING.*{said}"):
        open_quality(**{**nothing, **named})  # type: ignore[arg-type]
