"""The images that models made, joined with their annotations on disk: counts, and rows in the order of the image files.

Annotations and images are joined by (task, id, sample) in an SQLite file, which holds where each image lies but no
image; so memory does not grow with the source. IRIS-Gen-52 takes a model's neutral images from here and IRIS-Steer-60
its steer images and the counts that its plan follows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.engine.dataset import Job
from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.sources.model_images import (
    IMAGELESS,
    Model,
    annotated_faces,
    missing_image,
    models,
    stored_images,
)
from fairspace.builders.sources.model_parquet import bad_value
from fairspace.builders.sources.model_units import MadeUnits

REVISION = iris_gen_52.REVISIONS[0]
NEUTRAL, STEER = "generation_neutral", "generation_steer"
_TABLES = """
CREATE TABLE face (model INT, task TEXT, item INT, sample INT, face INT, status TEXT, gender TEXT, age TEXT, skin TEXT,
  source TEXT, PRIMARY KEY (model, task, item, sample, face)) WITHOUT ROWID;
CREATE TABLE image (model INT, task TEXT, item INT, sample INT, file INT, place INT, sha256 TEXT,
  PRIMARY KEY (model, task, item, sample)) WITHOUT ROWID;
CREATE TABLE file (number INTEGER PRIMARY KEY, path TEXT);
CREATE TABLE wanted (task TEXT, model INT, item INT, PRIMARY KEY (task, model, item)) WITHOUT ROWID;
CREATE TABLE unit (task TEXT, number INT, model INT, item INT, sample INT, PRIMARY KEY (task, number)) WITHOUT ROWID;
"""


class ModelStore:
    """The models' rows in an SQLite file in `job.work`, read anew from the source.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE or SOURCE_IMAGE, with file and row.
    """

    def __init__(self, job: Job, folder: Path) -> None:
        job.work.mkdir(parents=True, exist_ok=True)
        self.file = job.work / "models.sqlite"
        self.file.unlink(missing_ok=True)
        self.ids = {NEUTRAL: iris_gen_52.ids(REVISION), STEER: iris_steer_60.steer_ids(REVISION)}
        self._place = {task: {name: i for i, name in enumerate(ids.to_pylist())} for task, ids in self.ids.items()}
        images = {NEUTRAL: iris_gen_52.IMAGES, STEER: iris_steer_60.IMAGES}
        items = {task: dict.fromkeys(place, images[task]) for task, place in self._place.items()}
        self.models = [model for model in models(folder) if _of_iris(model, job)]
        with closing(sqlite3.connect(self.file)) as db, db:
            db.executescript(_TABLES)
            for number, model in enumerate(self.models):
                job.progress("Reading annotations of models", number, len(self.models))
                for file in (model.folder / "submission.json", *model.files("annotations"), *model.files("images")):
                    job.used(file.relative_to(folder.parent).as_posix(), file)
                self._fill(db, number, model, items)
            job.progress("Reading annotations of models", len(self.models), len(self.models))

    def neutral_counts(self, model: int) -> NDArray[np.int_]:
        """(52, 18) neutral images of a model by occupation and group, of those with all three labels."""
        counts = np.zeros((len(OCCUPATIONS), len(GROUPS)), dtype=np.int64)
        for item, _, gender, age, skin, number in self._tally(model):
            if gender and age and skin:
                group = (GENDERS.index(gender) * 3 + AGES.index(age)) * 3 + SKIN_TONES.index(skin)
                counts[item, group] = number
        return counts

    def unlabelled(self, model: int) -> list[dict[str, int]]:
        """Per occupation: status -> neutral images of a model that lack one of the labels."""
        counts: list[dict[str, int]] = [{} for _ in OCCUPATIONS]
        for item, status, gender, age, skin, number in self._tally(model):
            if not (gender and age and skin):
                counts[item][status] = counts[item].get(status, 0) + number
        return counts

    def select(self, task: str, wanted: Iterable[tuple[int, int]]) -> MadeUnits:
        """The images of a task's wanted (model, item), by model; within it as they lie in its files, then the rest."""
        with closing(sqlite3.connect(self.file)) as db, db:
            db.executemany("INSERT INTO wanted VALUES (?, ?, ?)", ((task, *key) for key in wanted))
            db.execute(
                "INSERT INTO unit SELECT task, row_number() OVER (ORDER BY model, image.file IS NULL, image.file,"
                " image.place, item, sample) - 1, model, item, sample FROM face JOIN wanted USING (task, model, item)"
                " LEFT JOIN image USING (task, model, item, sample) WHERE face = 0 AND task = ?",
                (task,),
            )
            (size,) = db.execute("SELECT count(*) FROM unit WHERE task = ?", (task,)).fetchone()
        return MadeUnits(self.file, task, self.ids[task], size)

    def unwanted(self, task: str) -> Iterator[tuple[int, int, int]]:
        """(model, item, sample) of the annotated images of a task that `select` was not asked for."""
        with closing(sqlite3.connect(self.file)) as db:
            yield from db.execute(
                "SELECT model, item, sample FROM face LEFT JOIN wanted USING (task, model, item)"
                " WHERE face = 0 AND task = ? AND wanted.item IS NULL ORDER BY model, item, sample",
                (task,),
            )

    def _tally(self, model: int) -> list[tuple[int, str, str, str, str, int]]:
        with closing(sqlite3.connect(self.file)) as db:
            return db.execute(
                "SELECT item, status, gender, age, skin, count(*) FROM face WHERE model = ? AND task = ? AND face = 0"
                " GROUP BY item, status, gender, age, skin ORDER BY item, status, gender, age, skin",
                (model, NEUTRAL),
            ).fetchall()

    def _fill(self, db: sqlite3.Connection, number: int, model: Model, items: Mapping[str, Mapping[str, int]]) -> None:
        for row in annotated_faces(model, items):
            key = (number, row.task, self._place[row.task][row.id], row.sample)
            values = (*key, row.face, row.status, row.gender, row.age, row.skin_tone, row.where)
            if db.execute("INSERT OR IGNORE INTO face VALUES (?,?,?,?,?,?,?,?,?,?)", values).rowcount == 0:
                raise bad_value(row.where, f"{row.id}, sample {row.sample}, face {row.face} again", "every face once")
        files = {file: self._add(db, file) for file in model.files("images")}
        for stored in stored_images(model, items):
            key = (number, stored.task, self._place[stored.task][stored.id], stored.sample)
            lies = (*key, files[stored.file], stored.row, stored.sha256)
            if db.execute("INSERT OR IGNORE INTO image VALUES (?,?,?,?,?,?,?)", lies).rowcount == 0:
                raise bad_value(stored.where, f"{stored.id}, sample {stored.sample} again", "every image once")
            if db.execute("SELECT 1 FROM face WHERE (model, task, item, sample) = (?,?,?,?)", key).fetchone() is None:
                what = f"an image of {stored.id}, sample {stored.sample}, without annotation"
                raise bad_value(stored.where, what, "a row in annotations*.parquet for each image")
        self._check_joined(db, number)

    def _check_joined(self, db: sqlite3.Connection, model: int) -> None:
        headless = db.execute(
            "SELECT source, face FROM face WHERE model = ? GROUP BY task, item, sample HAVING min(face) > 0", (model,)
        ).fetchone()
        if headless:
            raise bad_value(headless[0], f"face {headless[1]} of an image without face 0", "faces numbered from 0")
        lonely = db.execute(
            "SELECT source, task, item, sample FROM face LEFT JOIN image USING (model, task, item, sample)"
            " WHERE model = ? AND image.file IS NULL AND status NOT IN (?, ?)"
            " AND task IN (SELECT task FROM image WHERE model = ?) ORDER BY task, item, sample",
            (model, *IMAGELESS, model),
        ).fetchone()
        if lonely:
            source, task, item, sample = lonely
            raise missing_image(source, self.ids[task][item].as_py(), sample)

    @staticmethod
    def _add(db: sqlite3.Connection, file: Path) -> int:
        number = db.execute("INSERT INTO file (path) VALUES (?)", (str(file),)).lastrowid
        assert number is not None
        return number


def _of_iris(model: Model, job: Job) -> bool:
    """Whether it is a submission to IRIS; others are left out with a note. SOURCE_VALUE for another revision."""
    if model.benchmark != "iris":
        job.note(f"The images of {model.name} in {model.key} are for {model.benchmark}, not for IRIS; left out.")
        return False
    if model.dataset_revision not in iris_gen_52.REVISIONS:
        where, what = str(model.folder / "submission.json"), f"dataset_revision {model.dataset_revision!r}"
        raise bad_value(where, what, f"one of {', '.join(iris_gen_52.REVISIONS)}, whose items this version knows")
    return True
