"""One order and one digest of a submission's content for every order, sharding and container; rows of equal keys."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.submissions.format.schema import KEYS, SCHEMAS, SubmissionMeta


def digest(meta: SubmissionMeta, tables: Mapping[str, pa.Table]) -> str:
    """The sha256 over `submission.json` and the sorted tables, in hexadecimal.

    Hashed are the canonical JSON of the fields that are set, then per table its name and number of rows, and per
    non-empty column its name, mask of values, and values (texts as lengths and UTF-8).
    """
    return tables_digest(hashlib.sha256(canonical_json(meta.model_dump(exclude_none=True))), tables)


def tables_digest(total: Any, tables: Mapping[str, pa.Table]) -> str:
    """The digest after adding the sorted tables to the hash `total`."""
    for name in SCHEMAS:
        if name in tables:
            total.update(f"\n{name} {tables[name].num_rows}\n".encode())
            for field in (field for field in SCHEMAS[name] if field.name in tables[name].column_names):
                hash_column(total, field.name, tables[name][field.name].combine_chunks())
    return total.hexdigest()


def in_order(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Tables sorted by their keys, as in a submission that was read."""
    return {name: table.sort_by([(key, "ascending") for key in KEYS[name]]) for name, table in tables.items()}


def canonical_json(data: Any) -> bytes:
    """JSON with sorted keys and without blanks, in UTF-8."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def hash_column(total: Any, name: str, column: pa.Array | pa.ChunkedArray) -> None:
    """Add a non-empty column to a hash: name, mask of values, and values."""
    array = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    if array.null_count == len(array):
        return
    total.update(f"{name}\n".encode())
    total.update(np.packbits(np.asarray(pc.is_valid(array))).tobytes())
    if array.type != pa.string():
        numbers = np.asarray(pc.fill_null(array, 0))
        total.update((numbers + numbers.dtype.type(0)).astype(numbers.dtype.newbyteorder("<")).tobytes())
        return
    texts = pa.concat_arrays([pc.fill_null(array, "")])
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    total.update(np.diff(offsets).astype("<i4").tobytes())
    if texts.buffers()[2] is not None:
        total.update(texts.buffers()[2][int(offsets[0]) : int(offsets[-1])])


def matched(rows: pa.Table, among: pa.Table, keys: Sequence[str]) -> NDArray[np.int64]:
    """(n,) per row the first row of `among` with the same keys, which are never null; -1 for none."""
    n = rows.num_rows
    code = np.zeros(n + among.num_rows, np.int64)
    for key in keys:
        column = pa.chunked_array([*rows[key].chunks, *among[key].chunks], rows[key].type)
        codes = np.asarray(column.combine_chunks().dictionary_encode().indices, np.int64)
        code = np.unique(code * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    codes_there, first = np.unique(code[n:], return_index=True)
    if not len(codes_there):
        return np.full(n, -1, np.int64)
    place = np.minimum(np.searchsorted(codes_there, code[:n]), len(codes_there) - 1)
    return np.where(codes_there[place] == code[:n], first[place], -1)


def item_index(ids: pa.Array, rows: pa.Table) -> NDArray[np.int64]:
    """Per row of a checked submission the position of its id in `ids`; quickest if each item has a row."""
    column = rows["id"].combine_chunks()
    if len(ids) == len(column):
        order = pc.sort_indices(ids)
        if ids.take(order).equals(column):
            return np.asarray(order.to_numpy(), dtype=np.int64)
    places = pc.index_in(column, value_set=ids)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)
