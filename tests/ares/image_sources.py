import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.ares.training.data import drawn_face
from tests.ares.hostile import encoded

TASK = "generation_neutral"
SIZE = 64


class Stored(NamedTuple):
    id: str
    sample: int
    data: bytes | None
    name: str


def images(number: int = 24, bad: Iterable[bytes] = ()) -> list[Stored]:
    """Drawn faces of two items, ten samples each and on, then unreadable images."""
    data = [encoded(drawn_face("test", n, size=SIZE).image, "PNG") for n in range(number)] + list(bad)
    return [Stored(f"neutral/{('nurse', 'painter')[n % 2]}", n // 2, each, f"{n}.png") for n, each in enumerate(data)]


def folder(root: Path, stored: Iterable[Stored]) -> Path:
    for each in stored:
        file = root / TASK / each.id / f"{each.sample}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(each.data or b"")
    return root


def parquet(root: Path, stored: list[Stored], shards: int = 2, **options: Any) -> Path:
    root.mkdir(parents=True)
    for number in range(shards):
        part = stored[number::shards]
        table = {
            "task": [TASK] * len(part),
            "id": [each.id for each in part],
            "sample": pa.array([each.sample for each in part], pa.int32()),
            "sha256": [hashlib.sha256(each.data).hexdigest() if each.data is not None else "0" * 64 for each in part],
            "image": [{"bytes": each.data, "path": each.name} for each in part],
        }
        pq.write_table(pa.table(table), root / f"images-{number:05}-of-{shards:05}.parquet", **options)
    return root


def rows(out: Path, table: str = "annotations") -> list[dict[str, Any]]:
    files = sorted(out.glob(f"{table}-*.parquet")) or sorted(out.glob(f"{table}/*.parquet"))
    found = [row for file in files for row in pq.read_table(file).to_pylist()]
    return sorted(found, key=lambda row: (row["task"], row["id"], row["sample"], row["face"]))
