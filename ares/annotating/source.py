"""Sources of images to annotate: their places and names.

| kind | content | name of each image |
|---|---|---|
| `folder` | files anywhere below a folder | `<task>/<id>/<sample>.png`; an id may contain `/` |
| `parquet` | a file, or `images*.parquet`, else `*.parquet`, below a folder | the columns `task`, `id`, `sample` |

A dataset on the Hub becomes a folder of either kind. With a given task the names have no task part; with
`names="files"` the id is the path or row.
In folders, links that lead out are refused (but for snapshots in the Hub's cache), and linked folders, hidden files and
files without an image extension are skipped. In Parquet `image` is bytes or a struct of `bytes` and `path`; the path is
never opened. `sha256` is the hash that an image's bytes must have.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.ares.reading_ares import SUFFIXES
from fairspace.builders.errors import BuildError

NAMES = ("items", "files")
DEFAULT_TASK = "images"
"""Task of images without one."""
_BATCH = 16
"""Images in memory at a time, beside those handed on."""
_SAMPLES = 2**31


@dataclass(frozen=True)
class ImageSource:
    """A source of images: `kind` (`folder` or `parquet`) and absolute `place`, or `name` and `revision` on the Hub.

    `task` is '' where each image says its own; `names` is `items` for named images, `files` where the id is the place.
    """

    kind: str
    place: str
    task: str = ""
    names: str = "items"
    name: str = ""
    revision: str = ""


class ImageEntry(NamedTuple):
    """An image: its name (`task`, `id`, `sample` from 0) and place: `file` below the source, and row `place` in it.

    `size` in bytes is 0 if unknown, `sha256` is '' or the required hash of its bytes.
    """

    task: str
    id: str
    sample: int
    file: str
    place: int
    size: int
    sha256: str = ""

    @property
    def where(self) -> str:
        """File and place for messages."""
        return f"{self.file}: {self.place}" if self.place else self.file


def open_source(images: Path | str, task: str = "", names: str = "items") -> ImageSource:
    """The source that a command line names. BuildError SOURCE_MISSING, SOURCE_LAYOUT.

    `images`: folder or file, or name of a dataset on the Hub with `@<revision>`; `task`, `names`: see `ImageSource`.
    """
    if names not in NAMES:
        raise BuildError("SOURCE_LAYOUT", str(images), f"names {names!r}", " or ".join(NAMES), "choose one of these")
    path, name, revision = Path(images), "", ""
    if not path.exists():
        name = str(images).partition("@")[0]
        mend = "name a folder, a .parquet file, or a dataset on the Hub as NAMESPACE/NAME@REVISION"
        if name.count("/") > 1 or name.startswith((".", "/", "~")):
            raise BuildError("SOURCE_MISSING", str(images), "nothing there", "images", mend)
        patterns = ["*.parquet", *(f"*{suffix}" for suffix in SUFFIXES)]
        path = fetched(str(images), "dataset", patterns, "SOURCE_MISSING", "a folder, a file or a dataset", mend)
        revision = path.name
    if path.is_file() and path.suffix != ".parquet":
        mend = "unpack it, or name the folder"
        raise BuildError("SOURCE_LAYOUT", str(path), f"a {path.suffix} file", "a .parquet file", mend)
    tables = [path] if path.is_file() else list(path.rglob("*.parquet"))
    shards = any("image" in _opened(file).schema_arrow.names for file in tables)  # others say something about images
    pictures = any(file.suffix.lower() in SUFFIXES for file in path.rglob("*"))
    kind = "parquet" if shards or (tables and not pictures) else "folder"
    return ImageSource(kind, str(path.absolute()), task, names, name, revision)


def list_images(
    source: ImageSource, rename: Callable[[ImageEntry], ImageEntry] = lambda entry: entry
) -> tuple[list[ImageEntry], str]:
    """All entries of a source, and the sha256 of names, places and sizes, which does not depend on the source's path.

    `rename` gives each entry its right name. Errors: BuildError SOURCE_MISSING for none; SOURCE_LAYOUT; SOURCE_VALUE,
    also for a name that comes twice.
    """
    entries, digest, places = [], hashlib.sha256(), dict[tuple[str, str, int], ImageEntry]()
    for entry in map(rename, list_entries(source)):
        if entry.sample >= _SAMPLES:
            expected, mend = f"a number below {_SAMPLES}", "renumber the samples"
            raise BuildError("SOURCE_VALUE", entry.where, f"sample {entry.sample}", expected, mend)
        if (first := places.setdefault(entry[:3], entry)) is not entry:
            what = f"task {entry.task!r}, id {entry.id!r}, sample {entry.sample} again, first at {first.where}"
            raise BuildError("SOURCE_VALUE", entry.where, what, "every image once", "remove or rename all but one")
        digest.update(json.dumps((*entry, "")).encode() + b"\n")  # the empty text ends a line of format 1
        entries.append(entry)
    if not entries:
        what = f"no image; passed over: {passed_over(source) or 'nothing'}"
        raise BuildError("SOURCE_MISSING", source.place, what, f"files in {', '.join(SUFFIXES)}", "save them so")
    return entries, digest.hexdigest()


def passed_over(source: ImageSource) -> str:
    """The files and linked folders of a source that are not taken, by suffix, with their numbers; '' for none."""
    counts, taken = Counter[str](), SUFFIXES if source.kind == "folder" else (".parquet",)
    for folder, folders, files in os.walk(source.place):
        counts["linked folders"] += sum(Path(folder, name).is_symlink() for name in folders)
        for name in files:
            kind = "hidden" if name.startswith(".") else Path(name).suffix.lower() or "without a suffix"
            counts[kind] += kind not in taken
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()) if number)


def list_entries(source: ImageSource) -> Iterator[ImageEntry]:
    """The images in a fixed order. BuildError SOURCE_LAYOUT, SOURCE_VALUE."""
    return _files(source) if source.kind == "folder" else _rows(source)


def contents(source: ImageSource, entries: Sequence[ImageEntry]) -> Iterator[Any]:
    """Input of `reading_ares.read_image` for each entry, in order."""
    root = Path(source.place)
    if source.kind == "folder":
        yield from (root / entry.file for entry in entries)
        return
    for name, group in groupby(entries, key=lambda entry: entry.file):
        of_file = list(group)
        with _opened(root if root.is_file() else root / name) as parquet:
            images = _images(parquet, of_file[0].place)
            for entry, image in zip(of_file, images, strict=False):
                data, called = (image.get("bytes"), image.get("path")) if isinstance(image, Mapping) else (image, "")
                yield None if data is None else {"bytes": data, "path": called or "", "sha256": entry.sha256}


def _files(source: ImageSource) -> Iterator[ImageEntry]:
    root = Path(source.place)
    allowed = [root.resolve()]
    if root.parent.name == "snapshots":
        allowed.append((root.parent.parent / "blobs").resolve())
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        images = (name for name in files if Path(name).suffix.lower() in SUFFIXES and not name.startswith("."))
        for name in sorted(images, key=_order):
            path = Path(folder) / name
            relative = path.relative_to(root).as_posix()
            if path.is_symlink() and not any(path.resolve().is_relative_to(place) for place in allowed):
                mend = "put the image itself into the folder"
                raise BuildError("SOURCE_VALUE", relative, "a link that leads out of the folder", "an image", mend)
            yield ImageEntry(*_named(relative, source), relative, 0, path.stat().st_size if path.exists() else 0)


def _order(name: str) -> tuple[int, int, str]:
    stem = Path(name).stem
    return (0, int(stem), name) if stem.isascii() and stem.isdecimal() else (1, 0, name)


def _named(path: str, source: ImageSource) -> tuple[str, str, int]:
    """Task, id and sample from a path. BuildError SOURCE_LAYOUT."""
    if source.names == "files":
        return source.task or DEFAULT_TASK, path, 0
    parts = path.removesuffix(Path(path).suffix).split("/")
    task = source.task or parts.pop(0)
    sample, item = parts[-1] if parts else "", "/".join(parts[:-1])
    if not item or not (sample.isascii() and sample.isdecimal()) or (len(sample) > 1 and sample[0] == "0"):
        layout = "<id>/<sample>" if source.task else "<task>/<id>/<sample>"
        mend = "name the samples 0, 1, 2, ..., or say that images have no names of items (--names files)"
        raise BuildError("SOURCE_LAYOUT", path, repr(path), f"{layout}, with a sample from 0", mend)
    return task, item, int(sample)


def _rows(source: ImageSource) -> Iterator[ImageEntry]:
    root = Path(source.place)
    files = [root] if root.is_file() else sorted(root.rglob("images*.parquet")) or sorted(root.rglob("*.parquet"))
    for path in files:
        file = path.name if path == root else path.relative_to(root).as_posix()
        with _opened(path) as parquet:
            columns = _key_columns(source, parquet.schema_arrow.names, file)
            kind = parquet.schema_arrow.field("image").type
            stored = pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0
            if not (stored or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
                raise _layout(f"{file}, column image", str(kind), "a struct of bytes and path, or bytes")
            row = 0
            for batch in parquet.iter_batches(10_000, columns=columns or ["image"]):
                values = {name: batch.column(name).to_pylist() for name in columns}
                for i in range(batch.num_rows):
                    cells = {name: column[i] for name, column in values.items()}
                    yield ImageEntry(*_key(source, cells, file, row), file, row, 0, cells.get("sha256") or "")
                    row += 1


def _key_columns(source: ImageSource, present: Sequence[str], where: str) -> list[str]:
    wanted = [] if source.names == "files" else ["id", "sample"] + ([] if source.task else ["task"])
    for column in (*wanted, "image"):
        if column not in present:
            what, expected = f"no column {column!r}", f"it among {', '.join(present)}"
            mend = "rename the columns, or say that images have no names (--names files)"
            raise BuildError("SOURCE_LAYOUT", where, what, expected, mend)
    return wanted + (["sha256"] if "sha256" in present else [])


def _key(source: ImageSource, cells: Mapping[str, Any], file: str, row: int) -> tuple[str, str, int]:
    if source.names == "files":
        return source.task or DEFAULT_TASK, f"{file}/{row}", 0
    task, item, sample = source.task or cells["task"], cells["id"], cells["sample"]
    for what, expected, good in (
        (f"task {task!r}", "a text", isinstance(task, str) and task),
        (f"id {item!r}", "a text", isinstance(item, str) and item),
        (f"sample {sample!r}", "a number from 0", type(sample) is int and sample >= 0),
    ):
        if not good:
            raise BuildError("SOURCE_VALUE", f"{file}: row {row + 1}", what, expected, "mend the row")
    return task, item, sample


def _opened(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)  # else memory grows with what was read
    except (OSError, pa.ArrowInvalid) as error:
        raise _layout(file.name, str(error), "a Parquet file") from error


def _images(parquet: pq.ParquetFile, start: int) -> Iterator[Any]:
    """The images from a row on; reads only the row groups that hold them."""
    group = 0
    while start >= parquet.metadata.row_group(group).num_rows:
        start -= parquet.metadata.row_group(group).num_rows
        group += 1
    groups = list(range(group, parquet.metadata.num_row_groups))
    for batch in parquet.iter_batches(_BATCH, row_groups=groups, columns=["image"]):
        for cell in batch.column(0).slice(min(start, batch.num_rows)):
            yield cell.as_py()
        start = max(0, start - batch.num_rows)


def _layout(where: str, what: str, expected: str) -> BuildError:
    return BuildError("SOURCE_LAYOUT", where, what, expected, "fetch or write the file again")


def fetched(name: str, kind: str, patterns: list[str], code: str, expected: str, mend: str) -> Path:
    """The snapshot of a repository on the Hub: data alone, no code of it.

    `name` may end with `@<revision>`; `kind` is `model` or `dataset`. If it cannot be had, BuildError `code` with
    `expected` and `mend`.
    """
    from huggingface_hub import snapshot_download

    repo, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repo, repo_type=kind, revision=revision or None, allow_patterns=patterns))
    except hub_errors() as error:
        raise BuildError(code, name, str(error).strip().split("\n", 1)[0], expected, mend) from error


def hub_errors() -> tuple[type[Exception], ...]:
    """Errors of the Hub's client: of httpx or its successor; for bad names; offline."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    return cast(type[Exception], HfHubHTTPError.__bases__[0]), HFValidationError, OSError
