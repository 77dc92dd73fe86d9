from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.tools import Labels, PersonBox, Picture
from fairspace.builders.models.clip import Clip, ClipMatcher
from fairspace.builders.models.labelling import PROTOTYPES, TEMPLATES, ClipLabeller
from tests.builders.models import tiny


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
