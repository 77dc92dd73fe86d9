"""A shard of images: the file that `submissions/FORMAT.md` calls images.parquet, written a few rows at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.build import file_hash
from fairspace.submissions.benchmarks.asks import Ask
from fairspace.submissions.format.schema import IMAGES
from fairspace.submissions.running.images.made import extension

ROWS = 8
"""Images of a row group: what a writer or reader holds in memory."""
_IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
SCHEMA = IMAGES.append(pa.field("image", _IMAGE))
NOTHING = hashlib.sha256(b"").hexdigest()
"""Hash in the row of a refused image."""
_LEAVES = ("task", "id", "sample", "sha256", "image.bytes", "image.path")
_WRITING: Mapping[str, Any] = {
    # Images are compressed already, and no two are alike; a page holds one, not a row group of them.
    "compression": {leaf: "none" if leaf == "image.bytes" else "zstd" for leaf in _LEAVES},
    "use_dictionary": ["task", "id"],
    "write_statistics": ["task", "id", "sample"],
    "write_batch_size": 1,
}


class ShardRow(NamedTuple):
    """A row to write: what was asked, the file that holds the image (None if it was refused), and the image's hash."""

    ask: Ask
    file: Path | None
    sha256: str


def write_shard(file: Path, rows: Iterable[ShardRow]) -> tuple[int, str]:
    """Write a shard, whole or not at all, and wait until the disk has it; its size and hash.

    The same rows give the same bytes, with one version of Arrow.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    with pq.ParquetWriter(part, SCHEMA, **_WRITING) as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, ROWS)):
            writer.write_table(_table(group))
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    size, content = part.stat().st_size, file_hash(part)
    part.replace(file)
    return size, content


def read_images(file: Path) -> Iterator[bytes | None]:
    """The images of a shard, in order; None where one was refused."""
    with pq.ParquetFile(file) as shard:
        for batch in shard.iter_batches(ROWS, columns=["image"]):
            for cell in batch.column(0):
                image = cell.as_py()
                yield image["bytes"] if image else None


def image_hash(file: Path, key: tuple[str, str, int]) -> str | None:
    """The hash that stands in a shard for an image; None if it is not there, or was refused."""
    for row in pq.read_table(file, columns=IMAGES.names).to_pylist():
        if (row["task"], row["id"], row["sample"]) == key and row["sha256"] != NOTHING:
            return str(row["sha256"])
    return None


def _table(rows: Sequence[ShardRow]) -> pa.Table:
    asks = [row.ask for row in rows]
    keys = [[ask.task for ask in asks], [ask.id for ask in asks], [ask.sample for ask in asks]]
    cells = pa.array([_cell(row) for row in rows], _IMAGE)
    return pa.table([*keys, [row.sha256 for row in rows], cells], schema=SCHEMA)


def _cell(row: ShardRow) -> dict[str, Any] | None:
    if row.file is None:
        return None
    data = row.file.read_bytes()
    return {"bytes": data, "path": f"{row.ask.task}/{row.ask.id}/{row.ask.sample}.{extension(data)}"}
