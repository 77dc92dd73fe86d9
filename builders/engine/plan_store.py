"""Which candidates enter which cells: a plan on disk, so that it may be larger than memory and outlive a kill.

A cell is one place of a balanced design (an occupation and a group, say). Every candidate has a key of its own, a cell
and data. Within a cell candidates stand in the order of sha256(seed, key): so which of them are chosen depends neither
on the order nor on the number of calls that added them.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_BATCH = 5_000
"""Candidates per transaction: what a kill can lose, and what is in memory at a time."""


class Candidate(NamedTuple):
    """Something that may enter a cell: `key` names it, `data` is a JSON string that the plan keeps for the builder."""

    key: str
    cell: str
    data: str


class Chosen(NamedTuple):
    """A candidate that entered a cell, at `place` 0, 1, ... of it."""

    cell: str
    place: int
    key: str
    data: str


class PlanStore:
    """Candidates in a file.

    Args:
        file: made if it is not there; one that is there goes on.
        seed: decides the order within a cell. ValueError if the file was made with another.
    """

    def __init__(self, file: Path, seed: int) -> None:
        self.file, self.seed = file, seed
        self._database = connect(file)
        with self._database:
            self._database.execute("CREATE TABLE IF NOT EXISTS seeds (seed TEXT PRIMARY KEY)")
            self._database.execute(
                "INSERT OR IGNORE INTO seeds SELECT ? WHERE NOT EXISTS (SELECT 1 FROM seeds)", [seed]
            )
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS candidates (key TEXT PRIMARY KEY, cell TEXT, rank BLOB, data TEXT) "
                "WITHOUT ROWID"
            )
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS chosen (selection TEXT, position INTEGER, place INTEGER, key TEXT, "
                "PRIMARY KEY (selection, position)) WITHOUT ROWID"
            )
        (known,) = self._database.execute("SELECT seed FROM seeds").fetchone()
        if known != str(seed):
            raise ValueError(f"{file} is a plan for seed {known}, not {seed}")

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Add candidates. One that is there already changes nothing; ValueError if it is there with other content."""
        stream = iter(candidates)
        while batch := list(islice(stream, _BATCH)):
            rows = [(c.key, c.cell, _rank(self.seed, c.key), c.data) for c in batch]
            with self._database:
                inserted = self._database.executemany("INSERT OR IGNORE INTO candidates VALUES (?, ?, ?, ?)", rows)
                if inserted.rowcount < len(rows):
                    self._refuse_others(batch)

    def _refuse_others(self, batch: Sequence[Candidate]) -> None:
        for candidate in batch:
            question = "SELECT key, cell, data FROM candidates WHERE key = ?"
            known = self._database.execute(question, [candidate.key]).fetchone()
            if known != candidate:
                raise ValueError(f"{candidate.key} stands in the plan as {known}, not as {tuple(candidate)}")

    def counts(self) -> dict[str, int]:
        """Cell -> candidates, in the order of the cells' names."""
        # Made once candidates are there: sorted at one go, not grown by entries that come in no order.
        with self._database:
            self._database.execute("CREATE INDEX IF NOT EXISTS ranks ON candidates (cell, rank)")
        return dict(self._database.execute("SELECT cell, count(*) FROM candidates GROUP BY cell ORDER BY cell"))

    def select(self, per_cell: int | Mapping[str, int], order: Sequence[str] | None = None) -> Selection:
        """The first candidates of each cell.

        Args:
            per_cell: how many at most, of every cell or of each; a cell that it does not name gives none.
            order: the cells in the order in which they are wanted, each once; others give none. By name if None.
        """
        counts = self.counts()
        cells = list(counts) if order is None else list(order)
        limits = {cell: per_cell if isinstance(per_cell, int) else per_cell.get(cell, 0) for cell in cells}
        wanted = {cell: min(limit, counts.get(cell, 0)) for cell, limit in limits.items()}
        name = hashlib.sha256(repr((sorted(counts.items()), list(wanted.items()))).encode()).hexdigest()
        total = sum(wanted.values())
        with self._database:
            (stored,) = self._database.execute("SELECT count(*) FROM chosen WHERE selection = ?", [name]).fetchone()
            if stored != total:
                self._database.execute("DELETE FROM chosen WHERE selection = ?", [name])
                before = 0
                for cell, number in wanted.items():
                    self._database.execute(
                        "INSERT INTO chosen SELECT ?, ? + row_number() OVER (ORDER BY rank) - 1, "
                        "row_number() OVER (ORDER BY rank) - 1, key "
                        "FROM (SELECT key, rank FROM candidates WHERE cell = ? ORDER BY rank LIMIT ?)",
                        [name, before, cell, number],
                    )
                    before += number
        return Selection(self._database, name, wanted)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class Selection:
    """The chosen candidates, a list that lies on disk; `counts` says how many each cell gave."""

    def __init__(self, database: sqlite3.Connection, name: str, counts: Mapping[str, int]) -> None:
        self._database, self._name, self.counts = database, name, dict(counts)
        self._total = sum(counts.values())

    def __len__(self) -> int:
        """How many were chosen."""
        return self._total

    def __getitem__(self, part: slice, /) -> list[Chosen]:
        """Those of a slice without step."""
        start, stop, step = part.indices(self._total)
        if step != 1:
            raise ValueError(f"a selection is sliced without a step, not by {step}")
        return list(self._between(start, stop))

    def _between(self, start: int, stop: int) -> Iterator[Chosen]:
        rows = self._database.execute(
            "SELECT cell, place, key, data FROM chosen JOIN candidates USING (key) "
            "WHERE selection = ? AND position >= ? AND position < ? ORDER BY position",
            [self._name, start, stop],
        )
        return map(Chosen._make, rows)


def connect(file: Path) -> sqlite3.Connection:
    """A database in `file`, made if it is not there; what was committed outlives a kill.

    It keeps a write-ahead log, so that a commit need not wait for the disk: power that fails may take back the last
    commits, whole, but leaves no half of one.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(file)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    return database


def _rank(seed: int, key: str) -> bytes:
    return hashlib.sha256(f"{seed}/{key}".encode()).digest()[:16]
