"""The images of a split by id, from Parquet files read a row group at a time; two groups are held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.submissions.running.errors import RunError

GROUP = 1 << 29
"""Greatest number of bytes of images in one row group."""
_BYTES, _PATH = "image.bytes", "image.path"
_Group = tuple[Path, int]


class Images:
    """The images of one split, for one thread; of several rows with one id, the first with an image counts.

    Parquet files have columns `id` and `image` (bytes and path). RunError DATA_INVALID names a damaged file.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.rows = 0
        self._place: dict[str, tuple[_Group, int]] = {}
        self._without: set[str] = set()
        self._held: dict[_Group, pa.Array] = {}
        for file in files:
            self._enter(file)
        self._without -= self._place.keys()

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, item: object) -> bool:
        return item in self._place

    def __iter__(self) -> Iterator[str]:
        """Ids of the images, in the order of the files."""
        return iter(self._place)

    @property
    def without(self) -> frozenset[str]:
        """Ids of rows without an image."""
        return frozenset(self._without)

    def get(self, item: str) -> bytes:
        """The encoded image of an id. KeyError if it has none; RunError DATA_INVALID if the file is damaged."""
        group, row = self._place[item]
        if group not in self._held:
            if len(self._held) > 1:
                del self._held[next(iter(self._held))]
            self._held[group] = _read(*group)
        content = self._held[group][row].as_py()
        if not isinstance(content, bytes):
            raise _damaged(group[0], "an image without bytes")
        return content

    def _enter(self, file: Path) -> None:
        try:
            with pq.ParquetFile(file, pre_buffer=False) as parquet:
                self._check(file, parquet.schema_arrow)
                for number in range(parquet.num_row_groups):
                    _check_size(file, parquet.metadata.row_group(number))
                    table = parquet.read_row_group(number, columns=["id", _PATH], use_threads=False)
                    there = table["image"].is_valid().to_pylist()
                    self.rows += table.num_rows
                    for row, (item, has) in enumerate(zip(table["id"].to_pylist(), there, strict=True)):
                        if has:
                            self._place.setdefault(item, ((file, number), row))
                        else:
                            self._without.add(item)
        except (OSError, pa.ArrowException) as error:
            raise _damaged(file, str(error)) from error

    @staticmethod
    def _check(file: Path, schema: pa.Schema) -> None:
        image = schema.field("image").type if "image" in schema.names else None
        parts = [part.name for part in image] if image is not None and pa.types.is_struct(image) else []
        if "id" not in schema.names or not {"bytes", "path"} <= set(parts):
            mend = "name the folder or Hub namespace of datasets as `fairspace build` writes them"
            what = f"the columns {', '.join(schema.names)}"
            raise RunError("DATA_INVALID", str(file), what, "id, and image with bytes and path", mend)


def _check_size(file: Path, group: pq.RowGroupMetaData) -> None:
    columns = [group.column(place) for place in range(group.num_columns)]
    size = next(column.total_uncompressed_size for column in columns if column.path_in_schema == _BYTES)
    if size > GROUP:
        mend = "write the file again with about 100 rows in a row group"
        what = f"a row group with {size:,} bytes of images"
        raise RunError("DATA_INVALID", str(file), what, f"at most {GROUP:,}, which must fit in memory", mend)


def _read(file: Path, number: int) -> pa.Array:
    try:
        with pq.ParquetFile(file, pre_buffer=False) as parquet:
            table = parquet.read_row_group(number, columns=[_BYTES], use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file, str(error)) from error
    images = table["image"].combine_chunks()
    return (images.chunk(0) if isinstance(images, pa.ChunkedArray) else images).field("bytes")


def _damaged(file: Path, what: str) -> RunError:
    return RunError("DATA_INVALID", str(file), what, "a Parquet file that can be read", "build or fetch it again")
