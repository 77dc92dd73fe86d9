"""Put images back into a dataset that was published without them, from your own copy of their source.

Some sources may be used but not passed on (FACET, UTKFace). Their datasets hold ids, annotations and crop boxes alone;
this file, which needs nothing but Pillow, datasets and pyarrow, makes the images again:

  python join_images.py --dataset fairspace/iris_ideal_52 --config occupation --source sources --out joined

or, in Python, `join(dataset, "sources")`. A row names its file (`source_file`, below the source's folder), its hash
(`source_sha256`) and the crop (`crop_x`, `crop_y`, `crop_width`, `crop_height` in pixels of the upright image; without
them the whole file); rows made of two files have `left_file`, `left_sha256`, `right_file` and `right_sha256`, and `bar`
if there is one between them. Rows with an image keep it. A missing or different file stops the join with a `JoinError`.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from io import BytesIO
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = 384
HALF_SIZE = 200
"""Width and height of either half of an image made of two files, as in UTKFace's aligned faces."""
_BATCH, _BATCHES = 100, 50
"""Rows held in memory, and such batches in a file."""


class JoinError(ValueError):
    """An image cannot be made again: the message names the row, the file and the remedy."""


def join(rows: Any, source: Path | str) -> Any:
    """The same rows with images: a dataset of the same kind, or an iterator of dicts with `{"bytes", "path"}` images.

    `source` is the folder of the source, or of all sources. JoinError, when the row is reached.
    """
    from datasets import Dataset, Image, IterableDataset

    maker = Maker(Path(source))
    if not isinstance(rows, Dataset | IterableDataset):
        return ({**row, "image": maker.image(row)} for row in rows)
    features = rows.features
    if features is None:
        raise JoinError("the dataset does not say its features; load it with load_dataset")
    features = features.copy()
    if "image" in features:
        rows = rows.cast_column("image", Image(decode=False))
    features["image"] = Image()

    def with_image(row: Mapping[str, Any]) -> dict[str, Any]:
        return {"image": maker.image(row)}

    if isinstance(rows, IterableDataset):
        return rows.map(with_image).cast(features)
    return rows.map(with_image, features=features, writer_batch_size=_BATCH)


class Maker:
    """Makes images of rows from a folder of files."""

    def __init__(self, source: Path) -> None:
        if not source.is_dir():
            raise JoinError(f"{source} is no folder; name the one that holds your copy of the source")
        self.source = source
        self._folders = [source, *sorted(path for path in source.iterdir() if path.is_dir())]

    def image(self, row: Mapping[str, Any]) -> Any:
        """The image of a row, as `{"bytes", "path"}`; None if the row names no file. JoinError if it cannot be made."""
        if row.get("image") is not None:
            return row["image"]
        name = str(row.get("id", "a row"))
        sides = ("left", "right") if row.get("left_file") else ("source",) if row.get("source_file") else ()
        files = [self.read(name, row[f"{side}_file"], row[f"{side}_sha256"]) for side in sides]
        if not files:
            return None
        try:
            if len(files) == 2:
                files = [spliced_jpeg(files[0], files[1], row.get("bar") or 0)]
            elif "crop_x" in row:
                x, y, width, height = (row[f"crop_{part}"] for part in ("x", "y", "width", "height"))
                files = [cropped_jpeg(files[0], (x, y, width, height))]
        except (OSError, ValueError) as error:
            raise JoinError(f"{name}: its image cannot be made: {error}") from error
        return {"bytes": files[0], "path": f"{name.replace('/', '-')}.jpg"}

    def read(self, row: str, file: str, sha256: str) -> bytes:
        """The bytes of a file of the source. JoinError if it is missing or another one."""
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts:
            raise JoinError(f"{row}: {file!r} leads out of the source folder; the dataset is damaged")
        source_file = next((folder / path for folder in self._folders if (folder / path).is_file()), None)
        if source_file is None:
            raise JoinError(f"{row}: no {file} in {self.source} or a folder of it; is your copy complete?")
        data = source_file.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise JoinError(
                f"{row}: {source_file} is not the file that the dataset was made from: its sha256 is not {sha256}; "
                "obtain the same release of the source, unchanged"
            )
        return data


