"""A model's images as units of a split; a slice is read from the SQLite file of `builders/sources/model_store.py`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from fairspace.builders.sources.model_images import StoredImage


@dataclass(frozen=True)
class Made:
    """One image of a model, or the reason why there is none, with the labels of its first face.

    Args:
        model: position in `ModelStore.models`.
        item: position of the item among its task's ids.
        sample: from 0.
        status: as annotated.
        gender: '' if not labelled; `age` and `skin_tone` alike.
        age: see `gender`.
        skin_tone: see `gender`.
        faces: annotated faces in the image.
        image: where it lies; None if it was not handed in.
    """

    model: int
    item: int
    sample: int
    status: str
    gender: str
    age: str
    skin_tone: str
    faces: int
    image: StoredImage | None


class MadeUnits:
    """The selected images of a task as units: their number, and slices of them."""

    def __init__(self, file: Path, task: str, ids: pa.Array, size: int) -> None:
        self.file, self.task, self.ids, self.size = file, task, ids, size

    def __len__(self) -> int:
        """How many images."""
        return self.size

    def __getitem__(self, part: slice) -> list[Made]:
        """The images of a slice."""
        start, stop, step = part.indices(self.size)
        if step != 1:
            raise IndexError("units are taken in their order")
        with closing(sqlite3.connect(self.file)) as db:
            rows = db.execute(
                "SELECT model, item, sample, status, gender, age, skin, path, place, sha256, (SELECT count(*) FROM face"
                " AS f WHERE (f.model, f.task, f.item, f.sample) = (unit.model, unit.task, unit.item, unit.sample)"
                " AND f.status = 'ok') FROM unit JOIN face USING (model, task, item, sample)"
                " LEFT JOIN image USING (model, task, item, sample) LEFT JOIN file ON image.file = file.number"
                " WHERE task = ? AND face = 0 AND unit.number >= ? AND unit.number < ? ORDER BY unit.number",
                (self.task, start, stop),
            ).fetchall()
        return [self._made(row) for row in rows]

    def _made(self, row: tuple[int, int, int, str, str, str, str, str | None, int, str, int]) -> Made:
        model, item, sample, status, gender, age, skin, path, place, sha256, faces = row
        name = self.ids[item].as_py()
        image = StoredImage(Path(path), place, self.task, name, sample, sha256) if path is not None else None
        return Made(model, item, sample, status, gender, age, skin, faces, image)
