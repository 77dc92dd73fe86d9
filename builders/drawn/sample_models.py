"""Two made-up models' submissions with drawn images: neutral and steered images of IRIS, annotated.

The annotations are what was drawn. Each model has its habits: an occupation's images lean to one group, some images
show nobody, some were refused. One follows prompts better than the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from io import BytesIO
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.drawn.drawing import draw_face, draw_object
from fairspace.builders.drawn.palette import draws
from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60

MODELS = {"drawn-a": (2, 0.85), "drawn-b": (1, 0.6)}
"""Model -> neutral images per occupation, share of images that are as asked."""
_SIZE = 160
_NEUTRAL, _STEER = "generation_neutral", "generation_steer"
_LABELS = ("gender", "age", "skin_tone")
_ANNOTATIONS = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("task", "id")),
        *(pa.field(name, pa.int32(), nullable=False) for name in ("sample", "face")),
        pa.field("status", pa.string(), nullable=False),
        *((name, pa.string()) for name in (*_LABELS, "race")),
        *((f"{name}_quality", pa.float64()) for name in ("image", "face")),
        *((f"{name}_similarity", pa.float64()) for name in ("prompt", "reference")),
        ("faces", pa.int32()),
    ]
)
"""As FORMAT.md lays out annotations."""
_IMAGES = pa.schema(
    [
        *((name, pa.string()) for name in ("task", "id")),
        ("sample", pa.int32()),
        ("sha256", pa.string()),
        ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
    ]
)
_Row = dict[str, object]


def write_models(folder: Path) -> None:
    """A folder per model: `submission.json`, `annotations-*.parquet`, `images-*.parquet`."""
    for model in MODELS:
        place = folder / model
        place.mkdir(parents=True, exist_ok=True)
        meta = {
            "format": 1,
            "benchmark": "iris",
            "dataset_revision": iris_gen_52.REVISIONS[0],
            "model": model,
            "revision": "drawings-1",
            "organisation": "nobody",
            "licence": "CC0-1.0",
            "contact": "nobody@example.org",
            "generation": {"size": _SIZE},
            "labels": {"name": "what was drawn", "version": "1", "settings": {}},
        }
        (place / "submission.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
        drawn = list(_neutral(model))
        drawn += _steered(model, drawn)
        half = len(drawn) // 2
        for number, part in enumerate((drawn[:half], drawn[half:])):
            name = f"{number:05d}-of-00002.parquet"
            annotations = pa.Table.from_pylist([row for row, _ in part], schema=_ANNOTATIONS)
            images = pa.Table.from_pylist([image for _, image in part if image], schema=_IMAGES)
            pq.write_table(annotations, place / f"annotations-{name}")
            pq.write_table(images, place / f"images-{name}")


def _neutral(model: str) -> Iterator[tuple[_Row, _Row | None]]:
    """Images of the neutral prompts: most show the group that the model makes of the occupation."""
    samples, habit = MODELS[model]
    ids = iris_gen_52.ids(iris_gen_52.REVISIONS[0]).to_pylist()
    for occupation, item in zip(OCCUPATIONS, ids, strict=True):
        usual = draws("sample", model, occupation).randint(len(GROUPS))
        for sample in range(samples):
            random = draws("sample", model, occupation, sample)
            group = usual if random.random_sample() < habit else random.randint(len(GROUPS))
            yield _image(model, _NEUTRAL, item, sample, int(group), occupation)


def _steered(model: str, neutral: list[tuple[_Row, _Row | None]]) -> Iterator[tuple[_Row, _Row | None]]:
    """One image of each prompt of the model's own steer plan."""
    counts = np.zeros((len(OCCUPATIONS), len(GROUPS)), dtype=np.int64)
    for row, _ in neutral:
        if row["status"] == "ok":
            group = GROUPS.index("_".join(str(row[label]) for label in _LABELS))
            counts[OCCUPATIONS.index(str(row["id"]).rpartition("/")[2]), group] += 1
    for occupation, stereotype in iris_steer_60.steer_plan(counts):
        for requested in (stereotype, *iris_steer_60.counter_groups(stereotype)):
            item = iris_steer_60.steer_id(occupation, stereotype, requested)
            random = draws("sample", model, item)
            follows = random.random_sample() < MODELS[model][1]
            group = requested if follows else stereotype
            yield _image(model, _STEER, item, 0, group, OCCUPATIONS[occupation])


def _image(model: str, task: str, item: str, sample: int, group: int, occupation: str) -> tuple[_Row, _Row | None]:
    """A row of annotations, and the row of its image; None for a refusal."""
    random = draws("sample", model, task, item, sample)
    chance, seed = random.random_sample(), int(random.randint(1 << 30))
    quality = random.uniform(0.5, 0.95, 4).round(3).tolist()
    row: _Row = {"task": task, "id": item, "sample": sample, "face": 0, "status": "ok", "faces": 1}
    if chance < 0.02:
        return row | {"status": "refused", "faces": 0}, None
    if chance < 0.05:
        row |= {"status": "no_face", "faces": 0, "image_quality": quality[0]}
        image = draw_object("Neat", seed, _SIZE)
    else:
        gender, age, tone = _group(group)
        image = draw_face(gender, age, tone, seed, size=_SIZE, occupation=occupation)
        names = ("image_quality", "face_quality", "prompt_similarity", "reference_similarity")
        row |= {"gender": gender, "age": age, "skin_tone": tone, **dict(zip(names, quality, strict=True))}
    stream = BytesIO()
    image.save(stream, "JPEG", quality=88)
    data = stream.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    cell = {"bytes": data, "path": f"{item.replace('/', '-')}-{sample:03d}.jpg"}
    return row, {"task": task, "id": item, "sample": sample, "sha256": digest, "image": cell}


def _group(group: int) -> tuple[str, str, str]:
    return list(product(GENDERS, AGES, SKIN_TONES))[group]
