"""Which images are annotated: where they lie, and what each is called.

Four kinds of sources, each read by a module of its own:

| kind | what | a name for each image |
|---|---|---|
| `folder` | files anywhere below a folder | `<task>/<id>/<sample>.png`; an id may contain `/` |
| `parquet` | `images*.parquet`, else `*.parquet`, of a folder, or a file | the columns `task`, `id`, `sample` |
| `webdataset` | `*.tar` of a folder, or a file | the key `<task>/<id>/<sample>`, or these in `<key>.json` |
| `dataset` | a dataset on the Hub, or a local copy of one | as `parquet` |

With a given task the names have no task part. With `names="files"` an image needs no name: its id is its path, its
key, or its row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from fairspace.builders.errors import BuildError

KINDS = ("folder", "parquet", "webdataset", "dataset")
COLUMNS = {"task": "task", "id": "id", "sample": "sample", "image": "image"}
NAMES = ("items", "files")
DEFAULT_TASK = "images"
"""The task of images without one."""


@dataclass(frozen=True)
class Source:
    """A source of images.

    Args:
        kind: one of `KINDS`.
        place: absolute path, or name of a dataset on the Hub.
        task: of all images; '' where each says its own.
        names: `items` where each image has its name, `files` where its id is where it lies.
        columns: what the columns `task`, `id`, `sample` and `image` are called.
        config: of a dataset; '' for its only one.
        split: of a dataset.
        revision: of a dataset on the Hub.
    """

    kind: str
    place: str
    task: str = ""
    names: str = "items"
    columns: Mapping[str, str] = field(default_factory=lambda: dict(COLUMNS))
    config: str = ""
    split: str = "train"
    revision: str = ""


class Entry(NamedTuple):
    """An image: its name, and where it lies.

    Args:
        task: of the benchmark.
        id: of the item.
        sample: from 0.
        file: that holds it, below the source.
        place: row or byte where it begins there.
        size: in bytes, 0 where that is not known, -1 where there is no image.
        sha256: that its bytes must have; '' if it is not said.
        member: what the file calls it; '' likewise.
    """

    task: str
    id: str
    sample: int
    file: str
    place: int
    size: int
    sha256: str = ""
    member: str = ""

    @property
    def where(self) -> str:
        """File and place for messages."""
        return f"{self.file}: {self.place}" if self.place else self.file


def open_source(images: Path | str, **choices: Any) -> Source:
    """What a command line names.

    Args:
        images: a folder or file, or the name of a dataset on the Hub, with `@<revision>` at its end.
        choices: fields of `Source`; `kind` is found out where it is left out.

    Errors: BuildError SOURCE_MISSING, SOURCE_LAYOUT.
    """
    given: dict[str, Any] = {name: value for name, value in choices.items() if value}
    if given.get("names", "items") not in NAMES or given.get("kind", "folder") not in KINDS:
        raise BuildError("SOURCE_LAYOUT", str(images), str(given), f"{KINDS} and {NAMES}", "choose one of these")
    if unknown := set(given.get("columns", {})) - set(COLUMNS):
        expected = f"names for {', '.join(COLUMNS)}"
        raise BuildError("SOURCE_LAYOUT", "columns", f"{sorted(unknown)}", expected, "name one of these")
    given["columns"] = {**COLUMNS, **given.get("columns", {})}
    path = Path(images)
    if path.exists():
        kind = given.pop("kind", None) or _kind(path)
        return Source(kind, str(path.absolute()), **given)
    name, _, revision = str(images).partition("@")
    if given.pop("kind", "dataset") != "dataset" or name.count("/") > 1 or name.startswith((".", "/", "~")):
        mend = "name a folder, a .parquet or .tar file, or a dataset on the Hub"
        raise BuildError("SOURCE_MISSING", str(images), "nothing there", "images", mend)
    return Source("dataset", name, revision=_commit(name, revision), **given)


def _commit(name: str, revision: str) -> str:
    """The commit that a branch or tag of a dataset stands for now; offline what was given, for the cache knows it."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import OfflineModeIsEnabled

    from fairspace.ares.annotating.model import hub_errors

    try:
        return HfApi().dataset_info(name, revision=revision or None).sha or revision
    except OfflineModeIsEnabled:
        return revision
    except hub_errors() as error:
        said = str(error).strip().split("\n", 1)[0]
        mend = "name a folder, a .parquet or .tar file, or a dataset on the Hub as NAMESPACE/NAME@REVISION"
        raise BuildError("SOURCE_MISSING", name, said, "a folder, a file or a dataset", mend) from error


def _kind(path: Path) -> str:
    if path.is_file():
        kinds = {".parquet": "parquet", ".tar": "webdataset"}
        if path.suffix not in kinds:
            mend = "unpack it, or name the folder"
            raise BuildError("SOURCE_LAYOUT", str(path), f"a {path.suffix} file", "a .parquet or .tar file", mend)
        return kinds[path.suffix]
    if any(path.glob("*.parquet")):
        return "parquet"
    if any(path.glob("*.tar")):
        return "webdataset"
    card = path / "README.md"
    described = card.is_file() and card.read_text(encoding="utf-8", errors="replace").startswith("---")
    return "dataset" if described or (path / "dataset_info.json").is_file() else "folder"


def reader(source: Source) -> ModuleType:
    """The module of its kind, with `entries(source)` and `contents(source, entries)`."""
    from importlib import import_module

    return import_module(f"fairspace.ares.annotating.{source.kind}")


def contents(source: Source, entries: list[Entry]) -> Iterator[Any]:
    """What `reading_ares.read_image` takes, for each entry, in order."""
    yield from reader(source).contents(source, entries)


def named(path: str, source: Source, where: str) -> tuple[str, str, int]:
    """Task, id and sample that a path without its extension says. BuildError SOURCE_LAYOUT if it does not."""
    if source.names == "files":
        return source.task or DEFAULT_TASK, path, 0
    parts = path.split("/")
    task = source.task or parts.pop(0)
    sample, item = parts[-1] if parts else "", "/".join(parts[:-1])
    if not item or not (sample.isascii() and sample.isdecimal()) or (len(sample) > 1 and sample[0] == "0"):
        layout = "<id>/<sample>" if source.task else "<task>/<id>/<sample>"
        mend = "name the samples 0, 1, 2, ..., or say that images have no names of items (--names files)"
        raise BuildError("SOURCE_LAYOUT", where, repr(path), f"{layout}, with a sample from 0", mend)
    return task, item, int(sample)
