"""The places of the items that a table has rows of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def item_index(ids: pa.Array, rows: pa.Table) -> NDArray[np.int64]:
    """Per row, the position of its id in `ids`; a checked submission has no other ids.

    The rows of a checked submission are sorted by id: where each item has a row, sorting `ids` is quicker than
    looking each of them up.
    """
    column = rows["id"].combine_chunks()
    if len(ids) == len(column):
        order = pc.sort_indices(ids)
        if ids.take(order).equals(column):
            return np.asarray(order.to_numpy(), dtype=np.int64)
    places = pc.index_in(column, value_set=ids)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)
