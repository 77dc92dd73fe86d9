"""Put images back into a dataset that was published without them, from your own copy of their source.

Some sources may be used but not passed on (FACET, UTKFace). Their datasets hold ids, annotations and crop boxes alone;
this file, which needs nothing but Pillow, datasets and pyarrow, makes the images again:

  python join_images.py --dataset fairspace/iris_ideal_52 --config occupation --source sources --out joined

or, in Python, `join(dataset, "sources")`. A row names its file (`source_file`, below the source's folder), its hash
(`source_sha256`) and the crop (`crop_x`, `crop_y`, `crop_width`, `crop_height` in pixels of the upright image; without
them the whole file); rows made of two files have `left_file`, `left_sha256`, `right_file` and `right_sha256`. Rows with
an image keep it. A missing or different file stops the join with a `JoinError`.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = 384
HALF_SIZE = 200
"""Width and height of either half of an image made of two files, as in UTKFace's aligned faces."""
_ROWS = 5000
_BATCH = 100


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

    def image(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """The image of a row, as `{"bytes", "path"}`; None if the row names no file. JoinError if it cannot be made."""
        if row.get("image") is not None:
            kept: dict[str, Any] = row["image"]
            return kept
        name = str(row.get("id", "a row"))
        path = f"{name.replace('/', '-')}.jpg"
        if row.get("left_file"):
            left = self.read(name, row["left_file"], row["left_sha256"])
            right = self.read(name, row["right_file"], row["right_sha256"])
            return {"bytes": _made(name, lambda: spliced_jpeg(left, right)), "path": path}
        if not row.get("source_file"):
            return None
        data = self.read(name, row["source_file"], row["source_sha256"])
        if "crop_x" not in row:
            return {"bytes": data, "path": path}
        window = (row["crop_x"], row["crop_y"], row["crop_width"], row["crop_height"])
        return {"bytes": _made(name, lambda: cropped_jpeg(data, window)), "path": path}

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


def cropped_jpeg(data: bytes, window: tuple[int, int, int, int], size: int = SIZE) -> bytes:
    """The window of an image file as a JPEG of size x size, or the file if it is one. OSError if it cannot be read."""
    if window == (0, 0, size, size) and plain_jpeg_size(data) == (size, size):
        return data
    return _jpeg(crop(upright(data), window, size))


def plain_jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a whole JPEG file of three colours without Exif data; None for anything else."""
    place = 2
    if data[:2] != b"\xff\xd8" or data[-2:] != b"\xff\xd9":
        return None
    while place + 10 < len(data) and data[place] == 0xFF:
        kind = data[place + 1]
        if kind in _FRAMES:
            height, width = int.from_bytes(data[place + 5 : place + 7]), int.from_bytes(data[place + 7 : place + 9])
            return (width, height) if data[place + 4] == 8 and data[place + 9] == 3 else None
        if kind not in _SEGMENTS or data[place + 4 : place + 8] == b"Exif":
            return None
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
    return None


def spliced_jpeg(left: bytes, right: bytes, size: int = HALF_SIZE) -> bytes:
    """Two image files side by side as one JPEG of 2 size x size. OSError if one cannot be read."""
    return _jpeg(splice(upright(left), upright(right), size))


def upright(data: bytes) -> Image:
    """The image of a file, turned upright by its Exif data, as RGB. OSError if it cannot be read."""
    from PIL import Image as Images
    from PIL import ImageOps

    with Images.open(BytesIO(data)) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def upright_size(data: bytes) -> tuple[int, int]:
    """Width and height of an image file once it is upright. OSError if it cannot be read."""
    known = plain_jpeg_size(data)
    if known is not None:
        return known
    from PIL import Image as Images  # only here: where nothing else is done, looking it up takes most of the time

    with Images.open(BytesIO(data)) as image:
        turned = image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
        return (image.height, image.width) if turned else image.size


def crop(image: Image, window: tuple[int, int, int, int], size: int = SIZE) -> Image:
    """The window (x, y, width, height, in pixels) of an image, scaled to size x size."""
    from PIL.Image import Resampling

    x, y, width, height = window
    if x < 0 or y < 0 or width < 1 or height < 1 or x + width > image.width or y + height > image.height:
        raise ValueError(f"the window {window} does not lie in an image of {image.width} x {image.height} pixels")
    part = image.crop((x, y, x + width, y + height))
    return part if part.size == (size, size) else part.resize((size, size), Resampling.LANCZOS)


def splice(left: Image, right: Image, size: int = HALF_SIZE) -> Image:
    """The largest central squares of two images, each scaled to size x size, side by side."""
    from PIL import Image as Images

    both = Images.new("RGB", (2 * size, size))
    for place, image in enumerate((left, right)):
        side = min(image.size)
        window = ((image.width - side) // 2, (image.height - side) // 2, side, side)
        both.paste(crop(image, window, size), (place * size, 0))
    return both


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

    rows = dataset.cast_column("image", Image(decode=False))
    schema = dataset.features.arrow_schema
    out.mkdir(parents=True, exist_ok=True)
    writer, written, files = None, 0, 0
    for batch in _batches(rows):
        if writer is None or written >= _ROWS:
            if writer is not None:
                writer.close()
            writer, written, files = pq.ParquetWriter(out / f"{split}-{files:05}.parquet", schema), 0, files + 1
        writer.write_table(pa.Table.from_pylist(batch, schema=schema))
        written += len(batch)
    if writer is not None:
        writer.close()
    return files


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _made(row: str, make: Any) -> bytes:
    try:
        data: bytes = make()
    except (OSError, ValueError) as error:
        raise JoinError(f"{row}: its image cannot be made: {error}") from error
    return data


def _jpeg(image: Image) -> bytes:
    stream = BytesIO()
    image.save(stream, "JPEG", quality=95, comment=b"")
    return stream.getvalue()


_ORIENTATION = 0x0112
"""EXIF tag of the camera's orientation."""
_FRAMES = (0xC0, 0xC1, 0xC2)
"""JPEG segments with the size: baseline, extended and progressive."""
_SEGMENTS = frozenset((0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xEE), 0xEF))
"""JPEG segments allowed before: tables, comments, and applications' data but Adobe's, which may mean CMYK."""


if __name__ == "__main__":
    main()
