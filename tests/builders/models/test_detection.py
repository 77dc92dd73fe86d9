from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image as Images

from fairspace.builders.engine.tools import PersonBox, Picture
from fairspace.builders.errors import BuildError
from fairspace.builders.models.detection import SCHEMA, StoredBoxes, YolosDetector, arrange
from tests.ares.hostile import encoded
from tests.builders.models import tiny

THRESHOLD = 0.2


@pytest.fixture(scope="module")
def yolos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.yolos(tmp_path_factory.mktemp("models") / "yolos")


def picture(seed: int, size: tuple[int, int]) -> Picture:
    noise = np.random.RandomState(seed).randint(0, 256, (size[1], size[0], 3), np.uint8)
    return Picture(f"images/{seed}.png", encoded(Images.fromarray(noise), "PNG"))


PICTURES = [picture(n, size) for n, size in enumerate([(80, 60), (60, 80), (80, 60), (64, 64), (160, 120), (50, 90)])]


def test_yolos_finds_persons_inside_each_image(yolos: Path) -> None:
    found = YolosDetector(str(yolos), threshold=THRESHOLD).detect(PICTURES)
    assert len(found) == len(PICTURES)
    assert sum(map(len, found)) > 5
    for boxes, one in zip(found, PICTURES, strict=True):
        width, height = one.open().size
        assert [box.score for box in boxes] == sorted((box.score for box in boxes), reverse=True)
        for box in boxes:
            assert box.score > THRESHOLD
            assert 0 <= box.x < box.x + box.width <= width + 0.01
            assert 0 <= box.y < box.y + box.height <= height + 0.01


@pytest.mark.parametrize("batch", [1, 2, 8])
def test_boxes_do_not_depend_on_the_other_images(yolos: Path, batch: int) -> None:
    together = YolosDetector(str(yolos), threshold=THRESHOLD, batch=batch).detect(PICTURES)
    alone = YolosDetector(str(yolos), threshold=THRESHOLD)
    for boxes, one in zip(together, PICTURES, strict=True):
        np.testing.assert_allclose(alone.detect([one])[0], boxes, atol=0.011)


def test_only_the_class_person_counts(yolos: Path, tmp_path: Path) -> None:
    detector = YolosDetector(str(yolos), threshold=0.0)
    processor, model, person = detector._loaded
    assert person == 1
    pixels = processor(images=[PICTURES[0].open()], return_tensors="pt")["pixel_values"]
    best = model(pixels).logits.softmax(-1)[0, :, :-1].argmax(-1)
    assert len(detector.detect(PICTURES[:1])[0]) == int((best == 1).sum()) > 0
    blind = YolosDetector(str(tiny.yolos(tmp_path / "blind", labels=("car", "dog"))))
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT.*it knows car, dog"):
        blind.detect(PICTURES[:1])


def test_a_broken_image_is_named(yolos: Path) -> None:
    with pytest.raises(BuildError, match=r"SOURCE_IMAGE at images/bad\.jpg"):
        YolosDetector(str(yolos)).detect([Picture("images/bad.jpg", b"no image")])


def test_boxes_are_clipped_and_empty_ones_dropped() -> None:
    corners = [(-5.0, 2.0, 10.004, 30.0), (3.0, 3.0, 3.0, 9.0), (0.0, 0.0, 4.0, 4.0)]
    assert arrange(corners, [0.5, 0.9, 0.6], (20, 25)) == [
        PersonBox(0, 0, 4, 4, 0.6),
        PersonBox(0, 2, 10, 23, 0.5),
    ]


def store(file: Path, rows: Sequence[tuple[Any, ...]]) -> Path:
    columns = list(zip(*rows, strict=True))
    pq.write_table(pa.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA), file)
    return file


def test_stored_boxes_open_no_image(tmp_path: Path) -> None:
    rows = [
        ("b.jpg", 1, 2, 3, 4, 0.5),
        ("a.jpg", 5, 6, 7, 8, 0.6),
        ("b.jpg", 9, 9, 9, 9, 0.9),
        ("b.jpg", 2, 2, 2, 2, 0.5),
    ]
    stored = StoredBoxes(store(tmp_path / "boxes.parquet", rows))
    pictures = [Picture(name, tmp_path / name) for name in ("b.jpg", "none.jpg", "a.jpg", "b.jpg")]
    of_b = [PersonBox(9, 9, 9, 9, 0.9), PersonBox(1, 2, 3, 4, 0.5), PersonBox(2, 2, 2, 2, 0.5)]
    assert stored.detect(pictures) == [of_b, [], [PersonBox(5, 6, 7, 8, 0.6)], of_b]
    assert stored.name.startswith("boxes boxes.parquet (sha256 ")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("c.jpg", 1, 2, 0, 4, 0.5), "row 2"),
        (("c.jpg", 1, float("nan"), 3, 4, 0.5), "row 2"),
        (("c.jpg", 1, 2, 3, None, 0.5), "row 2"),
        ((None, 1, 2, 3, 4, 0.5), "row 2"),
        (("c.jpg", 1, 2, 3, 4, 1.5), "row 2"),
    ],
)
def test_a_stored_box_that_cannot_be_is_refused(tmp_path: Path, row: tuple[Any, ...], said: str) -> None:
    good = ("a.jpg", 5, 6, 7, 8, 0.6)
    with pytest.raises(BuildError, match=rf"TOOL_OUTPUT.*{said}"):
        StoredBoxes(store(tmp_path / "boxes.parquet", [good, good, row])).detect([Picture("a.jpg", b"")])


def test_a_file_that_holds_no_boxes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="TOOL_MISSING"):
        StoredBoxes(tmp_path / "boxes.parquet")
    pq.write_table(pa.table({"file": ["a"], "x": [1.0]}), tmp_path / "boxes.parquet")
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT.*y.*with the columns file, x, y"):
        StoredBoxes(tmp_path / "boxes.parquet").detect([Picture("a", b"")])
    (tmp_path / "boxes.parquet").write_bytes(b"text")
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT.*Parquet file"):
        StoredBoxes(tmp_path / "boxes.parquet").detect([Picture("a", b"")])
