"""Parquet files of a model's submission: rows a page at a time, and what is said when they break the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.errors import BuildError


def rows(file: Path, columns: Sequence[str], batch: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row numbers from 0 and rows; pages are read as they are needed, however large a row group is.

    Errors: BuildError SOURCE_LAYOUT if the file cannot be read or lacks a column.
    """
    try:
        with pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False) as parquet:
            missing = [column for column in columns if column not in parquet.schema_arrow.names]
            if missing:
                problem = f"no column {', '.join(missing)}"
                raise bad_layout(str(file), problem, f"the columns {', '.join(columns)}")
            place = 0
            for part in parquet.iter_batches(batch, columns=list(columns)):
                for row in part.to_pylist():
                    yield place, row
                    place += 1
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def image_type(file: Path) -> pa.DataType | None:
    """The type of the column `image`; None if there is none. SOURCE_LAYOUT if the file cannot be read."""
    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error
    return schema.field("image").type if "image" in schema.names else None


def _unreadable(file: Path, error: Exception) -> BuildError:
    return bad_layout(str(file), f"no readable Parquet ({error})", "an undamaged Parquet file")


def bad_layout(where: str, what: str, expected: str) -> BuildError:
    """A file or folder that is not laid out as the format says."""
    return BuildError("SOURCE_LAYOUT", where, what, expected, "lay the folder out as FORMAT.md says, or remove it")


def bad_value(
    where: str, what: str, expected: str, mend: str = "correct the row, or leave the model out"
) -> BuildError:
    """A cell with a value that the format does not know."""
    return BuildError("SOURCE_VALUE", where, what, expected, mend)


def bad_image(where: str, what: str, expected: str) -> BuildError:
    """An image that is missing or is not what its row says."""
    mend = "write the images again, or remove all of the model's images*.parquet to publish its annotations alone"
    return BuildError("SOURCE_IMAGE", where, what, expected, mend)
