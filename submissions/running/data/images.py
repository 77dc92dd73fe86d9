"""The images of a split, by id, from Parquet files that are read a piece at a time.

Ids and places are in memory, images are not: what is held are two pieces of a row group, of about `PIECE` bytes each.
Runs ask for images mostly in order, so a piece is read once. Our builds write row groups of 100 images; in files of
others a group may be large, and Arrow holds one page of it besides (up to 1024 images), so there is a bound on groups.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.submissions.running.errors import RunError

PIECE = 8 << 20
"""Bytes of images that are decoded at a time."""
GROUP = 1 << 30
"""Bytes of images that one row group may have."""
_BYTES, _PATH = "image.bytes", "image.path"


class _Group(NamedTuple):
    """A row group: its file, its number there, its first row over all files, and how many rows a piece of it has."""

    file: Path
    number: int
    start: int
    piece: int


class _Piece(NamedTuple):
    """The images of some rows; `start` is the first of them over all files."""

    start: int
    images: pa.Array


class Images:
    """The images of one split; for one thread.

    Args:
        files: its Parquet files, with columns `id` and `image` (a struct of bytes and path). If an id stands in several
            rows, the first that has an image counts.

    Errors: RunError DATA_INVALID names the file that is damaged or has no such columns.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.rows = 0
        self._row: dict[str, int] = {}
        self._without: set[str] = set()
        self._groups: list[_Group] = []
        for file in files:
            self._enter(file)
        self._without -= self._row.keys()
        self._starts = [group.start for group in self._groups]
        self._held: deque[_Piece] = deque(maxlen=2)
        self._pieces: Iterator[_Piece] = iter(())
        self._opened: _Group | None = None
        self._next = 0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._row)

    def __contains__(self, item: object) -> bool:
        return item in self._row

    def __iter__(self) -> Iterator[str]:
        """The ids of the images, in the order of the files."""
        return iter(self._row)

    @property
    def without(self) -> frozenset[str]:
        """The ids of rows that have no image."""
        return frozenset(self._without)

    def get(self, item: str) -> bytes:
        """The encoded image of an id. KeyError if it has none; RunError DATA_INVALID if the file is damaged."""
        row = self._row[item]
        for piece in self._held:
            if piece.start <= row < piece.start + len(piece.images):
                return self._bytes(piece, row)
        group = self._groups[bisect_right(self._starts, row) - 1]
        if group is not self._opened or row < self._next:
            self._opened, self._next, self._pieces = group, group.start, _pieces(group)
        while row >= self._next:
            try:
                piece = next(self._pieces)
            except StopIteration as error:
                raise _damaged(group.file, "fewer rows than its footer says") from error
            except (OSError, pa.ArrowException) as error:
                raise _damaged(group.file, str(error)) from error
            self._held.append(piece)
            self._next = piece.start + len(piece.images)
        return self._bytes(self._held[-1], row)

    def _bytes(self, piece: _Piece, row: int) -> bytes:
        content = piece.images[row - piece.start].as_py()
        if not isinstance(content, bytes):
            group = self._groups[bisect_right(self._starts, row) - 1]
            raise _damaged(group.file, "an image without bytes")
        return content

    def _enter(self, file: Path) -> None:
        try:
            with pq.ParquetFile(file, pre_buffer=False) as parquet:
                self._check(file, parquet.schema_arrow)
                table = parquet.read(columns=["id", _PATH], use_threads=False)
                for number in range(parquet.num_row_groups):
                    self._groups.append(_group(file, parquet.metadata, number, self.rows))
                    self.rows += parquet.metadata.row_group(number).num_rows
        except (OSError, pa.ArrowException) as error:
            raise _damaged(file, str(error)) from error
        first = self.rows - table.num_rows
        there = table["image"].is_valid().to_pylist()
        for row, (item, has) in enumerate(zip(table["id"].to_pylist(), there, strict=True), first):
            if has:
                self._row.setdefault(item, row)
            else:
                self._without.add(item)

    @staticmethod
    def _check(file: Path, schema: pa.Schema) -> None:
        image = schema.field("image").type if "image" in schema.names else None
        parts = [part.name for part in image] if image is not None and pa.types.is_struct(image) else []
        if "id" not in schema.names or not {"bytes", "path"} <= set(parts):
            mend = "name the folder or Hub namespace of datasets as `fairspace build` writes them"
            what = f"the columns {', '.join(schema.names)}"
            raise RunError("DATA_INVALID", str(file), what, "id, and image with bytes and path", mend)


def _group(file: Path, about: pq.FileMetaData, number: int, start: int) -> _Group:
    """A row group as the footer describes it. RunError DATA_INVALID if it is too large."""
    group = about.row_group(number)
    columns = [group.column(place) for place in range(group.num_columns)]
    size = next(column.total_uncompressed_size for column in columns if column.path_in_schema == _BYTES)
    if size > GROUP:
        mend = "write the file again with about 100 rows in a row group"
        what = f"a row group with {size:,} bytes of images"
        raise RunError("DATA_INVALID", str(file), what, f"at most {GROUP:,}, which must fit in memory", mend)
    return _Group(file, number, start, max(1, min(group.num_rows, PIECE * group.num_rows // max(1, size))))


def _pieces(group: _Group) -> Iterator[_Piece]:
    """The images of a row group, from its first row on."""
    with pq.ParquetFile(group.file, pre_buffer=False, buffer_size=1 << 20) as parquet:
        start = group.start
        for batch in parquet.iter_batches(group.piece, row_groups=[group.number], columns=[_BYTES], use_threads=False):
            images = batch.column("image").field("bytes")
            yield _Piece(start, images)
            start += len(images)


def _damaged(file: Path, what: str) -> RunError:
    return RunError("DATA_INVALID", str(file), what, "a Parquet file that can be read", "build or fetch it again")
