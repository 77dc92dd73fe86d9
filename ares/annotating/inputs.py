"""The list of all images that are annotated, on disk: numbered, and each name once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from itertools import islice
from pathlib import Path

from fairspace.ares.annotating.source import Entry, Source, reader
from fairspace.builders.errors import BuildError

_BATCH = 10_000
_SAMPLES = 2**31


class Inputs:
    """All entries of a source, numbered from 0, in a file; refuses a name that comes twice.

    Args:
        file: written anew.
        source: what is listed.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE.
    """

    def __init__(self, file: Path, source: Source) -> None:
        file.unlink(missing_ok=True)
        self._database = sqlite3.connect(file, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=OFF")
        self._database.execute("PRAGMA synchronous=OFF")
        self._database.execute(
            "CREATE TABLE inputs (number INTEGER PRIMARY KEY, task TEXT NOT NULL, id TEXT NOT NULL, "
            "sample INTEGER NOT NULL, file TEXT NOT NULL, place INTEGER NOT NULL, size INTEGER NOT NULL, "
            "sha256 TEXT, member TEXT)"
        )
        digest = hashlib.sha256()
        self.count = 0
        entries = iter(reader(source).entries(source))
        while rows := list(islice(entries, _BATCH)):
            if wrong := next((row for row in rows if row.sample >= _SAMPLES), None):
                what = f"sample {wrong.sample}"
                raise BuildError(
                    "SOURCE_VALUE", wrong.where, what, f"a number below {_SAMPLES}", "renumber the samples"
                )
            numbered = [(self.count + i, *row) for i, row in enumerate(rows)]
            self._database.execute("BEGIN")
            self._database.executemany("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", numbered)
            self._database.execute("COMMIT")
            for row in rows:
                digest.update(json.dumps(row).encode() + b"\n")
            self.count += len(rows)
        self.sha256 = digest.hexdigest()
        """Of names, places and sizes, in order: the same list has the same one wherever it lies."""
        self._refuse_repeats()

    def slice(self, start: int, stop: int) -> list[Entry]:
        """The entries from `start` up to `stop`."""
        columns = "task, id, sample, file, place, size, sha256, member"
        query = f"SELECT {columns} FROM inputs WHERE number >= ? AND number < ? ORDER BY number"  # noqa: S608 - fixed
        return [Entry(*row) for row in self._database.execute(query, (start, stop))]

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _refuse_repeats(self) -> None:
        self._database.execute("CREATE INDEX names ON inputs (task, id, sample)")
        repeat = self._database.execute(
            "SELECT task, id, sample, MIN(number), MAX(number), COUNT(*) FROM inputs GROUP BY task, id, sample "
            "HAVING COUNT(*) > 1 ORDER BY MIN(number) LIMIT 1"
        ).fetchone()
        if repeat is not None:
            task, item, sample, first, last, times = repeat
            places = [self.slice(number, number + 1)[0].where for number in (first, last)]
            what = f"task {task!r}, id {item!r}, sample {sample} {times} times, first at {places[0]}"
            raise BuildError("SOURCE_VALUE", places[1], what, "every image once", "remove or rename all but one")
