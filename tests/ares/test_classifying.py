from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset, Features
from datasets import Image as ImageFeature
from PIL import Image

from fairspace.ares.classifying_ares import classify
from fairspace.ares.deciding_ares import Answer
from fairspace.ares.faces_ares import FaceBox
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.rounding_ares import STEP
from fairspace.ares.training.data import drawn_face
from tests.ares.hostile import UNREADABLE, encoded
from tests.ares.image_sources import SIZE


class Halves:
    """Finds a face in each square of a row of squares, and none in an image of one colour."""

    name = "halves"

    def detect(self, images: Sequence[Image.Image]) -> list[list[FaceBox]]:
        return [
            []
            if image.getextrema() == image.resize((1, 1)).getextrema()
            else [FaceBox(x, 0, image.height, image.height) for x in range(0, image.width, image.height)]
            for image in images
        ]


class Seeing:
    name = "seeing"

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        labels = task["labels"]
        return [None if (n := int(np.asarray(image).sum()) % 7) == 6 else labels[n % len(labels)] for image in images]


@pytest.fixture(scope="module")
def model(tiny_ares: Path) -> AresModel:
    return AresModel.from_pretrained(tiny_ares)


@pytest.fixture(scope="module")
def faces() -> list[Image.Image]:
    return [drawn_face("test", number, size=SIZE).image for number in range(30)]


def row_of(*faces: Image.Image) -> Image.Image:
    whole = Image.new("RGB", (SIZE * len(faces), SIZE))
    for place, face in enumerate(faces):
        whole.paste(face, (place * SIZE, 0))
    return whole


def test_pil_images_paths_arrays_and_columns_have_the_same_answers(
    model: AresModel, faces: list[Image.Image], tmp_path: Path
) -> None:
    some = faces[:4]
    for place, face in enumerate(some):
        face.save(tmp_path / f"{place}.png")
    paths = [tmp_path / f"{place}.png" for place in range(4)]
    cells = [{"bytes": path.read_bytes(), "path": path.name} for path in paths]
    column = Dataset.from_dict({"image": cells}, features=Features({"image": ImageFeature()}))["image"]
    answers = model.classify(some)
    assert [len(each) for each in answers] == [1] * 4
    for images in (paths, [str(path) for path in paths], np.stack([np.asarray(face) for face in some]), cells, column):
        assert model.classify(images) == answers
    assert model.classify(some[0]) == answers[:1]
    (answer,) = answers[0]
    assert set(answer.labels) == {"age", "gender", "skin_tone"}
    sums = [sum(chances.values()) for chances in answer.probabilities.values()]
    assert sums == pytest.approx([1] * 3, abs=6 * STEP / 2)
    assert set(answer.routes) == {"age_gender", "skin_tone"}
    assert (answer.status, answer.face, answer.faces) == ("ok", 0, 1)


def test_images_without_content_say_why_and_leave_the_others_alone(model: AresModel, faces: list[Image.Image]) -> None:
    bad = [make() for make, _ in UNREADABLE.values()]
    mixed = [image for pair in zip(faces, bad, strict=False) for image in pair] + [None]
    answers = model.classify(mixed, batch=3)
    assert [each[0] for each in answers[:-1:2]] == [each[0] for each in model.classify(faces[: len(bad)])]
    found = [(each[0].status, each[0].reason, each[0].faces) for each in answers[1::2]]
    assert found == [("unreadable", reason, 0) for _, reason in UNREADABLE.values()]
    assert (answers[-1][0].status, answers[-1][0].reason) == ("refused", "no_image")


@pytest.fixture(scope="module")
def escalating(tiny_ares: Path, faces: list[Image.Image]) -> AresModel:
    """A model whose arbiter is asked about half of the images."""
    model = AresModel.from_pretrained(tiny_ares)
    model.arbiter, model.config.fast_confidence = Seeing(), 1.0
    seen = model.decide(AresImageProcessor(image_size=SIZE)(faces)["pixel_values"])["age_gender"].escalation
    model.config.escalation = float((seen.min() + seen.max()) / 2)
    return model


@pytest.fixture(scope="module")
def rows(faces: list[Image.Image]) -> list[Any]:
    """Rows of up to four faces, pictures without one, and a broken file."""
    plain = Image.new("RGB", (SIZE, SIZE), "white")
    images: list[Any] = [row_of(*faces[i : i + 1 + i % 4]) if i % 5 else plain for i in range(25)]
    return [*images[:7], b"broken", *images[7:]]


@pytest.fixture(scope="module", params=[None, Halves()], ids=["whole", "faces"])
def expected(
    request: pytest.FixtureRequest, escalating: AresModel, rows: list[Any]
) -> tuple[Halves | None, list[list[Answer]]]:
    answers = classify(escalating, rows, detector=request.param)
    assert {"escalated:vlm", "vote"} <= {answer.routes.get("age_gender") for each in answers for answer in each}
    return request.param, answers


@pytest.mark.parametrize(("batch", "workers"), [(1, 0), (5, 1), (17, 4), (1000, 2)])
def test_batches_and_threads_change_no_bit(
    batch: int,
    workers: int,
    escalating: AresModel,
    rows: list[Any],
    expected: tuple[Halves | None, list[list[Answer]]],
) -> None:
    detector, answers = expected
    assert classify(escalating, rows, batch=batch, workers=workers, detector=detector) == answers


def test_every_face_has_an_answer_and_an_image_without_one_says_so(model: AresModel, faces: list[Image.Image]) -> None:
    plain = Image.new("RGB", (SIZE, SIZE), "white")
    three, none, one, broken = model.classify([row_of(*faces[:3]), plain, faces[3], b""], detector=Halves(), batch=2)
    assert [(answer.face, answer.faces) for answer in three] == [(0, 3), (1, 3), (2, 3)]
    alone = [each[0] for each in model.classify(faces[:4])]
    assert [answer.labels for answer in (*three, *one)] == [answer.labels for answer in alone]
    assert [answer.probabilities for answer in (*three, *one)] == [answer.probabilities for answer in alone]
    assert [(answer.status, answer.reason, answer.faces) for answer in none] == [("no_face", "no_face", 0)]
    assert [(answer.status, answer.reason) for answer in broken] == [("unreadable", "zero_bytes")]


def test_fully_transparent_bytes_and_files_agree(model: AresModel, faces: list[Image.Image]) -> None:
    clear = faces[0].convert("RGBA")
    clear.putalpha(0)
    assert model.classify([encoded(clear, "PNG")]) == model.classify([Image.new("RGB", (SIZE, SIZE), "white")])
