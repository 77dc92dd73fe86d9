import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fairspace.builders.engine.tools import PersonBox, Picture
from fairspace.builders.errors import BuildError
from fairspace.builders.models.detection import FaceParts, ImageDetector
from fairspace.builders.models.opening import open_face_parts, open_tools
from fairspace.builders.models.yolo import OnnxYolo, UltralyticsYolo, letterbox, suppressed
from tests.ares.hostile import Opens
from tests.builders.models.make_yolo import PHOTOS, PLACE, photo, spread

IMAGES = [Image.fromarray(photo) for photo in PHOTOS]
GROWN = 0.25
"""Pixels by which boxes may differ where an image grows: a level of one pixel in 200, through random weights."""


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("yolo")
    for packed in PLACE.glob("*.xz"):
        (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder


def corners(boxes: list[PersonBox]) -> Any:
    return np.array([(box.x, box.y, box.x + box.width, box.y + box.height, box.score) for box in boxes])


def assert_same(found: list[PersonBox], expected: Any, tolerance: float) -> None:
    """Each box has its twin; ultralytics keeps those that lie outside of the image, without an area."""
    expected = np.array(expected)
    expected = expected[((expected[:, 2:4] - expected[:, :2]).round(2) > 0).all(axis=1)]
    apart = np.abs(corners(found)[:, None] - expected).max(axis=2)
    assert len(found) == len(expected) > 10
    assert apart.min(axis=0).max() < tolerance
    assert apart.min(axis=1).max() < tolerance


@pytest.mark.parametrize("name", ["yolov8n", "yolo11n"])
def test_an_export_gives_the_boxes_that_ultralytics_gives(exports: Path, name: str) -> None:
    expected = json.loads((PLACE / "expected.json").read_text())
    detector = open_tools(detector=f"onnx:{exports / name}.onnx").detector
    assert isinstance(detector, OnnxYolo)
    for image, found, boxes in zip(IMAGES, detector.boxes(IMAGES), expected[name], strict=True):
        assert_same(found, boxes, GROWN if max(image.size) < 96 else 0.011)


def test_settings_choose_class_confidence_and_overlap(exports: Path, tmp_path: Path) -> None:
    def boxes(**settings: Any) -> list[PersonBox]:
        return OnnxYolo(str(exports / "yolov8n.onnx"), **settings).boxes(IMAGES[:1])[0]

    every = boxes()
    assert [box for box in every if box.score > 0.6] == boxes(threshold=0.6) != every
    assert set(boxes(overlap=0.3)) < set(every)
    assert set(boxes(label="Car")).isdisjoint(every)
    IMAGES[0].save(tmp_path / "photo.png")
    named = OnnxYolo(str(exports / "yolov8n.onnx")).detect([Picture("photo.png", tmp_path / "photo.png")])
    assert named == [every]


def test_only_the_likeliest_class_and_one_of_doubles_stay() -> None:
    boxes = [(5, 5, 4, 4), (5, 5, 4, 4), (5, 6, 4, 4), (50, 50, 8, 2), (50, 50, 8, 2)]
    person, dog = [0.5, 0.9, 0.7, 0.3, 0.6], [0.1, 0.0, 0.2, 0.4, 0.1]
    raw = np.column_stack([boxes, person, dog]).T
    found, scores = suppressed(raw, 0, 0.25, 0.55)
    assert found.tolist() == [[3, 3, 7, 7], [46, 49, 54, 51]]
    assert scores.tolist() == [0.9, 0.6]
    assert len(suppressed(raw, 0, 0.25, 0.65)[1]) == 3  # (5, 6) shares 12 of 20 with (5, 5)
    ended = np.array([(3, 3, 7, 7, 0.9, 0), (3, 3, 7, 7, 0.8, 1), (1, 1, 2, 2, 0.2, 0)])
    assert suppressed(ended, 0, 0.25, 0.7)[0].tolist() == [[3, 3, 7, 7]]


@pytest.mark.parametrize("size", [(40, 30), (30, 40), (64, 64), (700, 3), (1, 90)])
def test_a_letterbox_holds_the_whole_image_and_says_where(size: tuple[int, int]) -> None:
    pixels, scale, margin = letterbox(np.full((size[1], size[0], 3), 255, np.uint8), (64, 96))
    left, top, right, bottom = margin + scale * np.array([0, 0, *size])
    inside = pixels[0, 0] == 1
    assert inside.sum() == inside[int(top) : round(bottom), int(left) : round(right)].size
    assert np.unique(pixels[~np.broadcast_to(inside, pixels.shape)] * 255).round().tolist() == [114]


class Three(ImageDetector):
    name, label = "three", "person"

    def boxes(self, images: Any) -> list[list[PersonBox]]:
        return [
            [PersonBox(10, 10, 20, 50, 0.9), PersonBox(0, 0, 40, 20, 0.8), PersonBox(0, 0, 15, 40, 0.7)] for _ in images
        ]


def test_of_persons_ares_gets_the_upper_part_and_of_faces_all() -> None:
    three = Three()
    assert FaceParts(three).detect(IMAGES[:1])[0] == [(6, 6, 28, 28, 0.9), (-8, -8, 56, 36, 0.8)]
    three.label = "face"
    assert FaceParts(three).detect(IMAGES[:1])[0] == [(0, 0, 40, 70, 0.9), (-8, -8, 56, 36, 0.8)]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("onnx:none.onnx", "TOOL_MISSING at onnx:none.onnx: no such file.*AGPL-3.0"),
        ("onnx:{}/yolov8n.onnx?sha256=00", "TOOL_MISSING.*its sha256 is [0-9a-f]{64}.*Expected: 00"),
        ("onnx:{}/yolov8n.onnx?label=face", "TOOL_OUTPUT.*it knows airplane, apple.*a class `face`"),
        ("onnx:{}/text.onnx", "TOOL_OUTPUT.*yolo export"),
        ("boxes:{}/text.onnx", "TOOL_MISSING.*looks at images"),
    ],
)
def test_what_is_no_detector_is_refused(exports: Path, named: str, said: str) -> None:
    (exports / "text.onnx").write_text("text")
    with pytest.raises(BuildError, match=said):
        open_face_parts(named.format(exports)).detect(IMAGES[:1])


