"""The shards of an annotation: which are left to do, how one is written, and what all of them hold."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.ares.annotating.rows import Tally
from fairspace.builders.engine.build import file_hash, write_atomically
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "annotation.json"
MOST = 1_000
"""Shards; above that they become larger."""
_TABLES = {"annotations": "", "routes": "routes/"}
"""Table -> its folder."""


class Shards:
    """The shards in a folder.

    Args:
        out: the folder.
        work: where finished ones are entered.
        asked: what decides their content; `shard` is the size of one, `images` how many there are in all.
        progress: called with what is done and how fast, how much, and of how much.
    """

    def __init__(
        self, out: Path, work: Path, request: Mapping[str, Any], progress: Callable[[str, int, int], None]
    ) -> None:
        self.out, self.work, self.asked, self.progress = out, work, request, progress
        self.images: int = request["images"]
        self.size = max(request["shard"], -(-self.images // MOST))
        self.count = max(1, -(-self.images // self.size))
        self.pending = [number for number in range(self.count) if not self._is_done(number)]
        self.before = self.images - sum(stop - start for start, stop in map(self.part, self.pending))
        self.done, self.began = 0, time.monotonic()

    def part(self, number: int) -> tuple[int, int]:
        """The first input of a shard, and the one after its last."""
        return number * self.size, min((number + 1) * self.size, self.images)

    def step(self, images: int) -> None:
        """So many images more are answered."""
        self.done += images
        speed = self.done / max(time.monotonic() - self.began, 1e-9)
        self.progress(f"Annotating, {speed:.1f} images/s", self.before + self.done, self.images)

    def write(self, number: int, annotations: pa.Table, routes: pa.Table, tally: Tally) -> None:
        """Write a shard, and enter it. BuildError BUILD_CHECK if not every input of it has a fate."""
        import pyarrow.parquet as pq

        start, stop = self.part(number)
        if tally.images != stop - start:
            what = f"{tally.images} fates"
            raise BuildError("BUILD_CHECK", f"shard {number}", what, f"{stop - start} images", "report this")
        model = self.asked["model"]
        metadata = {f"ares_{key}": str(model[key]) for key in ("name", "revision", "sha256", "measurement")}
        entry: dict[str, Any] = {"tally": asdict(tally)}
        for table, rows in (("annotations", annotations), ("routes", routes)):
            name = f"{_TABLES[table]}{table}-{number:05}-of-{self.count:05}.parquet"
            file = self.out / name
            file.parent.mkdir(exist_ok=True)
            part = file.with_name(f"{file.name}.part")
            pq.write_table(rows.replace_schema_metadata(metadata), part, compression="zstd")
            with part.open("rb") as stream:
                os.fsync(stream.fileno())
            size = part.stat().st_size
            entry[table] = {"file": name, "rows": rows.num_rows, "bytes": size, "sha256": file_hash(part)}
            part.replace(file)
        write_atomically(self._entry(number), json.dumps(entry, ensure_ascii=False))

    def finish(self) -> dict[str, Any]:
        """Write `annotation.json`, and return it. BuildError BUILD_CHECK if inputs and fates do not agree."""
        total, files = Tally(), []
        for number in range(self.count):
            entry = json.loads(self._entry(number).read_text(encoding="utf-8"))
            total.add(Tally(**entry.pop("tally")))
            files.append(entry)
        if total.images != self.images or total.rows != sum(total.status.values()):
            what = f"{total.images} images, {total.rows} rows, {total.status}"
            raise BuildError("BUILD_CHECK", str(self.out), what, f"a fate for {self.images} images", "report this")
        data = {"format": 1, **self.asked, "counts": asdict(total), "shards": files}
        write_atomically(self.out / FILE, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
        return data

    def _entry(self, number: int) -> Path:
        return self.work / f"{number:05}-of-{self.count:05}.json"

    def _is_done(self, number: int) -> bool:
        entry = self._entry(number)
        if not entry.is_file():
            return False
        known = json.loads(entry.read_text(encoding="utf-8"))
        files = [(self.out / known[table]["file"], known[table]["bytes"]) for table in _TABLES]
        return all(file.is_file() and file.stat().st_size == size for file, size in files)
