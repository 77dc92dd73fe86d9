import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from tests.ares.hostile import encoded

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
ANNOTATIONS = pa.schema(
    [
        *((name, pa.string()) for name in ("task", "id")),
        *((name, pa.int32()) for name in ("sample", "face")),
        *((name, pa.string()) for name in ("status", "gender", "age", "skin_tone")),
    ]
)
IMAGES = pa.schema(
    [("task", pa.string()), ("id", pa.string()), ("sample", pa.int32()), ("sha256", pa.string()), ("image", IMAGE)]
)
STEREOTYPES = [(4 * n, (7 * n) % 18) for n in range(10)]
"""(occupation, group) of the made-up models' stereotypes, the strongest first."""


def annotation(task: str, item: str, sample: int, group: int | None, status: str = "no_face", face: int = 0) -> Any:
    key: dict[str, str | int | None] = {"task": task, "id": item, "sample": sample, "face": face}
    if group is None:
        return key | {"status": status, "gender": None, "age": None, "skin_tone": None}
    gender, age, skin = GROUPS[group].split("_")
    return key | {"status": "ok", "gender": gender, "age": age, "skin_tone": skin}


def neutral() -> list[Any]:
    """Two images of each occupation, further ones of the stereotypes, and some without labels."""
    rows = []
    for number, name in enumerate(OCCUPATIONS):
        item = f"neutral/{name}"
        rows.append(annotation("generation_neutral", item, 0, (number * 5) % 18 if number < 50 else None))
        rows.append(annotation("generation_neutral", item, 1, None, "refused" if number % 2 else "abstained"))
    for rank, (occupation, group) in enumerate(STEREOTYPES):
        for sample in range(2, 14 - rank):
            rows.append(annotation("generation_neutral", f"neutral/{OCCUPATIONS[occupation]}", sample, group))
    return rows


def steer() -> list[Any]:
    """Two images of each steer prompt, the second the stereotype; one has two faces, one is unplanned."""
    rows = []
    for occupation, group in STEREOTYPES:
        for requested in (group, *iris_steer_60.counter_groups(group)):
            item = iris_steer_60.steer_id(occupation, group, requested)
            rows.append(annotation("generation_steer", item, 0, requested))
            rows.append(annotation("generation_steer", item, 1, group))
    rows.append({**rows[0], "face": 1, "gender": "male" if rows[0]["gender"] == "female" else "female"})
    rows.append(annotation("generation_steer", iris_steer_60.steer_id(51, 17, 17), 0, 17))
    return rows


def picture(key: str) -> bytes:
    colour = tuple(hashlib.sha256(key.encode()).digest()[:3])
    return encoded(Image.new("RGB", (8, 8), colour), "JPEG")


def image(row: Any) -> Any:
    data = picture(f"{row['task']}/{row['id']}/{row['sample']}")
    key = {name: row[name] for name in ("task", "id", "sample")}
    path = {"bytes": data, "path": "x.jpg"}
    return key | {"sha256": hashlib.sha256(data).hexdigest(), "image": path}


def write_model(
    source: Path, key: str = "toy", *, rows: list[Any] | None = None, images: list[Any] | None = None, **meta: Any
) -> Path:
    """Write `source/models/<key>`; default: annotations of all tasks and their images."""
    folder = source / "models" / key
    folder.mkdir(parents=True, exist_ok=True)
    known = {
        "format": 1,
        "benchmark": "iris",
        "dataset_revision": "v1",
        "model": f"Model {key}",
        "revision": "r1",
        "organisation": "Example Lab",
        "licence": "CC-BY-4.0",
        "contact": "somebody@example.org",
        "generation": {"seed": 1},
        "labels": {"name": "labels", "version": "v2"},
    }
    (folder / "submission.json").write_text(json.dumps(known | meta))
    rows = neutral() + steer() if rows is None else rows
    half = len(rows) // 2
    write(folder / "annotations-00000-of-00002.parquet", rows[:half], ANNOTATIONS)
    write(folder / "annotations-00001-of-00002.parquet", rows[half:], ANNOTATIONS)
    if images is None:
        images = [image(row) for row in rows if row["face"] == 0 and row["status"] != "refused"]
    if images:
        write(folder / "images.parquet", images, IMAGES)
    return folder


def write(file: Path, rows: list[Any], schema: pa.Schema) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), file, row_group_size=50)
