"""A matcher that asks questions, against the first step of transformers' own generation, with random weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairspace.builders.iris_steer_60.statements import STATEMENTS, label_margins
from fairspace.builders.models.opening import open_tools
from fairspace.builders.models.vqa import VqaMatcher
from tests.builders.models import tiny
from tests.builders.models.test_clip import photos

TEXTS = ["a person wearing glasses", "a person with a beard", "a person in plain clothes"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny.clip(folder / "clip")
    tiny.blip(folder / "blip")
    return folder


@pytest.fixture(scope="module")
def matcher(models: Path) -> VqaMatcher:
    opened = open_tools(matcher=f"vqa:{models}/blip?images={models}/clip", device="cpu").matcher
    assert isinstance(opened, VqaMatcher)
    return opened


def test_agreement_is_how_much_likelier_yes_is_than_no_as_the_first_word(models: Path, matcher: VqaMatcher) -> None:
    from transformers import BertTokenizer, BlipForQuestionAnswering, BlipImageProcessorPil

    model = BlipForQuestionAnswering.from_pretrained(models / "blip").eval()
    words, pixels = (kind.from_pretrained(models / "blip") for kind in (BertTokenizer, BlipImageProcessorPil))
    expected = []
    for image, text in zip(photos(3), TEXTS, strict=True):
        given = words(f"is this {text}?", return_tensors="pt")
        output = model.generate(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            pixel_values=pixels(image, return_tensors="pt")["pixel_values"],
            max_new_tokens=1,
            do_sample=False,
            num_beams=1,
            output_logits=True,
            return_dict_in_generate=True,
        )
        yes, no = output.logits[0][0, words.convert_tokens_to_ids(["yes", "no"])].softmax(-1).tolist()
        expected.append(yes - no)
    agreements = matcher.text_similarity(photos(3), TEXTS)
    assert agreements == pytest.approx(expected, abs=1e-5)
    assert len(set(agreements)) == 3
    assert [
        matcher.text_similarity([image], [text])[0] for image, text in zip(photos(3), TEXTS, strict=True)
    ] == agreements


def test_statements_of_pairs_have_margins_and_images_are_compared_by_clip(models: Path, matcher: VqaMatcher) -> None:
    planned = [{question: next(iter(labels)) for question, labels in STATEMENTS.items()}] * 2
    for margins in label_margins(matcher, photos(2), planned):
        assert set(margins) == set(STATEMENTS)
        assert all(-2 <= margin <= 2 for margin in margins.values())
    clip = open_tools(matcher=f"clip:{models}/clip", device="cpu").matcher
    assert clip is not None
    assert matcher.image_similarity(photos(2), photos(3)[1:]) == clip.image_similarity(photos(2), photos(3)[1:])
    assert matcher.name.startswith("vqa blip (sha256 ")
    assert clip.name in matcher.name
