"""What models made of images and texts, on disk as soon as it is known: nothing is embedded twice.

One SQLite file. A row is one vector: by the model's name, which tells its weights and all that decides what it gives,
and by the sha256 of the image's bytes or of the text. Scores are not kept: they follow from the vectors in no time, for
any prompt and any reference. So a changed image, text, model or setting has another key, and only it is done anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.quality.scores import Vector

_FORMAT = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS model (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vector (model INT NOT NULL, of TEXT NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (model, of)) WITHOUT ROWID;
"""


class Vectors:
    """The vectors in a file, for one thread; several processes may share it.

    Args:
        file: made if need be.

    Errors: RunError RUN_OTHER if the file is no cache of this format.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, isolation_level=None, timeout=60)
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if version != _FORMAT and (version or tables):
                raise sqlite3.DatabaseError(f"format {version}")
            self._db.executescript(f"{_TABLES} PRAGMA user_version={_FORMAT};")
        except sqlite3.DatabaseError as error:
            self._db.close()
            mend = "name another file, or remove it: all that is in it can be computed again"
            raise RunError("RUN_OTHER", str(file), f"{error}", "a cache of image quality", mend) from error
        self._numbers: dict[str, int] = {}

    def get(self, model: str, of: str) -> Vector | None:
        """The vector of a model and a key; None if there is none yet."""
        query = "SELECT value FROM vector WHERE model = ? AND of = ?"
        row = self._db.execute(query, (self._number(model), of)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def has(self, model: str, of: str) -> bool:
        """Whether there is one."""
        query = "SELECT 1 FROM vector WHERE model = ? AND of = ?"
        return self._db.execute(query, (self._number(model), of)).fetchone() is not None

    def put(self, model: str, vectors: Mapping[str, Vector] | Iterable[tuple[str, Vector]]) -> None:
        """Keep vectors of a model by their keys; all of them are on disk when this returns, or none."""
        number = self._number(model)
        rows = [(number, of, np.asarray(value, np.float32).tobytes()) for of, value in dict(vectors).items()]
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _number(self, model: str) -> int:
        if model not in self._numbers:
            self._db.execute("INSERT OR IGNORE INTO model (name) VALUES (?)", (model,))
            (self._numbers[model],) = self._db.execute("SELECT number FROM model WHERE name = ?", (model,)).fetchone()
        return self._numbers[model]


def image_key(sha256: str) -> str:
    """Key of an image with these bytes."""
    return f"image {sha256}"


def text_key(text: str) -> str:
    """Key of a text."""
    return f"text {hashlib.sha256(text.encode()).hexdigest()}"
