"""Drawn images of steer prompts, their annotations, and tiny random models that measure them."""

import hashlib
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL.Image import Image

from fairspace.ares.annotating.annotate import ANNOTATIONS
from fairspace.ares.training.data import drawn_face
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import counter_groups, steer_id, steer_prompt
from fairspace.submissions.running.quality.models import Vector
from tests.builders.models import tiny

TASK = "generation_steer"
GROUPS = (0, *counter_groups(0))
IDS = [steer_id(0, 0, group) for group in GROUPS]
PROMPTS = {(TASK, item): steer_prompt(0, group) for item, group in zip(IDS, GROUPS, strict=True)}
assert OCCUPATIONS[0] in IDS[0]


class Stored(NamedTuple):
    id: str
    sample: int
    data: bytes | None
    status: str = "ok"


def face(number: int, size: int = 48) -> Image:
    return drawn_face("test", number, size=size).image


def png(image: Image) -> bytes:
    stream = BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def stored(number: int = 12, items: int = 2) -> list[Stored]:
    return [Stored(IDS[n % items], n // items, png(face(n))) for n in range(number)]


def images(root: Path, rows: Sequence[Stored], shards: int = 2, **options: Any) -> Path:
    root.mkdir(parents=True)
    for number in range(shards):
        part = rows[number::shards]
        table = {
            "task": [TASK] * len(part),
            "id": [each.id for each in part],
            "sample": pa.array([each.sample for each in part], pa.int32()),
            "sha256": [hashlib.sha256(each.data or b"").hexdigest() for each in part],
            "image": pa.array(
                [each.data and {"bytes": each.data, "path": f"{each.sample}.png"} for each in part],
                pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
            ),
        }
        pq.write_table(pa.table(table), root / f"images-{number:05}-of-{shards:05}.parquet", **options)
    return root


def annotated(rows: Iterable[Stored], task: str = TASK) -> pa.Table:
    found = [
        {
            "task": task,
            "id": each.id,
            "sample": each.sample,
            "face": 0,
            "status": each.status,
            "gender": "female" if each.status == "ok" else None,
            "faces": int(each.status == "ok"),
        }
        for each in rows
    ]
    return pa.Table.from_pylist(found, schema=ANNOTATIONS)


def dinov2(folder: Path) -> Path:
    """DINOv2 for 28x28 images in patches of 14, with embeddings that differ between images."""
    tiny.quiet()
    from transformers import BitImageProcessorPil, Dinov2Config, Dinov2Model

    config = Dinov2Config(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=2, mlp_ratio=2, image_size=28, patch_size=14
    )
    model = Dinov2Model(config)
    for block in model.encoder.layer:
        block.layer_scale1.lambda1.data.fill_(1.0)
        block.layer_scale2.lambda1.data.fill_(1.0)
    model.save_pretrained(folder)
    size = {"height": 28, "width": 28}
    BitImageProcessorPil(size={"shortest_edge": 32}, crop_size=size).save_pretrained(folder)
    return folder


class Fixed:
    """Answers from a table of image sizes, and counts its calls."""

    def __init__(self, vectors: dict[tuple[int, int], list[float]], name: str = "fixed") -> None:
        self.vectors, self.name, self.looked = vectors, name, 0

    def images(self, images: Sequence[Image]) -> list[Vector]:
        self.looked += len(images)
        return [np.array(self.vectors[image.size], np.float32) for image in images]

    def text(self, text: str) -> Vector:
        return np.array([1.0, 0.0], np.float32)

    def scale(self) -> float:
        return 100.0
