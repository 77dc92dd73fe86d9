from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fairspace.ares.annotating.annotate import route_schema, tables
from fairspace.ares.annotating.source import ImageEntry
from fairspace.ares.classifying_ares import answered
from fairspace.ares.faces_ares import FaceBox
from fairspace.ares.gate_ares import NO_FACE, OUT_OF_DISTRIBUTION, OUTCOMES, SEVERAL_FACES, ImageGate, refusals
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import DrawnFaces

IMAGES = 24
GATE = {"kind": "convnext", "channels": 24, "side": 16, "hidden": 4}


@pytest.fixture(scope="module")
def faces(tiny_ares: Path) -> torch.Tensor:
    config = AresModel.from_pretrained(tiny_ares).config
    return DrawnFaces("test", IMAGES, config.tasks, config.image_size, 0).pixels


@pytest.fixture
def model(tiny_ares: Path, faces: torch.Tensor) -> AresModel:
    """The model with random weights, and a random gate that refuses half of the faces."""
    opened = AresModel.from_pretrained(tiny_ares).eval()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        opened.gate = ImageGate(GATE["channels"], GATE["side"], GATE["hidden"]).eval()  # type: ignore[arg-type]
    opened.config.gate = GATE | {"cut": 0.0}
    chances = opened.observe(faces.float() / 255)["age_gender"].gate
    opened.config.gate["cut"] = float(np.median(chances[:, 0]))
    return opened


def refusing(model: AresModel, outcome: str) -> AresModel:
    assert model.gate is not None
    with torch.no_grad():
        model.gate.layers[-1].bias[OUTCOMES.index(outcome)] += 99  # type: ignore[index, operator]
    model.config.gate["cut"] = 0.5
    return model


def pictures(faces: torch.Tensor) -> list[Image.Image]:
    return [Image.fromarray(face.permute(1, 2, 0).numpy()) for face in faces]


def test_below_the_cut_the_likeliest_other_outcome_is_the_reason() -> None:
    chances = np.array([[0.5, 0.3, 0.1, 0.1], [0.4, 0.1, 0.2, 0.3], [0.1, 0.4, 0.3, 0.2], [0.3, 0.1, 0.4, 0.2]])
    assert refusals({"cut": 0.5}, chances) == ["", OUT_OF_DISTRIBUTION, NO_FACE, SEVERAL_FACES]
    assert refusals({}, chances) == [""] * 4


def test_what_is_refused_has_no_label_in_any_task_and_what_passes_has_those_without_a_gate(
    model: AresModel, tiny_ares: Path, faces: torch.Tensor
) -> None:
    with_gate, without = (
        [each[0] for each in opened.classify(pictures(faces))]
        for opened in (model, AresModel.from_pretrained(tiny_ares).eval())
    )
    assert {answer.status for answer in with_gate} > {"ok"}
    for answer, before in zip(with_gate, without, strict=True):
        if answer.status == "ok":
            assert answer == before
        else:
            assert answer.reason in OUTCOMES[1:]
            assert not any(answer.labels.values())
            assert (answer.probabilities, answer.values) == ({}, {})
            assert set(answer.routes.values()) == {"abstained"}


def test_batches_files_and_ablations_change_nothing_about_what_is_refused(
    model: AresModel, faces: torch.Tensor, tmp_path: Path
) -> None:
    expected = model.classify(pictures(faces))
    assert model.classify(pictures(faces), batch=1) == model.classify(pictures(faces), batch=7) == expected
    model.save_pretrained(tmp_path)
    again = AresModel.from_pretrained(tmp_path).eval()
    assert again.config.gate == model.config.gate
    assert again.classify(pictures(faces)) == expected
    model.config.ablation = "clip"
    assert [each[0].reason for each in model.classify(pictures(faces))] == [each[0].reason for each in expected]


@pytest.mark.parametrize(
    ("outcome", "status", "count"),
    [(NO_FACE, "no_face", 0), (SEVERAL_FACES, "abstained", 1), (OUT_OF_DISTRIBUTION, "abstained", 1)],
)
def test_rows_say_why_and_have_no_label(
    model: AresModel, faces: torch.Tensor, outcome: str, status: str, count: int
) -> None:
    images = pictures(faces[:2])
    entries = [ImageEntry("t2i", "item", number, str(number), 0, number) for number in range(2)]
    results = answered(refusing(model, outcome), AresImageProcessor(image_size=64), images)
    annotations, routes, tally = tables(entries, results, route_schema(model.config))
    assert annotations["status"].to_pylist() == [status] * 2
    assert annotations["faces"].to_pylist() == [count] * 2
    assert {*annotations["gender"].to_pylist(), *annotations["age"].to_pylist()} == {None}
    assert routes["reason"].to_pylist() == [outcome] * 2
    assert tally["status"] == {status: 2}


class Quarters:
    name = "quarters"

    def detect(self, images: Sequence[Image.Image]) -> list[list[FaceBox]]:
        half = [(x, y) for y in (0, 32) for x in (0, 32)]
        return [[FaceBox(x, y, 32, 32) for x, y in half] for _ in images]


def test_one_of_several_detected_faces_that_is_none_leaves_the_others(model: AresModel, faces: torch.Tensor) -> None:
    entry = ImageEntry("t2i", "item", 0, "0", 0, 0)
    results = answered(
        refusing(model, NO_FACE), AresImageProcessor(image_size=64), pictures(faces[:1]), detector=Quarters()
    )
    annotations, routes, _ = tables([entry], results, route_schema(model.config))
    assert annotations["status"].to_pylist() == ["abstained"] * 4
    assert annotations["faces"].to_pylist() == [4] * 4
    assert routes["reason"].to_pylist() == [NO_FACE] * 4