def cropped_jpeg(data: bytes, window: tuple[int, int, int, int]) -> bytes:
    """The window of an image file as a JPEG of `SIZE` x `SIZE`. OSError if it cannot be read."""
    return _jpeg(crop(upright(data), window, SIZE))


def spliced_jpeg(left: bytes, right: bytes, bar: int = 0) -> bytes:
    """The largest central squares of two image files side by side, `HALF_SIZE` wide and high, as one JPEG.

    `bar`: pixels of black between them, as in the authors' pictures, of JPEG quality 75. OSError if one cannot be read.
    """
    from PIL import Image as Images

    both = Images.new("RGB", (2 * HALF_SIZE + bar, HALF_SIZE))
    for place, image in enumerate((upright(left), upright(right))):
        side = min(image.size)
        window = ((image.width - side) // 2, (image.height - side) // 2, side, side)
        both.paste(crop(image, window, HALF_SIZE), (place * (HALF_SIZE + bar), 0))
    return _jpeg(both, 75 if bar else 95)


def upright(data: bytes) -> Image:
    """The image of a file, turned upright by its Exif data, as RGB. OSError if it cannot be read."""
    from PIL import Image as Images
    from PIL import ImageOps

    with Images.open(BytesIO(data)) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def crop(image: Image, window: tuple[int, int, int, int], size: int) -> Image:
    """The window (x, y, width, height, in pixels) of an image, scaled to size x size."""
    from PIL.Image import Resampling

    x, y, width, height = window
    if x < 0 or y < 0 or width < 1 or height < 1 or x + width > image.width or y + height > image.height:
        raise ValueError(f"the window {window} does not lie in an image of {image.width} x {image.height} pixels")
    part = image.crop((x, y, x + width, y + height))
    return part if part.size == (size, size) else part.resize((size, size), Resampling.LANCZOS)


def main(arguments: list[str] | None = None) -> None:
    """Load, join, and write Parquet files that `load_dataset` reads."""
    from datasets import load_dataset

    parser = argparse.ArgumentParser(description="Put images back into a dataset from your own copy of their source.")
    parser.add_argument("--dataset", required=True, help="on the Hub, or a folder of one")
    parser.add_argument("--config", help="of its configs")
    parser.add_argument("--split", default="test")
    parser.add_argument("--revision", help="a tag or commit")
    parser.add_argument("--source", required=True, type=Path, help="the folder of your copy of the source")
    parser.add_argument("--out", required=True, type=Path, help="a new folder")
    options = parser.parse_args(arguments)
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        parser.error(f"{options.out} is not empty; name a new folder")
    try:
        rows = load_dataset(
            options.dataset, options.config, split=options.split, revision=options.revision, streaming=True
        )
    except (ValueError, OSError) as error:  # an unknown config or split, no such dataset, no access
        parser.error(str(error))
    try:
        files = write(join(rows, options.source), options.out, options.split)
    except JoinError as error:
        parser.error(str(error))
    print(f"{options.out}: {files} files")


def write(dataset: Any, out: Path, split: str) -> int:
    """Write a streaming dataset as `<split>-00000.parquet`, ...; the number of files."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from datasets import Image

    rows = iter(dataset.cast_column("image", Image(decode=False)))
    schema = dataset.features.arrow_schema
    out.mkdir(parents=True, exist_ok=True)
    files, batch = 0, list(islice(rows, _BATCH))
    while batch:
        with pq.ParquetWriter(out / f"{split}-{files:05}.parquet", schema) as writer:
            for _ in range(_BATCHES):
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                batch = list(islice(rows, _BATCH))
                if not batch:
                    break
        files += 1
    return files


def _jpeg(image: Image, quality: int = 95) -> bytes:
    stream = BytesIO()
    image.save(stream, "JPEG", quality=quality, comment=b"")
    return stream.getvalue()


if __name__ == "__main__":
    main()
