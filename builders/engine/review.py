"""Contact sheets for people: a spread of each split's images with their labels, and candidates that were rejected.

IRIS verified its crops "through manual sampling" (appendix C.1), GENRES reviews every image by hand (appendix B.2, step
3). A sheet shows up to 48 rows, taken evenly from the groups by the hash of their ids: the same ones on every run.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from fairspace.builders.engine.dataset import BuiltSplit, Manifest

if TYPE_CHECKING:
    from PIL.Image import Image

CELLS = 48
"""Rows on a sheet."""
_HEIGHT, _WIDEST, _NARROWEST = 176, 352, 200
"""Of a thumbnail, in pixels; a cell is at least as wide as the narrowest, for its caption."""
_SHEET_WIDTH = 1800
_FONT, _LINE, _LINES, _GAP = 13, 16, 9, 8


@dataclass(frozen=True, order=True)
class LabelledRow:
    """A row that may be shown; rows sort by the hash of their id."""

    digest: str
    id: str
    labels: tuple[int, ...]
    shard: int
    row_group: int
    row: int


@dataclass(frozen=True)
class Cell:
    """A picture of a sheet: images side by side (None where a row has none), and the lines below."""

    images: Sequence[Image | None]
    lines: Sequence[str]


def write_sheets(out: Path, manifest: Manifest) -> list[Path]:
    """Write `review/<config>-<split>.png` per split with images, `review/rejected-<config>.png` from the made images.

    Args:
        out: the build's folder; thumbnails of rejected candidates are read from its `.build/`.
        manifest: names the splits and their shards.

    Returns: the sheets. Equal rows give equal bytes, with the same version of Pillow.
    """
    written = []
    for split in manifest.splits:
        if split.shards and (cells := _split_cells(out, split)):
            file = out / "review" / f"{split.config}-{split.split}.png"
            written.append(_write(file, f"{split.config}/{split.split}: {len(cells)} of {split.rows} rows", cells))
    for folder in sorted((out / ".build" / "made" / "rejected").glob("*")):
        if cells := list(_rejected_cells(folder)):
            file = out / "review" / f"rejected-{folder.name}.png"
            written.append(_write(file, f"{folder.name}: {len(cells)} of the rejected candidates", cells))
    return written


def draw_sheet(title: str, cells: Sequence[Cell]) -> Image:
    """A sheet: title, then the cells row by row."""
    from PIL import Image as Images
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default(_FONT)
    pictures = [_beside(cell.images) for cell in cells]
    width = max(_NARROWEST, *(picture.width for picture in pictures))
    columns = max(1, min(len(cells), _SHEET_WIDTH // (width + _GAP)))
    captions = [_wrapped(cell.lines, width, font) for cell in cells]
    top_of_caption = max(picture.height for picture in pictures) + _GAP // 2
    height = top_of_caption + max(map(len, captions)) * _LINE + _GAP // 2
    rows = -(-len(cells) // columns)
    sheet = Images.new("RGB", (columns * (width + _GAP) + _GAP, rows * (height + _GAP) + 2 * _LINE + _GAP), "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP), title, "black", font)
    for number, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        left = _GAP + number % columns * (width + _GAP)
        top = 2 * _LINE + number // columns * (height + _GAP)
        sheet.paste(picture, (left, top))
        for place, line in enumerate(caption):
            draw.text((left, top + top_of_caption + place * _LINE), line, "black", font)
    return sheet


def _split_cells(out: Path, split: BuiltSplit) -> list[Cell]:
    """The cells of a split; none if it has no images."""
    from datasets import Features

    files = [out / shard.file for shard in split.shards]
    features = Features.from_arrow_schema(pq.read_schema(files[0]))
    images = [name for name, feature in features.items() if type(feature).__name__ == "Image"]
    if not images:
        return []
    labels = {name: feature.names for name, feature in features.items() if type(feature).__name__ == "ClassLabel"}
    chosen = sorted(spread(labelled_rows(files, images, list(labels))), key=lambda row: row.id)
    wanted: dict[tuple[int, int], list[LabelledRow]] = {}
    for row in chosen:
        wanted.setdefault((row.shard, row.row_group), []).append(row)
    shown: dict[LabelledRow, list[Image | None]] = {}
    seed = [name for name in ("seed",) if name in features]  # what --refused needs, to have an image made again
    seeds: dict[LabelledRow, str] = {}
    for (shard, row_group), members in sorted(wanted.items()):
        with pq.ParquetFile(files[shard]) as file:
            table = file.read_row_group(row_group, columns=[*images, *seed])
        for row in members:
            values = table.slice(row.row, 1).to_pylist()[0]
            shown[row] = [_thumbnail(values[name]) for name in images]
            if any(values[name] is not None for name in seed):
                seeds[row] = f" (seed {values['seed']})"
    return [Cell(shown[row], [row.id + seeds.get(row, ""), ", ".join(_said(row, labels))]) for row in chosen]


def labelled_rows(files: Sequence[Path], images: Sequence[str], labels: Sequence[str]) -> Iterator[LabelledRow]:
    """All rows that have an image. The images themselves are not read: their paths tell that they are there."""
    paths = [f"{name}.path" for name in images]
    for shard, path in enumerate(files):
        with pq.ParquetFile(path) as file:
            for row_group in range(file.num_row_groups):
                table = file.read_row_group(row_group, columns=["id", *labels, *paths])
                shown = zip(*(table[name].to_pylist() for name in images), strict=True)
                values = zip(shown, *(table[name].to_pylist() for name in ["id", *labels]), strict=True)
                for number, (there, name, *codes) in enumerate(values):
                    if any(row is not None and row["path"] is not None for row in there):
                        known = tuple(-1 if code is None else code for code in codes)
                        yield LabelledRow(
                            hashlib.sha256(name.encode()).hexdigest(), name, known, shard, row_group, number
                        )


def spread(rows: Iterator[LabelledRow]) -> list[LabelledRow]:
    """At most `CELLS` rows: the first of every group, then the second, and so on, so that the labels come out even."""
    groups: dict[tuple[int, ...], list[LabelledRow]] = {}
    for row in rows:
        members = groups.setdefault(row.labels, [])
        members.append(row)
        needed = 1 if len(groups) >= CELLS else CELLS
        if len(members) >= 4 * needed:
            members[:] = heapq.nsmallest(needed, members)
    for members in groups.values():
        members[:] = heapq.nsmallest(CELLS, members)
    chosen: list[LabelledRow] = []
    used = Counter[tuple[int, int]]()
    for turn in range(CELLS):
        coming = [members[turn] for members in groups.values() if len(members) > turn]
        while coming and len(chosen) < CELLS:
            row = min(coming, key=lambda row: (sum(used[label] for label in enumerate(row.labels)), row.digest))
            coming.remove(row)
            chosen.append(row)
            used.update(enumerate(row.labels))
    return chosen


def _said(row: LabelledRow, labels: Mapping[str, Sequence[str]]) -> list[str]:
    """The labels in words: those of yes and no with the column's name, a missing one as a question."""
    said = []
    for code, (column, names) in zip(row.labels, labels.items(), strict=True):
        what = column.removeprefix("has_").replace("_", " ")
        label = names[code] if code >= 0 else f"{what}?"
        said.append({"yes": what, "no": f"no {what}"}.get(label, label))
    return said


