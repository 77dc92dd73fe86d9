"""Contact sheets for people: images of each split with their labels, and rejected candidates.

IRIS verified its crops "through manual sampling" (appendix C.1), GENRES reviews every image by hand (appendix B.2, step
3). A sheet shows up to `CELLS` rows, taken evenly from the groups by the hash of their ids.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.dataset import BuiltSplit, Manifest

if TYPE_CHECKING:
    from PIL.Image import Image

CELLS = 48
"""Rows on a sheet."""
_SIDE, _GAP = 176, 8
_SHEET_WIDTH = 1800
_FONT, _LINE, _LINES = 13, 16, 9


class Cell(NamedTuple):
    """A picture of a sheet: image files side by side (None where a row has none), and the lines below."""

    images: Sequence[bytes | None]
    lines: Sequence[str]


def write_sheets(out: Path, manifest: Manifest) -> None:
    """Write `review/<config>-<split>.png` per split with images, and `review/rejected-<config>.png`.

    `out` is the build's folder, whose `.build/` has the thumbnails of rejected candidates. Equal rows give equal bytes,
    with the same version of Pillow.
    """
    for split in manifest.splits:
        if split.shards and (cells := split_cells(out, split)):
            title = f"{split.config}/{split.split}: {len(cells)} of {split.rows} rows"
            _write(out / "review" / f"{split.config}-{split.split}.png", title, cells)
    for folder in sorted((out / ".build" / "made" / "rejected").glob("*")):
        if cells := list(_rejected_cells(folder)):
            title = f"{folder.name}: {len(cells)} of the rejected candidates"
            _write(out / "review" / f"rejected-{folder.name}.png", title, cells)


def split_cells(out: Path, split: BuiltSplit) -> list[Cell]:
    """The cells of a split, by id; none if it has no images."""
    from datasets import Features

    files = [out / shard.file for shard in split.shards]
    features = Features.from_arrow_schema(pq.read_schema(files[0]))
    images = [name for name, feature in features.items() if type(feature).__name__ == "Image"]
    if not images:
        return []
    labels = {name: feature.names for name, feature in features.items() if type(feature).__name__ == "ClassLabel"}
    known = ["id", *labels, *(name for name in ("seed",) if name in features)]  # the seed is what --refused needs
    wanted = [*known, *(f"{name}.path" for name in images)]
    rows = pa.concat_tables(pq.ParquetFile(file).read(columns=wanted) for file in files)
    shown = [
        (place, row)
        for place, row in enumerate(rows.to_pylist())
        if any(row[name] and row[name]["path"] is not None for name in images)
    ]
    chosen = dict(_spread(shown, list(labels)))
    cells = []
    start = 0
    for file in files:
        with pq.ParquetFile(file) as parquet:
            for number in range(parquet.num_row_groups):
                end = start + parquet.metadata.row_group(number).num_rows
                here = [place for place in chosen if start <= place < end]
                if here:
                    group = parquet.read_row_group(number, columns=images)
                    for place in here:
                        (values,) = group.slice(place - start, 1).to_pylist()
                        row, data = chosen[place], [values[name] and values[name]["bytes"] for name in images]
                        seed = f" (seed {row['seed']})" if row.get("seed") is not None else ""
                        cells.append(Cell(data, [row["id"] + seed, ", ".join(said(row, labels))]))
                start = end
    return sorted(cells, key=lambda cell: cell.lines[0])


def _spread(rows: Sequence[tuple[int, dict[str, Any]]], labels: Sequence[str]) -> list[tuple[int, dict[str, Any]]]:
    """At most `CELLS` rows: repeatedly the one whose labels were shown least so far, ties by the hash of its id."""
    waiting = sorted(rows, key=lambda row: hashlib.sha256(row[1]["id"].encode()).digest())
    used: dict[tuple[str, Any], int] = {}
    chosen: list[tuple[int, dict[str, Any]]] = []
    while waiting and len(chosen) < CELLS:
        row = min(waiting, key=lambda row: sum(used.get((name, row[1][name]), 0) for name in labels))
        waiting.remove(row)
        chosen.append(row)
        for name in labels:
            used[name, row[1][name]] = used.get((name, row[1][name]), 0) + 1
    return chosen


def said(row: Mapping[str, Any], labels: Mapping[str, Sequence[str]]) -> list[str]:
    """The labels in words: yes and no with the column's name, a missing one as a question."""
    words = []
    for column, names in labels.items():
        what = column.removeprefix("has_").replace("_", " ")
        label = f"{what}?" if row[column] is None else names[row[column]]
        words.append({"yes": what, "no": f"no {what}"}.get(label, label))
    return words


def _rejected_cells(folder: Path) -> Iterator[Cell]:
    about = {file: json.loads(file.with_suffix(".json").read_text(encoding="utf-8")) for file in folder.glob("*.png")}
    for file, told in sorted(about.items(), key=lambda pair: (pair[1]["key"], pair[1]["attempt"])):
        yield Cell([file.read_bytes()], [told["key"], f"attempt {told['attempt'] + 1}: {told['reason']}"])


def _write(file: Path, title: str, cells: Sequence[Cell]) -> None:
    from PIL import Image as Images
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default(_FONT)
    width = (_SIDE + _GAP) * max(len(cell.images) for cell in cells)
    height = _SIDE + _LINES * _LINE + 2 * _GAP
    columns = max(1, min(len(cells), _SHEET_WIDTH // width))
    sheet = Images.new("RGB", (columns * width + _GAP, -(-len(cells) // columns) * height + 2 * _LINE), "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP), title, "black", font)
    for number, cell in enumerate(cells):
        left, top = _GAP + number % columns * width, 2 * _LINE + number // columns * height
        for place, data in enumerate(cell.images):
            picture = _thumbnail(data) if data else Images.new("RGB", (_SIDE, _SIDE), "lightgrey")
            sheet.paste(picture, (left + place * (_SIDE + _GAP), top))
        lines = [part for line in cell.lines for part in wrap(line, width // 8)]  # no letter is wider than 8 pixels
        for place, line in enumerate(lines[:_LINES]):
            draw.text((left, top + _SIDE + _GAP + place * _LINE), line, "black", font)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    sheet.save(part, "PNG")
    part.replace(file)


def _thumbnail(data: bytes) -> Image:
    from PIL import Image as Images

    with Images.open(BytesIO(data)) as image:
        small = image.convert("RGB")
    small.thumbnail((_SIDE, _SIDE))
    return small
