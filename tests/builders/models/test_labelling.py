from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.ares.modeling_ares import AresModel
from fairspace.builders.drawn.swatches import draw_face, draw_scene, person
from fairspace.builders.drawn.tools import sample_tools
from fairspace.builders.engine.tools import Labels, PersonBox, Picture
from fairspace.builders.models.clip import Clip, ClipMatcher
from fairspace.builders.models.labelling import PROTOTYPES, TEMPLATES, AresLabeller, ClipLabeller
from fairspace.builders.models.opening import open_tools
from tests.builders.models import tiny
from tests.tiny_ares import random_ares


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.clip(tmp_path_factory.mktemp("models") / "clip")


@pytest.fixture(scope="module")
def clip(folder: Path) -> Clip:
    return Clip(str(folder), device="cpu")


def photos(count: int) -> list[Image]:
    state = np.random.RandomState(0)
    return [Images.fromarray(state.randint(0, 256, (40, 50, 3), np.uint8)) for _ in range(count)]


TEXTS = ["a photo of a doctor", "a nurse", "a nurse", "a " + "very " * 60 + "long text"]


def test_text_similarity_is_the_cosine_of_clip(folder: Path, clip: Clip) -> None:
    import torch
    from transformers import CLIPImageProcessorPil, CLIPModel, CLIPTokenizer

    model = CLIPModel.from_pretrained(folder).eval()
    tokens = CLIPTokenizer.from_pretrained(folder)(
        TEXTS, padding=True, truncation=True, max_length=77, return_tensors="pt"
    )
    pixels = CLIPImageProcessorPil.from_pretrained(folder)(photos(4), return_tensors="pt")
    with torch.inference_mode():
        output = model(**tokens, **pixels)
        expected = (output.logits_per_image / model.logit_scale.exp()).diagonal().tolist()
    assert ClipMatcher(clip).text_similarity(photos(4), TEXTS) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("batch", [1, 3])
def test_the_batch_size_changes_no_similarity(folder: Path, clip: Clip, batch: int) -> None:
    other = ClipMatcher(Clip(str(folder), device="cpu", batch=batch))
    expected = ClipMatcher(clip).text_similarity(photos(4), TEXTS)
    assert other.text_similarity(photos(4), TEXTS) == pytest.approx(expected, abs=1e-5)


class Crowd:
    name = "crowd"

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        assert all(picture.open().size == (50, 40) for picture in pictures)
        return [[PersonBox(0, 0, 5, 5)] * number for number in range(len(pictures))]


def test_a_label_is_the_nearest_prototype(clip: Clip) -> None:
    images = photos(2)
    labeller = ClipLabeller(clip, margin=0, detector=Crowd(), attributes=tuple(PROTOTYPES))
    reason, found, _ = labeller.seen(images)[1]
    assert reason == ""
    for attribute, labels in PROTOTYPES.items():
        nearest = {}
        for label, words in labels.items():
            texts = clip.texts([template.format(word) for word in words for template in TEMPLATES])
            mean = texts.mean(0) / np.linalg.norm(texts.mean(0))
            nearest[label] = float(clip.images(images[1:])[0] @ mean)
        assert found[attribute] == max(nearest, key=nearest.__getitem__)


def test_no_label_without_a_clear_winner(clip: Clip) -> None:
    assert ClipLabeller(clip, margin=1.0, detector=Crowd()).label(photos(2))[1] == Labels(reason="unsure")


def test_no_label_without_exactly_one_person(clip: Clip) -> None:
    found = ClipLabeller(clip, margin=0, detector=Crowd()).label(photos(3))
    assert [labels.reason for labels in found] == ["no face", "", "several faces"]
    assert found[0] == Labels(reason="no face")
    assert ClipLabeller(clip).label([]) == []


def test_clip_itself_says_whether_there_is_somebody(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    labeller = ClipLabeller(clip, margin=0)
    person, nobody = labeller._contrast
    embedded = clip.images(photos(1))
    somebody = bool(embedded[0] @ person >= embedded[0] @ nobody)
    assert (labeller.label(photos(1))[0].reason == "") == somebody
    labeller.__dict__["_contrast"] = np.stack([nobody, person])
    assert (labeller.label(photos(1))[0].reason == "") != somebody


@pytest.fixture(scope="module")
def model() -> Path:
    return random_ares()


def test_labels_are_those_of_the_model(model: Path) -> None:
    faces = [draw_face("female", "young", "dark", seed) for seed in range(3)]
    labeller = open_tools(labeller=f"ares:{model}").labeller
    assert isinstance(labeller, AresLabeller)
    found = labeller.label(faces)
    for labels, answers in zip(found, AresModel.from_pretrained(model).eval().classify(faces), strict=True):
        assert labels.gender == answers[0].labels["gender"]
        assert labels.age == answers[0].labels["age"]
        assert labels.skin_tone == answers[0].labels["skin_tone"]
    assert labeller.label([]) == []
    assert "sha256" in labeller.name


def test_a_detector_says_whether_there_is_one_person(model: Path) -> None:
    labeller = AresLabeller(str(model), detector=sample_tools().detector)
    one = draw_face("male", "older", "light", 1)
    blank = one.copy()
    blank.paste((255, 255, 255), (0, 0, *one.size))
    two = draw_scene([person("male", "older", "light", 1), person("female", "young", "dark", 2)], 3, (800, 400))[0]
    assert [labels.reason for labels in labeller.label([one, blank, two])] == ["", "no face", "several faces"]
