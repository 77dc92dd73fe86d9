"""Agreement between labellers: which images and labels are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.ares.annotating.rows import ANNOTATIONS
from fairspace.ares.evaluating.agreement import agreement
from fairspace.builders.errors import BuildError

Seen = tuple[str, str, str]
"""Status, gender and age of an image."""


def annotated(folder: Path, name: str, images: dict[str, Seen]) -> Path:
    rows = []
    for image, (status, gender, age) in images.items():
        labels = {"gender": gender or None, "age": age or None}
        key = {"task": "images", "id": image, "sample": 0, "face": 0}
        rows.append({**key, "status": status, **labels, "faces": int(status in ("ok", "abstained"))})
    folder.mkdir()
    pq.write_table(pa.Table.from_pylist(rows, schema=ANNOTATIONS), folder / "annotations.parquet")
    data = {"model": {"name": name, "revision": "1"}, "shards": [{"annotations": {"file": "annotations.parquet"}}]}
    (folder / "annotation.json").write_text(json.dumps(data), encoding="utf-8")
    return folder


def test_labellers_are_compared_on_the_images_that_both_saw(tmp_path: Path) -> None:
    one = {
        "a": ("ok", "female", "young"),
        "b": ("ok", "male", "older"),
        "c": ("ok", "male", ""),
        "d": ("no_face", "", ""),
        "e": ("unreadable", "", ""),
    }
    other = {
        "a": ("ok", "female", "older"),
        "b": ("ok", "male", "older"),
        "c": ("ok", "female", "young"),
        "d": ("ok", "male", "young"),
        "e": ("ok", "male", "young"),
    }
    rows = agreement([annotated(tmp_path / "1", "one", one), annotated(tmp_path / "2", "other", other)])
    by = {row.attribute: row for row in rows}
    assert set(by) == {"face", "gender", "age"}
    assert by["face"].labels == ("face", "none")
    assert by["face"].matrix == ((3, 0), (1, 0))
    assert by["gender"].matrix == ((1, 0), (1, 1))
    assert by["gender"].kappa.images == 3
    assert by["gender"].kappa.kappa == pytest.approx(0.4)
    assert by["age"].kappa.agreed == pytest.approx(0.5)
    assert by["age"].kappa.kappa == pytest.approx(0)
    assert by["face"].first == "one 1"


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    one = annotated(tmp_path / "1", "one", {"a": ("ok", "male", "young")})
    other = annotated(tmp_path / "2", "other", {"b": ("ok", "male", "young")})
    for folders, message in (
        ([one], "two or more"),
        ([one, other], "no image in common"),
        ([one, tmp_path], "finished annotations"),
    ):
        with pytest.raises(BuildError, match=message):
            agreement(folders)
