"""Images as files below a folder: `<task>/<id>/<sample>.png`, where an id may have parts of its own.

Links that lead out of the folder are refused, but for those of a snapshot in the Hub's cache; linked folders are not
entered. Hidden files and folders are left out, and so are files whose extension is not one of an image.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairspace.ares.annotating.source import Entry, Source, named
from fairspace.ares.reading_ares import SUFFIXES
from fairspace.builders.errors import BuildError


def entries(source: Source) -> Iterator[Entry]:
    """The images, folder by folder, by name; samples by number. BuildError SOURCE_LAYOUT, SOURCE_VALUE."""
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
            whole = relative if source.names == "files" else relative.removesuffix(path.suffix)
            size = path.stat().st_size if path.exists() else 0
            yield Entry(*named(whole, source, relative), relative, 0, size)


def contents(source: Source, wanted: Sequence[Entry]) -> Iterator[Path]:
    """Their paths."""
    for entry in wanted:
        yield Path(source.place) / entry.file


def _order(name: str) -> tuple[int, int, str]:
    stem = Path(name).stem
    return (0, int(stem), name) if stem.isascii() and stem.isdecimal() else (1, 0, name)
