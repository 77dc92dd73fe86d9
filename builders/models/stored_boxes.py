"""Persons that a detector found before, from a Parquet file: no image is opened and no model is run.

A row is a person: `file`, `x`, `y`, `width`, `height` in pixels, `score` in [0, 1]; a picture without rows has no
persons. The rows go into a temporary SQLite index once, so that memory stays small however many there are.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace.builders.engine.build import file_hash
from fairspace.builders.engine.tools import Box, Picture
from fairspace.builders.errors import BuildError

SCHEMA = pa.schema([("file", pa.string())] + [(name, pa.float64()) for name in ("x", "y", "width", "height", "score")])
_BATCH = 20_000
_ASKED = 500
"""Names per query: SQLite's lowest limit of parameters is 999."""


class StoredBoxes:
    """Boxes from a file in the layout of `SCHEMA`.

    Args:
        file: Parquet.

    Errors: BuildError TOOL_MISSING without the file; TOOL_OUTPUT, with the row, if its layout or a value is wrong.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = Path(file).expanduser()
        if not self.file.is_file():
            mend = f"name a Parquet file with the columns {', '.join(SCHEMA.names)}"
            raise BuildError("TOOL_MISSING", str(file), "no such file", "stored boxes", mend)

    @cached_property
    def name(self) -> str:
        """The file's hash."""
        return f"boxes {self.file.name} (sha256 {file_hash(self.file)[:16]})"

    def detect(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        """The stored persons of each picture, the most certain first; equal ones in the file's order."""
        boxes_of: list[list[Box]] = []
        for start in range(0, len(pictures), _ASKED):
            names = [picture.name for picture in pictures[start : start + _ASKED]]
            boxes: dict[str, list[Box]] = {name: [] for name in names}
            marks = ", ".join("?" * len(boxes))
            query = f"SELECT * FROM boxes WHERE file IN ({marks}) ORDER BY file, score DESC, place"  # noqa: S608
            for name, _, *numbers in self._index.execute(query, list(boxes)):
                boxes[name].append(Box(*numbers))
            boxes_of += [boxes[name] for name in names]
        return boxes_of

    @cached_property
    def _index(self) -> sqlite3.Connection:
        try:
            stored = pq.ParquetFile(self.file)
        except (pa.ArrowException, OSError) as error:
            raise self._wrong("", f"{error}", "a Parquet file") from error
        with stored:
            missing = [name for name in SCHEMA.names if name not in stored.schema_arrow.names]
            if missing:
                raise self._wrong("", f"no column {', '.join(missing)}", f"the columns {', '.join(SCHEMA.names)}")
            # An empty name is a private database on disk that SQLite removes when it is closed.
            index = sqlite3.connect("")
            weakref.finalize(self, index.close)
            index.execute("PRAGMA cache_size = -16000")
            columns = "file TEXT, place INTEGER, x REAL, y REAL, width REAL, height REAL, score REAL"
            index.execute(f"CREATE TABLE boxes ({columns}, PRIMARY KEY (file, place)) WITHOUT ROWID")
            start = 0
            for batch in stored.iter_batches(_BATCH, columns=SCHEMA.names):
                table = self._checked(pa.table(batch), start)
                places = range(start, start + len(table))
                values = (column.to_pylist() for column in table.columns[1:])
                rows = zip(table["file"].to_pylist(), places, *values, strict=True)
                index.executemany("INSERT INTO boxes VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                start += len(table)
            index.commit()
        return index

    def _checked(self, table: pa.Table, start: int) -> pa.Table:
        try:
            table = table.select(SCHEMA.names).cast(SCHEMA)
        except pa.ArrowException as error:
            raise self._wrong(f" rows {start} to {start + len(table) - 1}", f"{error}", f"{SCHEMA}") from error
        good = pc.is_valid(table["file"])
        for name in SCHEMA.names[1:]:
            good = pc.and_(good, pc.fill_null(pc.is_finite(table[name]), False))
        for name in ("width", "height"):
            good = pc.and_(good, pc.fill_null(pc.greater(table[name], 0), False))
        score = table["score"]
        good = pc.and_(good, pc.fill_null(pc.and_(pc.greater_equal(score, 0), pc.less_equal(score, 1)), False))
        if not pc.all(good).as_py():
            row = pc.index(good, False).as_py()
            row_text = str(table.slice(row, 1).to_pylist()[0])
            raise self._wrong(f" row {start + row}", row_text, "a file name, numbers, sizes above 0, a score in [0, 1]")
        return table

    def _wrong(self, place: str, problem: str, expected: str) -> BuildError:
        return BuildError("TOOL_OUTPUT", f"{self.file}{place}", problem, expected, "store the boxes again")
