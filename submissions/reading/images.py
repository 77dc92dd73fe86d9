"""The images of a submission: first their keys, then one after another, with bounds on bytes and rows.

An image is bytes in the file itself; the name beside it is never opened. The labeller decides whether it is an image.
"""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace.submissions.format.faults import Collector, RefusedError, show
from fairspace.submissions.format.schema import IMAGES
from fairspace.submissions.reading.containers import READ_ERRORS, Limits, Member
from fairspace.submissions.reading.parquet import ERRORS, check_pages, read_parquet
from fairspace.submissions.reading.tables import Budget, Pieces, Rows, read_files, unreadable

COLUMN = "image"
_ITEM = ["task", "id", "sha256"]
_NO_IMAGE = hashlib.sha256(b"").hexdigest()
"""Hash that `fairspace run` writes beside a refused image."""


def read_image_keys(members: list[Member], limits: Limits, faults: Collector, budget: Budget) -> Rows:
    """Task, id, sample and sha256 of every image, in the order of the files; notes faults of a file."""

    def pieces(stream: IO[bytes], name: str) -> Pieces:
        held, schema = _seekable(stream, limits), ("images", IMAGES)
        yield from read_parquet(
            held, name, schema, image_limits(limits), faults, budget.spend, (COLUMN,), budget.headers
        )
        _check_column(held, name, faults)

    rows = read_files(IMAGES, members, faults, budget, pieces)
    _check_hashes(rows, faults)
    _check_repeats(rows, members, limits, faults)
    return rows


def stream_images(members: list[Member], limits: Limits) -> Iterator[tuple[tuple[str, str, int, str], bytes | None]]:
    """Yield (task, id, sample, sha256) and the bytes of every image, in the order of the files; None for no image.

    RefusedError: TOO_LARGE, PARQUET_CORRUPT, UNREADABLE_FILE.
    """
    total = 0
    for member in members:
        try:
            with member.open() as stream:
                held = _seekable(stream, limits)
                check_pages(held, image_limits(limits))
                with pq.ParquetFile(held, pre_buffer=False, buffer_size=1 << 20) as file:
                    for batch in file.iter_batches(1, columns=[*IMAGES.names, COLUMN], use_threads=False):
                        (row,) = batch.to_pylist()
                        data = _bytes(row[COLUMN])
                        total += len(data or b"")
                        if total > limits.image_total_bytes:
                            most = f"at most {limits.image_total_bytes:,} bytes"
                            raise RefusedError("TOO_LARGE", "too many bytes in all images", most)
                        yield (row["task"], row["id"], row["sample"], row["sha256"]), data
        except RefusedError:
            raise
        except ERRORS as error:
            raise RefusedError("PARQUET_CORRUPT", show(str(error), 160), "a Parquet file that can be read") from error
        except READ_ERRORS as error:
            raise unreadable(error) from error


def image_limits(limits: Limits) -> Limits:
    """The limits for a file of images."""
    return replace(limits, member_bytes=limits.image_member_bytes, rows=limits.images)


def _seekable(stream: IO[bytes], limits: Limits) -> IO[bytes]:
    """A plain file unchanged, a member of a zip in memory."""
    return stream if isinstance(stream, io.BufferedReader) else io.BytesIO(stream.read(limits.member_bytes + 1))


def _check_column(stream: IO[bytes], name: str, faults: Collector) -> None:
    stream.seek(0)
    schema = pq.ParquetFile(stream).schema_arrow
    expected = "struct<bytes: binary, path: string>, or binary"
    times = schema.names.count(COLUMN)
    if times != 1:
        code = "DUPLICATE_FIELD" if times else "MISSING_FIELD"
        faults.add(code, name, f"column {COLUMN!r} {times} times", expected=expected, kind=COLUMN)
        return
    kind = schema.field(COLUMN).type
    if pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0:
        kind = kind.field("bytes").type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_null(kind)):
        what = f"column {COLUMN!r} of type {show(str(schema.field(COLUMN).type))}"
        faults.add("WRONG_TYPE", name, what, expected=expected, kind=COLUMN)


def _check_hashes(rows: Rows, faults: Collector) -> None:
    good = np.asarray(pc.match_substring_regex(rows.table["sha256"], "^[0-9a-f]{64}$"))
    bad = np.flatnonzero(~good)
    if len(bad):
        file, place = rows.where(int(bad[0]))
        what = show(rows.table["sha256"][int(bad[0])].as_py())
        faults.add("IMAGE_HASH", file, what, expected="64 hexadecimal digits", place=place, count=len(bad))


def _check_repeats(rows: Rows, members: list[Member], limits: Limits, faults: Collector) -> None:
    """Note images with the bytes of an earlier sample of their item; one that is null is no image."""
    keys = rows.table.to_pandas()
    keys = keys[keys["sha256"] != _NO_IMAGE]
    if keys.duplicated(_ITEM).any():  # null may stand beside any hash
        try:
            there = {key for key, data in stream_images(members, limits) if data}
        except RefusedError as refused:
            faults.refuse(refused, members[0].name)
            return
        keys = keys[[key in there for key in keys.itertuples(index=False, name=None)]]
    again = keys[keys.duplicated(_ITEM) & ~keys.duplicated(["task", "id", "sample"])]
    if len(again):
        first, expected = again.iloc[0], "an image of its own for each sample"
        what = f"{show(first['id'])}, sample {first['sample']}: the image of another sample"
        file, place = rows.where(int(again.index[0]))
        faults.add("DUPLICATE_IMAGE", file, what, expected=expected, place=place, count=len(again))


def _bytes(cell: Any) -> bytes | None:
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    return content if isinstance(content, bytes) else None
