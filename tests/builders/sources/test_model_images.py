import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.sources import model_images
from tests.builders.model_fixtures import IMAGES, annotation, image, neutral, steer, write, write_model


def store(source: Path, work: Path) -> model_images.ModelStore:
    return model_images.ModelStore(BuildJob(source, work), source / "models")


def test_annotations_and_images_are_joined_by_key_whatever_their_order(tmp_path: Path) -> None:
    rows = neutral() + steer()
    images = [image(row) for row in rows if row["face"] == 0 and row["status"] != "refused"]
    write_model(tmp_path / "a", images=images)
    write_model(tmp_path / "b", rows=rows[::-1], images=images)
    wanted = [(0, item) for item in range(52)]
    first = store(tmp_path / "a", tmp_path / "wa").select(model_images.NEUTRAL, wanted)
    other = store(tmp_path / "b", tmp_path / "wb").select(model_images.NEUTRAL, wanted)
    assert len(first) == len(other) == len(neutral())
    reader = model_images.ImageReader()
    for one, two in zip(first[:], other[:], strict=True):
        assert (one.item, one.sample, one.status, one.gender) == (two.item, two.sample, two.status, two.gender)
        assert (one.image is None) == (one.status == "refused")
        if one.image is not None:
            data, suffix = reader.read(one.image)
            name = f"neutral/{OCCUPATIONS[one.item]}"
            assert data == image({"task": model_images.NEUTRAL, "id": name, "sample": one.sample})["image"]["bytes"]
            assert suffix == "jpg"
    assert [len(first[n : n + 7]) for n in range(0, len(first), 7)][:-1] == [7] * ((len(first) - 1) // 7)


def test_further_faces_are_counted_and_their_labels_are_not_used(tmp_path: Path) -> None:
    write_model(tmp_path)
    found = store(tmp_path, tmp_path / "work")
    place = found.ids[model_images.STEER].to_pylist().index(steer()[0]["id"])
    (one, other) = found.select(model_images.STEER, [(0, place)])[:]
    assert (one.faces, one.gender, other.faces) == (2, steer()[0]["gender"], 1)


def test_images_are_read_forward_and_back(tmp_path: Path) -> None:
    table = pq.read_table(write_model(tmp_path) / "images.parquet").to_pylist()
    made = store(tmp_path, tmp_path / "w").select(model_images.NEUTRAL, [(0, item) for item in range(52)])
    stored = {one.image.row: one.image for one in made if one.image}
    reader = model_images.ImageReader()
    for place in (0, 3, 120, 2, 2):
        assert reader.read(stored[place])[0] == table[place]["image"]["bytes"]


def test_other_benchmarks_are_left_out_with_a_note(tmp_path: Path) -> None:
    write_model(tmp_path, "other", benchmark="fact_or_fair")
    write_model(tmp_path, "toy")
    job = BuildJob(tmp_path, tmp_path / "work")
    assert [model.key for model in model_images.ModelStore(job, tmp_path / "models").models] == ["toy"]
    assert "fact_or_fair" in job.notes[0]


ROWS = neutral()
BROKEN: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "unknown id": ("SOURCE_VALUE", lambda row: row | {"id": "neutral/wizard"}, "'neutral/wizard'"),
    "unknown task": ("SOURCE_VALUE", lambda row: row | {"task": "tournament"}, "'tournament'"),
    "sample too high": ("SOURCE_VALUE", lambda row: row | {"sample": 160}, "sample 160"),
    "sample null": ("SOURCE_VALUE", lambda row: row | {"sample": None}, "sample None"),
    "face below 0": ("SOURCE_VALUE", lambda row: row | {"face": -1}, "face -1"),
    "unknown status": ("SOURCE_VALUE", lambda row: row | {"status": "fine"}, "'fine'"),
    "unknown label": ("SOURCE_VALUE", lambda row: row | {"gender": "woman"}, "'woman'"),
    "labels without ok": ("SOURCE_VALUE", lambda row: row | {"status": "no_face"}, "no_face"),
    "ok without labels": ("SOURCE_VALUE", lambda row: row | dict.fromkeys(("gender", "age", "skin_tone")), "ok with"),
    "repeated": ("SOURCE_VALUE", lambda row: ROWS[0], "again"),
    "no face 0": ("SOURCE_VALUE", lambda row: row | {"face": 1}, "without face 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_annotation_is_named_with_file_and_row(tmp_path: Path, name: str) -> None:
    code, change, what = BROKEN[name]
    place = next(n for n in range(60, len(ROWS)) if ROWS[n]["status"] == "ok" and n < len(ROWS) // 2)
    rows = [*ROWS[:place], change(ROWS[place]), *ROWS[place + 1 :]]
    write_model(tmp_path, rows=rows, images=[])
    with pytest.raises(BuildError, match=code) as raised:
        store(tmp_path, tmp_path / "work")
    assert f"annotations-00000-of-00002.parquet: row {place + 1}" in raised.value.where
    assert what in raised.value.what


def kept(change: Callable[[list[Any]], Any]) -> list[Any]:
    images = [image(row) for row in ROWS if row["status"] != "refused"]
    change(images)
    return images


def _other_bytes(images: list[Any]) -> None:
    images[5]["image"] = images[6]["image"]


def _no_image(images: list[Any]) -> None:
    data = b"GIF89a, but no more"
    images[5] |= {"image": {"bytes": data, "path": "x"}, "sha256": hashlib.sha256(data).hexdigest()}


@pytest.mark.parametrize(
    ("change", "code", "where", "what"),
    [
        (_other_bytes, "SOURCE_IMAGE", "images.parquet: row 6", "sha256"),
        (_no_image, "SOURCE_IMAGE", "images.parquet: row 6", "no image that can be read"),
        (lambda images: images[5].update(image=None), "SOURCE_IMAGE", "images.parquet: row 6", "no image bytes"),
        (lambda images: images[5].update(sha256="0" * 63), "SOURCE_VALUE", "images.parquet: row 6", "sha256"),
        (lambda images: images[5].update(id="neutral/wizard"), "SOURCE_VALUE", "images.parquet: row 6", "unknown id"),
        (lambda images: images[5].update(sample=150), "SOURCE_VALUE", "images.parquet: row 6", "without annotation"),
        (lambda images: images.append(images[5]), "SOURCE_VALUE", "images.parquet: row", "again"),
        (lambda images: images.pop(5), "SOURCE_IMAGE", "annotations-00000-of-00002.parquet: row", "no image of"),
    ],
)
def test_a_wrong_image_is_named_with_file_and_row(
    tmp_path: Path, change: Callable[[list[Any]], Any], code: str, where: str, what: str
) -> None:
    write_model(tmp_path, rows=ROWS, images=kept(change))
    with pytest.raises(BuildError) as raised:
        read_all(tmp_path)
    assert raised.value.code == code
    assert where in raised.value.where
    assert what in raised.value.what


def read_all(source: Path) -> None:
    reader = model_images.ImageReader()
    for face in store(source, source / "work").select(model_images.NEUTRAL, [(0, item) for item in range(52)])[:]:
        if face.image is not None:
            reader.read(face.image)


def test_a_wrong_folder_is_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    file = folder / "submission.json"
    good = file.read_text()

    def refused(code: str, where: str) -> None:
        with pytest.raises(BuildError) as raised:
            store(tmp_path, tmp_path / "work")
        assert raised.value.code == code
        assert where in raised.value.where

    file.write_text(good.replace('"format": 1,', '"format": 1,\n,'))
    refused("SOURCE_LAYOUT", "submission.json:2")
    file.write_text(good.replace('"model"', '"modle"'))
    refused("SOURCE_LAYOUT", "submission.json")
    file.write_bytes(b"\xff\xfe")
    refused("SOURCE_LAYOUT", "submission.json")
    file.write_text(good.replace('"v1"', '"v9"'))
    refused("SOURCE_VALUE", "submission.json")
    file.write_text(good)
    twin = write_model(tmp_path, "twin", model="Model toy")
    refused("SOURCE_VALUE", "twin")
    twin.rename(tmp_path / "models" / "with space")
    refused("SOURCE_LAYOUT", "with space")
    (tmp_path / "models" / "with space" / "submission.json").unlink()
    store(tmp_path, tmp_path / "work")
    images = pa.table({"task": ["x"], "id": ["x"], "sample": [0], "sha256": ["0" * 64], "image": [b"x"]})
    pq.write_table(images, folder / "images.parquet")
    refused("SOURCE_LAYOUT", "images.parquet")
    (folder / "images.parquet").write_bytes(b"PAR1 and no more")
    refused("SOURCE_LAYOUT", "images.parquet")
    write(folder / "images.parquet", [], IMAGES.remove(3))
    refused("SOURCE_LAYOUT", "images.parquet")
    write(folder / "images.parquet", [], IMAGES)
    pq.write_table(
        pa.table({"task": [model_images.NEUTRAL], "id": ["neutral/nurse"]}),
        folder / "annotations-00000-of-00002.parquet",
    )
    refused("SOURCE_LAYOUT", "annotations-00000-of-00002.parquet")
    for name in ("annotations-00000-of-00002.parquet", "annotations-00001-of-00002.parquet"):
        (folder / name).unlink()
    refused("SOURCE_LAYOUT", "toy")


def test_a_path_without_bytes_is_never_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jpg"
    rows = [annotation(model_images.NEUTRAL, "neutral/nurse", 0, 0)]
    secret.write_bytes(image(rows[0])["image"]["bytes"])
    images = [image(rows[0]) | {"image": {"bytes": None, "path": str(secret)}}]
    folder = write_model(tmp_path, rows=rows, images=images)
    stored = model_images.StoredImage(folder / "images.parquet", 0, images[0]["sha256"])
    with pytest.raises(BuildError, match="a path alone is not followed"):
        model_images.ImageReader().read(stored)
