"""The fold of the log kept between two runs, so that a start folds only what was appended since.

What was kept is believed only with the signature of this Space's secret and of this very software, whose classes may be
others tomorrow, and if the log still begins with the bytes that it was made from. Else the log is folded from nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pickle
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import fairspace
from fairspace.leaderboard_space.log_state import Entry, LogState
from fairspace.leaderboard_space.storage import Storage
from fairspace.submissions.results.row import Row

RowsOf = Mapping[str, Mapping[str, Row]]
"""Entry -> standard -> row without rank."""
_PURPOSE = b"fairspace: kept fold"
_SIGNATURE = 32
_BATCH = 50
"""Entries that are written at a time; in between, other threads run."""


@dataclass(frozen=True)
class Fold:
    """What was kept: the state that the log came to, and the rows that were made of it."""

    state: LogState
    rows: RowsOf


class KeptFold:
    """The file with the fold.

    Args:
        storage: of the log.
        path: of the file.
        secret: of the Space; not empty.
    """

    def __init__(self, storage: Storage, path: Path, secret: str) -> None:
        self.storage, self.path = storage, path
        self.number = 0
        """The last event that the file holds, as far as this process knows."""
        self._key = hmac.digest(secret.encode(), _PURPOSE + _software(), "sha256")
        self._lock = threading.Lock()

    def load(self) -> Fold | None:
        """What was kept, and the storage goes on behind it; None if there is nothing to be believed."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return None
        with file:
            signature = file.read(_SIGNATURE)
            if not hmac.compare_digest(signature, self._signature(file)):
                return None
            file.seek(_SIGNATURE)
            unpickler = pickle.Unpickler(file)  # noqa: S301
            index, count = unpickler.load()
            with ThreadPoolExecutor(1) as beside:  # the digest of a log of gigabytes takes another core
                resumed = beside.submit(self.storage.resume, index)
                state: LogState = pickle.loads(unpickler.load())  # noqa: S301
                rows: dict[str, Mapping[str, Row]] = {}
                while len(state.entries) < count:
                    for entry, rows_of in unpickler.load():
                        state.entries[entry.entry] = entry
                        rows[entry.entry] = rows_of
            if not resumed.result():
                return None
        self.number = state.number
        return Fold(state, rows)

    def save(self, number: int, state: bytes, entries: Sequence[Entry], rows: RowsOf) -> None:
        """Keep a fold in place of the one before.

        Args:
            number: of the last event in it.
            state: the pickled `LogState` without entries and key.
            entries: of it, in their order.
            rows: those that were made.
        """
        with self._lock:
            header = (self.storage.index(number), len(entries))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_suffix(".part")
            with part.open("w+b") as file:
                file.write(bytes(_SIGNATURE))
                pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
                pickler.dump(header)
                pickler.dump(state)
                for first in range(0, len(entries), _BATCH):
                    batch = entries[first : first + _BATCH]
                    pickler.dump([(entry, dict(rows.get(entry.entry, {}))) for entry in batch])
                file.seek(_SIGNATURE)
                signature = self._signature(file)
                file.seek(0)
                file.write(signature)
            part.replace(self.path)
            self.number = number

    def _signature(self, file: IO[bytes]) -> bytes:
        """Of what follows in a file."""
        signature = hmac.new(self._key, digestmod="sha256")
        while chunk := file.read(1 << 22):
            signature.update(chunk)
        return signature.digest()


def _software() -> bytes:
    """Of the installed files: another one may make other rows of the same log."""
    root = Path(fairspace.__file__).parent
    about = hashlib.sha256(sys.version.encode())
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            stat = Path(folder, name).stat()
            about.update(f"{folder} {name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return about.digest()
