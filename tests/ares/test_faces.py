from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fairspace.ares.faces_ares import FaceBox, FaceError, TransformersFaces, face_crops, open_faces, shared
from fairspace.builders.drawn.swatches import draw_scene, find, measure, person
from tests.builders.models import tiny

THRESHOLD = 0.2


@pytest.fixture(scope="module")
def yolos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.yolos(tmp_path_factory.mktemp("models") / "yolos", ("person", "face", "dog"))


def noise(seed: int, width: int, height: int) -> Image.Image:
    return Image.fromarray(np.random.RandomState(seed).randint(0, 256, (height, width, 3), np.uint8))


SIZES = [(80, 60), (60, 80), (80, 60), (64, 64), (160, 120), (50, 90), (80, 60)]
IMAGES = [noise(n, *size) for n, size in enumerate(SIZES)]


def finds(yolos: Path, **how: Any) -> TransformersFaces:
    settings = {"threshold": THRESHOLD, "margin": 0.0, "smallest": 1, "overlap": 1.0} | how
    return TransformersFaces(str(yolos), **settings)


def test_company_and_order_change_no_box(yolos: Path) -> None:
    detector = finds(yolos)
    whole = detector.detect(IMAGES)
    assert sum(map(len, whole)) > 5
    assert [detector.detect([image])[0] for image in IMAGES] == whole
    assert detector.detect(IMAGES[::-1]) == whole[::-1]
    assert finds(yolos, batch=1).detect([]) == []


def test_only_the_label_that_was_asked_for_is_found_and_only_if_sure(yolos: Path) -> None:
    faces, persons = finds(yolos).detect(IMAGES), finds(yolos, label="Person").detect(IMAGES)
    assert faces != persons
    assert {box for boxes in faces for box in boxes}.isdisjoint(box for boxes in persons for box in boxes)
    scores = sorted(box.score for boxes in faces for box in boxes)
    assert scores[0] > THRESHOLD
    middle = scores[len(scores) // 2]
    surer = finds(yolos, threshold=middle).detect(IMAGES)
    assert sorted(box.score for boxes in surer for box in boxes) == [score for score in scores if score > middle]
    assert finds(yolos, threshold=1.0).detect(IMAGES) == [[] for _ in IMAGES]


def test_boxes_lie_inside_until_the_margin_is_added(yolos: Path) -> None:
    bare, wide = finds(yolos).detect(IMAGES), finds(yolos, margin=0.5).detect(IMAGES)
    for image, boxes, wider in zip(IMAGES, bare, wide, strict=True):
        for box, more in zip(boxes, wider, strict=True):
            assert box.x >= 0
            assert box.y >= 0
            assert box.x + box.width <= image.width + 0.02
            assert box.y + box.height <= image.height + 0.02
            assert more.width - box.width == pytest.approx(max(box.width, box.height), abs=0.03)
            assert more.x + more.width / 2 == pytest.approx(box.x + box.width / 2, abs=0.03)


def test_of_a_person_the_upper_part_can_be_taken(yolos: Path) -> None:
    whole, upper = finds(yolos, label="person").detect(IMAGES), finds(yolos, label="person", upper=True).detect(IMAGES)
    pairs = [pair for two in zip(whole, upper, strict=True) for pair in zip(*two, strict=True)]
    assert any(box.height > box.width for box, _ in pairs)
    for box, part in pairs:
        assert (part.x, part.y, part.width) == (box.x, box.y, box.width)
        assert part.height == pytest.approx(min(box.height, box.width), abs=0.011)


def test_small_boxes_and_doubles_are_left_out(yolos: Path) -> None:
    every = finds(yolos).detect(IMAGES)
    large = finds(yolos, smallest=30).detect(IMAGES)
    assert large == [[box for box in boxes if min(box.width, box.height) >= 30] for boxes in every]
    assert large != every
    apart = finds(yolos, overlap=0.3).detect(IMAGES)
    assert sum(map(len, apart)) < sum(map(len, every))
    for boxes, kept in zip(every, apart, strict=True):
        assert kept[:1] == boxes[:1]
        assert all(shared(one, two) <= 0.31 for one in kept for two in kept if one != two)
        assert all(any(shared(box, one) > 0.29 for one in kept) for box in boxes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"source": "org/model"}, "is no commit"),
        ({"source": "org/model", "revision": "0" * 40}, "org/model cannot be opened"),
        ({"label": "face"}, "source is needed"),
        ({"source": "org/model", "size": 3}, "What is known"),
        ({"label": "cat"}, "knows dog, face, person, but not cat"),
    ],
)
def test_settings_that_open_no_detector_are_refused(yolos: Path, settings: dict[str, Any], said: str) -> None:
    if settings == {"label": "cat"}:
        settings = settings | {"source": str(yolos)}
    with pytest.raises(FaceError, match=said):
        open_faces(settings)


def test_crops_are_the_pixels_in_the_box_largest_first_then_upper_then_left() -> None:
    image = noise(1, 40, 30)
    boxes = [
        FaceBox(20, 10, 5, 5),
        FaceBox(-3, -4, 13, 14),
        FaceBox(10, 2, 5, 5),
        FaceBox(1.2, 2.7, 3.1, 4.1),
        FaceBox(2, 10, 5, 5),
        FaceBox(35, 25, 10, 10),
        FaceBox(40, 0, 5, 5),
        FaceBox(-9, 3, 9, 9),
    ]
    crops = face_crops(image, boxes)
    windows = [(0, 0, 10, 10), (10, 2, 15, 7), (2, 10, 7, 15), (20, 10, 25, 15), (35, 25, 40, 30), (1, 2, 5, 7)]
    assert [crop.size for crop in crops] == [(10, 10), (5, 5), (5, 5), (5, 5), (5, 5), (4, 5)]
    for crop, window in zip(crops, windows, strict=True):
        assert crop.tobytes() == image.crop(window).tobytes()
    assert [crop.tobytes() for crop in face_crops(image, boxes[::-1])] == [crop.tobytes() for crop in crops]
    assert face_crops(image, []) == []


class DrawnFaces:
    name = "drawn faces"

    def detect(self, images: Sequence[Image.Image]) -> list[list[FaceBox]]:
        places = [find(np.asarray(image, dtype=np.int16)) for image in images]
        return [[FaceBox(x, y, width, width) for x, y, width in each] for each in places]


def test_each_drawn_person_is_cut_out_with_her_own_face() -> None:
    groups = [("female", "young", "light"), ("male", "older", "dark"), ("female", "older", "middle")]
    people = [person(*group, seed) for seed, group in enumerate(groups)]
    image, _ = draw_scene(people, 3, (768, 384))
    empty, _ = draw_scene([], 4, (200, 200))
    full, none = DrawnFaces().detect([image, empty])
    assert none == []
    crops = face_crops(image, full)
    areas = [crop.width * crop.height for crop in crops]
    assert areas == sorted(areas, reverse=True)
    seen = []
    for crop in crops:
        (face,) = measure(crop)
        seen.append((face.gender, face.age, face.skin_tone))
    assert sorted(seen) == sorted(groups)