def test_without_ultralytics_the_extra_and_its_licence_are_named(tmp_path: Path) -> None:
    try:
        import ultralytics  # noqa: F401
    except ImportError:
        with pytest.raises(BuildError, match=r"TOOL_MISSING at ultralytics:a\.pt \(.*AGPL-3\.0.*detect"):
            open_tools(detector="ultralytics:a.pt?sha256=00")


@pytest.mark.slow
def test_a_checkpoint_gives_the_boxes_that_ultralytics_gives(tmp_path: Path) -> None:
    ultralytics = pytest.importorskip("ultralytics", reason="extra `detect`, which no environment of ours has")
    import torch
    from ultralytics.data.augment import LetterBox
    from ultralytics.utils.nms import non_max_suppression
    from ultralytics.utils.ops import scale_boxes

    torch.manual_seed(3)
    file = tmp_path / "yolo.pt"
    model = ultralytics.YOLO("yolov8n.yaml").model
    photos = [photo(0, 640, 400), photo(1, 960, 1280)]  # of sizes for which letterboxes are equal
    squares = np.concatenate([letterbox(image, (640, 640))[0] for image in photos])
    spread(model, torch.from_numpy(squares))
    for layers in model.model[-1].cv3:
        layers[-1].weight.data *= 0.03  # no two scores are 1.0, whose order would be open
    model.names[0] = "person"
    torch.save({"model": model}, file)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    detector = open_tools(detector=f"ultralytics:{file}?sha256={sha256}&threshold=0.6", device="cpu").detector
    assert isinstance(detector, UltralyticsYolo)
    for image, boxes in zip(photos, detector.boxes([Image.fromarray(image) for image in photos]), strict=True):
        square = LetterBox((640, 640), auto=False)(image=image)
        with torch.inference_mode():
            output = model(torch.from_numpy(square.transpose(2, 0, 1)[None]).float() / 255)
        (found,) = non_max_suppression(output, conf_thres=0.6, iou_thres=0.7, classes=[0])
        scale_boxes((640, 640), found[:, :4], image.shape[:2])
        assert_same(boxes, found[:, :5].numpy(), 0.011)
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*its sha256 is .*for a pickle"):
        open_tools(detector=f"ultralytics:{file}")
    torch.save({"model": Opens(tmp_path / "ran")}, file)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(BuildError, match="MODEL_UNSAFE"):
        UltralyticsYolo(str(file), sha256=sha256).boxes(IMAGES[:1])
    assert not (tmp_path / "ran").exists()
