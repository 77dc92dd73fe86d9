"""Datasets in the layout of a build, whole or in part, with a few bytes for each image."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.genres import plan as genres
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.registry import dataset
from fairspace.builders.stereotypical_bias import plan as stereotypical_bias

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
Columns = Mapping[str, Sequence[str]]


def image(item: str) -> bytes:
    return f"image of {item}".encode()


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


def write(root: Path, benchmark: str, *, without: Collection[str] = (), sample: bool = False, per: int = 5000) -> Path:
    """Every dataset of a benchmark below `root`; the ids `without` have a row and no image."""
    known: dict[str, list[tuple[str, str, list[Path]]]] = {}
    for name, config, split, columns in splits(benchmark):
        files = write_split(root / name / config, split, columns, without=without, per=per)
        known.setdefault(name, []).append((config, split, files))
    for name, built in known.items():
        write_manifest(root / name, name, built, sample=sample)
    return root


def write_split(
    folder: Path, split: str, columns: Columns, *, without: Collection[str] = (), per: int = 5000, group: int = 100
) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    ids, files = columns["id"], []
    count = -(-len(ids) // per)
    for number in range(count):
        part = slice(number * per, (number + 1) * per)
        cells = [None if i in without else {"bytes": image(i), "path": f"{i}.jpg"} for i in ids[part]]
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
