"""Images as rows of Parquet files: the columns `task`, `id`, `sample` and `image`, and, if there is one, `sha256`.

`image` is a struct of `bytes` and `path`, or bytes. A path in it is a name, and is never opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.ares.annotating.source import DEFAULT_TASK, Entry, Source
from fairspace.builders.errors import BuildError

_BATCH = 16
"""Images in memory at a time, beside those that were handed on."""


def entries(source: Source) -> Iterator[Entry]:
    """The rows, file by file. BuildError SOURCE_LAYOUT, SOURCE_VALUE."""
    for file in _files(source):
        with _opened(file) as parquet:
            columns = key_columns(source, parquet.schema_arrow.names, file.name)
            image = parquet.schema_arrow.field(source.columns["image"]).type
            if not (_is_bytes(image) or (pa.types.is_struct(image) and image.get_field_index("bytes") >= 0)):
                expected = "a struct of bytes and path, or bytes"
                raise _layout(f"{file.name}, column {source.columns['image']}", str(image), expected)
            row = 0
            for batch in parquet.iter_batches(10_000, columns=list(columns.values()) or [source.columns["image"]]):
                values = {name: batch.column(column).to_pylist() for name, column in columns.items()}
                for i in range(batch.num_rows):
                    cells = {name: column[i] for name, column in values.items()}
                    name = key(source, cells, f"{file.name}: row {row + 1}", f"{file.name}/{row}")
                    yield Entry(*name, file.name, row, 0, cells.get("sha256") or "")
                    row += 1


def contents(source: Source, wanted: Sequence[Entry]) -> Iterator[dict[str, Any] | None]:
    """Their bytes; only row groups that hold wanted rows are read."""
    root, column = Path(source.place), source.columns["image"]
    for name, group in groupby(wanted, key=lambda entry: entry.file):
        of_file = list(group)
        with _opened(root if root.is_file() else root / name) as parquet:
            images = _from(parquet, column, of_file[0].place)
            for entry, image in zip(of_file, images, strict=False):
                yield stored(image, entry.sha256)


def key_columns(source: Source, present: Sequence[str], where: str) -> dict[str, str]:
    """The columns to read for names. BuildError SOURCE_LAYOUT if one is missing."""
    wanted = [] if source.names == "files" else ["id", "sample"] + ([] if source.task else ["task"])
    columns = {name: source.columns[name] for name in wanted}
    for column in (*columns.values(), source.columns["image"]):
        if column not in present:
            what, expected = f"no column {column!r}", f"it among {', '.join(present)}"
            mend = "say what columns are called (--column image=photo), or that images have no names (--names files)"
            raise BuildError("SOURCE_LAYOUT", where, what, expected, mend)
    return columns | ({"sha256": "sha256"} if "sha256" in present else {})


def key(source: Source, row: Mapping[str, Any], where: str, place: str) -> tuple[str, str, int]:
    """Task, id and sample of a row; `place` is its id where it has no name. BuildError SOURCE_VALUE."""
    if source.names == "files":
        return source.task or DEFAULT_TASK, place, 0
    task, item, sample = source.task or row["task"], row["id"], row["sample"]
    for name, value in (("task", task), ("id", item)):
        if not isinstance(value, str) or not value:
            raise BuildError("SOURCE_VALUE", where, f"{name} {value!r}", "a text", "mend the row")
    if type(sample) is not int or sample < 0:
        raise BuildError("SOURCE_VALUE", where, f"sample {sample!r}", "a number from 0", "mend the row")
    return task, item, sample


def stored(image: Any, sha256: str) -> dict[str, Any] | None:
    """An image cell as `reading_ares.read_image` takes it; what it calls itself is only a name."""
    data, name = (image.get("bytes"), image.get("path")) if isinstance(image, Mapping) else (image, "")
    return None if data is None else {"bytes": data, "path": name or "", "sha256": sha256}


def _files(source: Source) -> list[Path]:
    root = Path(source.place)
    if root.is_file():
        return [root]
    return sorted(root.glob("images*.parquet")) or sorted(root.glob("*.parquet"))


def _opened(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)  # else memory grows with what was read
    except (OSError, pa.ArrowInvalid) as error:
        raise _layout(file.name, str(error), "a Parquet file") from error


def _from(parquet: pq.ParquetFile, column: str, start: int) -> Iterator[Any]:
    """The cells of a column from a row on."""
    group = 0
    while start >= parquet.metadata.row_group(group).num_rows:
        start -= parquet.metadata.row_group(group).num_rows
        group += 1
    groups = list(range(group, parquet.metadata.num_row_groups))
    for batch in parquet.iter_batches(_BATCH, row_groups=groups, columns=[column]):
        if start >= batch.num_rows:
            start -= batch.num_rows
            continue
        for cell in batch.column(0).slice(start):
            yield cell.as_py()
        start = 0


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _layout(where: str, what: str, expected: str) -> BuildError:
    return BuildError("SOURCE_LAYOUT", where, what, expected, "fetch or write the file again")
