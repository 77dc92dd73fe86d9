"""Images of a dataset on the Hub, or of a local copy of one, as `datasets` loads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairspace.ares.annotating.parquet import key, key_columns, stored
from fairspace.ares.annotating.source import Entry, Source
from fairspace.builders.errors import BuildError

_BATCH, _NAMES = 16, 10_000
"""Images, and names, that are read at a time."""


def entries(source: Source) -> Iterator[Entry]:
    """The rows of the split. BuildError SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE."""
    dataset = _loaded(source)
    columns = key_columns(source, dataset.column_names, source.place)
    names = dataset.select_columns(list(columns.values()))
    for start in range(0, len(dataset), _NAMES):
        batch = names[start : start + _NAMES] if columns else {}
        for row in range(start, min(start + _NAMES, len(dataset))):
            cells = {name: batch[column][row - start] for name, column in columns.items()}
            name = key(source, cells, f"{source.place}: row {row + 1}", f"{row:08}")
            yield Entry(*name, source.split, row, 0, cells.get("sha256") or "")


def contents(source: Source, wanted: Sequence[Entry]) -> Iterator[Any]:
    """Their bytes; a path is opened only where `datasets` found the file itself, in a folder of images."""
    dataset = _loaded(source)
    for start in range(0, len(wanted), _BATCH):
        part = wanted[start : start + _BATCH]
        cells = dataset[part[0].place : part[-1].place + 1][source.columns["image"]]
        for entry, cell in zip(part, cells, strict=True):
            image = stored(cell, entry.sha256)
            if image is None and dataset.builder_name == "imagefolder" and cell and cell.get("path"):
                yield Path(cell["path"])
            else:
                yield image


def _loaded(source: Source) -> Any:
    """The split, with images as they are stored."""
    from datasets import Image, load_dataset
    from datasets.exceptions import DatasetsError

    mend = "name a dataset, and its config and split (--config, --split)"
    try:
        dataset = load_dataset(
            source.place, source.config or None, split=source.split, revision=source.revision or None
        )
    except (OSError, ValueError, DatasetsError) as error:
        raise BuildError("SOURCE_MISSING", source.place, str(error), "a dataset with images", mend) from error
    column = source.columns["image"]
    if not isinstance(dataset.features.get(column), Image):
        what = f"the columns {', '.join(dataset.column_names)}"
        expected = f"a column {column!r} of images"
        raise BuildError("SOURCE_LAYOUT", source.place, what, expected, "name it (--column image=NAME)")
    return dataset.cast_column(column, Image(decode=False))
