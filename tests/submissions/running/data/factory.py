"""Datasets in the layout of a build, whole or in part, with a few bytes or a small picture for each image."""

import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from fairspace.builders.genres import plan as genres
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.registry import dataset
from fairspace.builders.stereotypical_bias import plan as stereotypical_bias

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
Columns = Mapping[str, Sequence[str]]


def image(item: str) -> bytes:
    return f"image of {item}".encode()


def picture(item: str) -> bytes:
    noise = np.random.default_rng(list(item.encode())).integers(0, 256, (8, 8, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG")
    return stream.getvalue()


def some(ids: Sequence[str]) -> list[int]:
    """48 places spread evenly; of pairs of images the first six, both."""
    return list(range(12)) if ids[0].startswith("pair/") else [number * len(ids) // 48 for number in range(48)]


def splits(benchmark: str) -> Iterator[tuple[str, str, str, Columns]]:
    """Dataset, config, split and text columns of every split with images that a benchmark needs."""
    if benchmark == "genres":
        pairs = genres.pairs(genres.PAPER)
        yield "genres", "pairs", "test", {n: pairs[n].to_pylist() for n in ("id", "text_prompt")}
    if benchmark == "iris":
        ids = iris_ideal_52.image_ids("v1").to_pylist()
        yield "iris_ideal_52", "occupation", "test", {"id": ids, "question": [iris_ideal_52.QUESTION] * len(ids)}
        sides = [f"pair/{number:04d}/{side}" for number in range(iris_steer_60.PAIRS) for side in "ab"]
        yield "iris_steer_60", "understanding", "test", {"id": sides}
    if benchmark == "stereotypical_bias":
        for attribute in stereotypical_bias.ATTRIBUTES:
            faces = stereotypical_bias.pairs(attribute)["pair"].to_pylist()
            yield benchmark, "vision", attribute, {"id": [f"vision_{attribute}/{face}" for face in faces]}
        asked = {a: stereotypical_bias.items(f"language_{a}") for a in stereotypical_bias.ATTRIBUTES}
        prompts = {f"{a}_prompt": items["prompt"].to_pylist() for a, items in asked.items()}
        ids = [item.replace("language_gender", "persona") for item in asked["gender"]["id"].to_pylist()]
        yield benchmark, "persona", "test", {"id": ids} | prompts


def write(
    root: Path,
    benchmark: str,
    *,
    without: Collection[str] = (),
    sample: bool = False,
    per: int = 5000,
    places: Callable[[Sequence[str]], list[int]] | None = None,
    draw: Callable[[str], bytes] = image,
) -> Path:
    """Every dataset of a benchmark below `root`, or its rows at `places`; the ids `without` have no image."""
    known: dict[str, list[tuple[str, str, list[Path]]]] = {}
    for name, config, split, columns in splits(benchmark):
        if places:
            kept = places(columns["id"])
            columns = {column: [values[place] for place in kept] for column, values in columns.items()}
        files = write_split(root / name / config, split, columns, without=without, per=per, draw=draw)
        known.setdefault(name, []).append((config, split, files))
    for name, built in known.items():
        write_manifest(root / name, name, built, sample=sample)
    return root


def write_split(
    folder: Path,
    split: str,
    columns: Columns,
    *,
    without: Collection[str] = (),
    per: int = 5000,
    group: int = 100,
    draw: Callable[[str], bytes] = image,
) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    ids, files = columns["id"], []
    count = -(-len(ids) // per)
    for number in range(count):
        part = slice(number * per, (number + 1) * per)
        cells = [None if i in without else {"bytes": draw(i), "path": f"{i}.jpg"} for i in ids[part]]
        texts = {name: pa.array(values[part]) for name, values in columns.items()}
        files.append(folder / f"{split}-{number:05}-of-{count:05}.parquet")
        pq.write_table(pa.table({**texts, "image": pa.array(cells, IMAGE)}), files[-1], row_group_size=group)
    return files


def write_manifest(
    folder: Path,
    name: str,
    built: Sequence[tuple[str, str, Sequence[Path]]],
    *,
    sample: bool = False,
    revision: str = "",
) -> None:
    entries = [
        {
            "config": config,
            "split": split,
            "shards": [{"file": file.relative_to(folder).as_posix(), "bytes": file.stat().st_size} for file in files],
        }
        for config, split, files in built
    ]
    about = {"dataset": name, "revision": revision or dataset(name).revision, "sample": sample}
    text = json.dumps({**about, "splits": entries, "notes": ["This is a dataset for tests."]})
    (folder / "manifest.json").write_text(text, encoding="utf-8")
