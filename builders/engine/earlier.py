"""An earlier build of the same dataset, so that the next one makes again only what people refused.

`review/candidates.jsonl` of a build has a line for each candidate image that was checked. What decides a candidate is
in its name, so its verdict holds in every build; its image lies in the row of its seed, if a row shows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fairspace.builders.errors import BuildError

FILE = "review/candidates.jsonl"
_Place = tuple[str, Path, int, int]
"""Id of a row, its file, row group and number there."""


class Earlier:
    """The verdicts and images of a finished build.

    Args:
        folder: of the build.
        shards: its Parquet files, below the folder.

    Errors: BuildError BUILD_INCOMPLETE if it did not write its candidates down.
    """

    def __init__(self, folder: Path, shards: Iterable[str]) -> None:
        self._files = [folder / shard for shard in shards]
        try:
            lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            mend = "name the whole folder, as `fairspace build` of this version wrote it"
            raise BuildError("BUILD_INCOMPLETE", str(folder / FILE), str(error), "its candidates", mend) from error
        self._verdicts = {row["name"]: row for row in map(json.loads, lines)}

    def verdict(self, name: str) -> dict[str, Any] | None:
        """`reason` and `evidence` of a candidate; None if it was not checked."""
        return self._verdicts.get(name)

    def image(self, key: str, seed: int) -> bytes | None:
        """The JPEG of the candidate of that key and seed; None if no row shows it."""
        for name, file, row_group, row in self._rows.get(seed, ()):
            if key == name or key.startswith(f"{name.rpartition('/')[0]}/"):
                with pq.ParquetFile(file) as opened:
                    image = opened.read_row_group(row_group, columns=["image"])["image"][row].as_py()
                return image["bytes"] if image else None
        return None

    @cached_property
    def _rows(self) -> dict[int, list[_Place]]:
        """Seed -> id and place of the rows of images that were made with it."""
        rows: dict[int, list[_Place]] = {}
        for seed, place in self._places():
            rows.setdefault(seed, []).append(place)
        return rows

    def _places(self) -> Iterator[tuple[int, _Place]]:
        for file in self._files:
            with pq.ParquetFile(file) as opened:
                if not {"id", "seed", "image"} <= set(opened.schema_arrow.names):
                    continue
                for row_group in range(opened.num_row_groups):
                    table = opened.read_row_group(row_group, columns=["id", "seed"])
                    names, seeds = table["id"].to_pylist(), table["seed"].to_pylist()
                    for row, (name, seed) in enumerate(zip(names, seeds, strict=True)):
                        if seed is not None:
                            yield seed, (name, file, row_group, row)