def _rejected_cells(folder: Path) -> Iterator[Cell]:
    descriptions = {
        file: json.loads(file.with_suffix(".json").read_text(encoding="utf-8")) for file in folder.glob("*.png")
    }
    for file, said in sorted(descriptions.items(), key=lambda pair: (pair[1]["key"], pair[1]["attempt"])):
        lines = [said["key"], f"attempt {said['attempt'] + 1}: {said['reason']}"]
        yield Cell([_thumbnail({"bytes": file.read_bytes()})], lines)


def _thumbnail(value: Mapping[str, Any] | None) -> Image | None:
    from PIL import Image as Images

    if value is None or value.get("bytes") is None:
        return None
    with Images.open(BytesIO(value["bytes"])) as image:
        small = image.convert("RGB")
    small.thumbnail((_WIDEST, _HEIGHT))
    return small


def _beside(images: Sequence[Image | None]) -> Image:
    """The images in a row; a grey area where there is none."""
    from PIL import Image as Images

    size = next((image.size for image in images if image), (_HEIGHT, _HEIGHT))
    shown = [image or Images.new("RGB", size, "lightgrey") for image in images]
    width = sum(image.width for image in shown) + _GAP // 2 * (len(shown) - 1)
    row = Images.new("RGB", (width, max(image.height for image in shown)), "white")
    left = 0
    for image in shown:
        row.paste(image, (left, 0))
        left += image.width + _GAP // 2
    return row


def _wrapped(lines: Sequence[str], width: int, font: Any) -> list[str]:
    """The lines broken where they are wider than a cell; what does not fit in its lines ends in an ellipsis."""
    fitted: list[str] = []
    for line in lines:
        rest = line
        while rest:
            end = _fitting(rest, width, font)
            breaks = [rest.rfind(" ", 0, end + 1), *(rest.rfind(mark, 0, end) + 1 for mark in "/_-")]
            end = max(breaks) if end < len(rest) and max(breaks) > 0 else end
            fitted.append(rest[:end])
            rest = rest[end:].lstrip()
    if len(fitted) > _LINES:
        fitted = [*fitted[: _LINES - 1], f"{fitted[_LINES - 1][:-2]}…"]
    return fitted


def _fitting(text: str, width: int, font: Any) -> int:
    """How many characters fit in the width, at least one; a longer beginning is wider, so that halving finds it."""
    return max(1, bisect_right(range(1, len(text) + 1), width, key=lambda end: font.getlength(text[:end])))


def _write(file: Path, title: str, cells: Sequence[Cell]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    draw_sheet(title, cells).save(part, "PNG")
    part.replace(file)
    return file
