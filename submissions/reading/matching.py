"""Rows of two tables with the same key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def matched(rows: pa.Table, among: pa.Table, keys: Sequence[str]) -> NDArray[np.int64]:
    """(n,) per row the first row of `among` with the same keys, which are never null; -1 for none."""
    n = rows.num_rows
    code = np.zeros(n + among.num_rows, np.int64)
    for key in keys:
        column = pa.chunked_array([*rows[key].chunks, *among[key].chunks], rows[key].type)
        codes = np.asarray(column.combine_chunks().dictionary_encode().indices, np.int64)
        code = np.unique(code * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    known, first = np.unique(code[n:], return_index=True)
    if not len(known):
        return np.full(n, -1, np.int64)
    place = np.minimum(np.searchsorted(known, code[:n]), len(known) - 1)
    return np.where(known[place] == code[:n], first[place], -1)


def item_index(ids: pa.Array, rows: pa.Table) -> NDArray[np.int64]:
    """Per row of a checked submission the position of its id in `ids`; quickest if each item has a row."""
    column = rows["id"].combine_chunks()
    if len(ids) == len(column):
        order = pc.sort_indices(ids)
        if ids.take(order).equals(column):
            return np.asarray(order.to_numpy(), dtype=np.int64)
    places = pc.index_in(column, value_set=ids)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)
