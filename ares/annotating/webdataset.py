"""Images in tar files of WebDataset's layout: members of one sample stand together and share the name up to a dot.

The key names the image, `<task>/<id>/<sample>`, unless `<key>.json` has `task`, `id` and `sample`. A sample with a name
in JSON and without an image is one whose model gave none.

The files are read by offset, so that work can begin anywhere in them; WebDataset's own library reads them from the
start only. So they must not be compressed.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from fairspace.ares.annotating.source import Entry, Source, named
from fairspace.ares.reading_ares import SUFFIXES
from fairspace.builders.errors import BuildError

_MEMBER = re.compile(r"((?:.*/)?[^./][^./]*)\.([^/]*)", re.DOTALL)
"""Key and field of a member's name: WebDataset's rule."""
_LARGEST_JSON = 2**20


def entries(source: Source) -> Iterator[Entry]:
    """The samples, file by file, in the order of their files. BuildError SOURCE_LAYOUT."""
    for file in _files(source):
        try:
            with tarfile.open(file, "r:") as archive:
                members = ((*_split(member.name), member) for member in _members(archive))
                for key, sample in groupby((each for each in members if each[0]), key=lambda each: each[0]):
                    yield from _entry(source, file, archive, key, [(name, member) for _, name, member in sample])
        except tarfile.TarError as error:
            mend = "unpack a compressed file, or fetch a damaged one again"
            raise BuildError("SOURCE_LAYOUT", file.name, str(error), "an uncompressed tar file", mend) from error


def contents(source: Source, wanted: Sequence[Entry]) -> Iterator[dict[str, Any] | None]:
    """Their bytes; None where a sample has no image."""
    root = Path(source.place)
    for file, group in groupby(wanted, key=lambda entry: entry.file):
        with (root if root.is_file() else root / file).open("rb") as stream:
            for entry in group:
                stream.seek(entry.place)
                yield {"bytes": stream.read(entry.size), "path": entry.member} if entry.size >= 0 else None


def _files(source: Source) -> list[Path]:
    root = Path(source.place)
    return [root] if root.is_file() else sorted(root.glob("*.tar"))


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Its plain files; what was read is forgotten, so that memory does not grow with the file."""
    while (member := archive.next()) is not None:
        if member.isreg() and not member.issparse():
            yield member
        archive.members = []  # type: ignore[attr-defined]


def _split(name: str) -> tuple[str, str]:
    match = _MEMBER.fullmatch(name)
    return (match[1], match[2]) if match else ("", "")


def _entry(
    source: Source, file: Path, archive: tarfile.TarFile, key: str, sample: list[tuple[str, tarfile.TarInfo]]
) -> Iterator[Entry]:
    where = f"{file.name}: {key}"
    images = [member for name, member in sample if f".{name}".lower().endswith(SUFFIXES)]
    if len(images) > 1:
        mend = "give every image a key of its own"
        raise BuildError("SOURCE_LAYOUT", where, f"{len(images)} images in one sample", "one", mend)
    name = _from_json(source, archive, where, sample)
    if not images and name is None:
        return
    if name is None:
        name = named(f"{file.name}/{key}" if source.names == "files" else key, source, where)
    if not images:
        yield Entry(*name, file.name, 0, -1)
        return
    yield Entry(*name, file.name, images[0].offset_data, images[0].size, member=images[0].name)


def _from_json(
    source: Source, archive: tarfile.TarFile, where: str, sample: list[tuple[str, tarfile.TarInfo]]
) -> tuple[str, str, int] | None:
    """Task, id and sample of `<key>.json`; None if it has no id."""
    member = next((member for name, member in sample if name == "json"), None)
    if member is None or source.names == "files" or member.size > _LARGEST_JSON:
        return None
    stream = archive.extractfile(member)
    assert stream is not None
    try:
        data = json.loads(stream.read())
    except ValueError as error:
        raise BuildError("SOURCE_LAYOUT", f"{where}.json", str(error), "JSON", "mend the sample") from error
    columns = source.columns
    if not isinstance(data, dict) or columns["id"] not in data:
        return None
    task, item, number = source.task or data.get(columns["task"]), data[columns["id"]], data.get(columns["sample"])
    if not isinstance(task, str) or not isinstance(item, str) or type(number) is not int or number < 0:
        key = f"task {task!r}, id {item!r}, sample {number!r}"
        raise BuildError("SOURCE_LAYOUT", f"{where}.json", key, "texts, and a number from 0", "mend the sample")
    return task, item, number
