import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from fairspace.ares.asking_ares import ArbiterCounts, ArbiterError
from fairspace.ares.configuration_ares import AGE_GENDER
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.vlm_ares import LocalVlm, open_vlm
from tests.ares.tiny_vlm import COLOURS, PROSE, coloured, tiny_vlm

LABELS = list(COLOURS)
KNOWN = [coloured(colour) for colour in COLOURS.values()]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vlm(tmp_path_factory.mktemp("vlm") / "tiny", AGE_GENDER)


@pytest.fixture(scope="module")
def vlm(folder: Path) -> LocalVlm:
    return LocalVlm(str(folder))


def test_the_answer_is_about_the_image_that_was_shown(folder: Path) -> None:
    vlm = LocalVlm(str(folder), batch=3)
    images = [*KNOWN, coloured(PROSE), *reversed(KNOWN)]
    assert vlm.answer(images, AGE_GENDER) == [*LABELS, None, *reversed(LABELS)]
    assert vlm.counts == ArbiterCounts(asked=13, answered=12, asked_again=1, unusable=1)


def test_company_and_order_in_a_pass_change_no_text(vlm: LocalVlm) -> None:
    noise = np.random.RandomState(0).randint(0, 256, (7, 40, 30, 3), np.uint8)
    images = [*KNOWN, *(Image.fromarray(each) for each in noise)]
    asked = "Answer with one JSON object"
    whole = vlm._replies(images, asked)
    assert len(set(whole)) > 1
    assert [vlm._replies([image], asked)[0] for image in images] == whole
    assert vlm._replies(images[::-1], asked) == whole[::-1]
    assert vlm._replies(images[:5], asked) + vlm._replies(images[5:], asked) == whole


def test_sampling_in_a_checkpoint_is_not_used(folder: Path, tmp_path: Path) -> None:
    hot = shutil.copytree(folder, tmp_path / "hot")
    settings = json.loads((hot / "generation_config.json").read_text())
    settings |= {"do_sample": True, "temperature": 5.0, "repetition_penalty": 3.0}
    (hot / "generation_config.json").write_text(json.dumps(settings))
    assert LocalVlm(str(hot)).answer(KNOWN, AGE_GENDER) == LABELS


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"source": "org/model"}, "is no commit"),
        ({"source": "org/model", "revision": "main"}, "is no commit"),
        ({"source": "org/model", "revision": COMMIT}, "org/model cannot be opened"),
        ({"source": "org/model", "size": 3}, "size is not known here"),
        ({"revision": COMMIT}, "LocalVlm takes source"),
        ({"endpoint": "https://host/v1"}, "EndpointVlm takes endpoint, model"),
        ({"endpoint": "host", "model": "m"}, "is no address"),
    ],
)
def test_settings_that_do_not_open_a_model_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ArbiterError, match=said):
        open_vlm(settings)


def test_weights_that_could_run_code_are_not_opened(folder: Path, tmp_path: Path) -> None:
    pickled = shutil.copytree(folder, tmp_path / "pickled", ignore=shutil.ignore_patterns("*.safetensors"))
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(ArbiterError, match="cannot be opened"):
        LocalVlm(str(pickled))


def escalating(tiny_ares: Path, mode: str = "full") -> tuple[AresModel, torch.Tensor, list[Any]]:
    """A model that escalates about half of what its fast path leaves, and 24 inputs."""
    model = AresModel.from_pretrained(tiny_ares).eval()
    size = model.config.image_size
    pixels = torch.rand(24, 3, size, size, generator=torch.Generator().manual_seed(0))
    model.config.fast_confidence = 1.0
    chance = model.decide(pixels)["age_gender"].escalation
    model.config.escalation = float(np.median(chance))
    model.config.ablation = mode
    images = [coloured(PROSE) if n % 5 == 0 else KNOWN[n % 6] for n in range(24)]
    return model, pixels, images


def test_only_escalated_images_are_asked_about(tiny_ares: Path, folder: Path) -> None:
    model, pixels, images = escalating(tiny_ares)
    before = model.decide(pixels, images)["age_gender"]
    assert set(before.route) == {"vote"}
    assert model.open_arbiter({"source": str(folder)}) is model.arbiter
    assert isinstance(model.arbiter, LocalVlm)
    after = model.decide(pixels, images)
    found = after["age_gender"]
    above = np.flatnonzero(found.escalation > model.config.escalation)
    assert 0 < len(above) < 24
    assert model.arbiter.counts.asked == len(above)
    for row in range(24):
        if row not in above:
            assert (found.route[row], found.label[row], found.reason[row]) == ("vote", before.label[row], "")
        elif row % 5 == 0:
            assert (found.route[row], found.label[row]) == ("abstained", -1)
            assert found.reason[row] == "the vision-language model gave no usable answer"
        else:
            assert (found.route[row], found.label[row], found.reason[row]) == ("escalated:vlm", row % 6, "")
    answers = model.answers(after)
    silent = next(row for row in above if row % 5 == 0)
    assert answers[silent].labels["gender"] == answers[silent].labels["age"] == ""
    assert answers[silent].reason.startswith("age_gender: the vision-language model")
    assert "vlm" not in {route.partition(":")[2] for route in after["skin_tone"].route}
    parts = [model.decide(pixels[i : i + 7], images[i : i + 7])["age_gender"] for i in range(0, 24, 7)]
    assert [route for part in parts for route in part.route] == found.route
    assert np.array_equal(np.concatenate([part.label for part in parts]), found.label)


@pytest.mark.parametrize(
    ("mode", "shown", "asked"),
    [
        ("full", False, False),
        ("no_vlm", True, False),
        ("vote", True, False),
        ("clip", True, False),
        ("no_fusion", True, True),
    ],
)
def test_without_images_nothing_is_asked_and_ablations_use_the_model_or_not(
    tiny_ares: Path, vlm: LocalVlm, mode: str, shown: bool, asked: bool
) -> None:
    model, pixels, images = escalating(tiny_ares, mode)
    model.arbiter, before = vlm, vlm.counts.asked
    decided = model.decide(pixels, images if shown else None)["age_gender"]
    assert (vlm.counts.asked > before) == asked
    assert shown or set(decided.route) == {"vote"}


def test_a_loaded_model_opens_no_arbiter_by_itself(tiny_ares: Path, tmp_path: Path) -> None:
    model = AresModel.from_pretrained(tiny_ares)
    assert model.open_arbiter() is None
    model.config.vlm = {"source": "org/model", "revision": COMMIT}
    model.save_pretrained(tmp_path)
    again = AresModel.from_pretrained(tmp_path)
    assert again.arbiter is None
    assert again.config.vlm == {"source": "org/model", "revision": COMMIT}
    with pytest.raises(ArbiterError, match="org/model cannot be opened"):
        again.open_arbiter()
