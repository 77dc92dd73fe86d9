"""The list of `build --list-sources`: each source, what may be done with it, and whether it is in the source folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fairspace.builders.sources import SOURCES, Source

IMAGES = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True)
class Listed:
    """One source.

    Args:
        name: of its subfolder in the source folder.
        title: for people.
        licence: name or SPDX identifier.
        terms: what the licence allows and forbids.
        address: where to get it.
        files: what must lie in the subfolder, as patterns.
        found: its folder, None if it is not there.
        absent: the patterns of `files` that no file fits, where the folder was found.
        images: how many image files lie in it; None if it is not there.
        published: whether a published dataset holds its images, in a word or two.
        training: whether its images are used to train by default.
    """

    name: str
    title: str
    licence: str
    terms: str
    address: str
    files: tuple[str, ...]
    found: Path | None
    absent: tuple[str, ...]
    images: int | None
    published: str
    training: bool


def listing(source: Path | None) -> list[Listed]:
    """All sources, in the order of `SOURCES`. File names are counted, no file is opened."""
    return [_listed(entry, entry.found(source)) for entry in SOURCES.values()]


def _listed(entry: Source, place: Path | None) -> Listed:
    return Listed(
        name=entry.name,
        title=entry.title,
        licence=entry.licence,
        terms=entry.terms,
        address=entry.address,
        files=entry.files,
        found=place,
        absent=tuple(p for p in entry.files if not any(True for _ in place.glob(p))) if place else (),
        images=count_images(place) if place else None,
        published="yes" if entry.redistribute else "no: ids, labels and boxes",
        training=entry.training,
    )


def count_images(folder: Path) -> int:
    """How many files below a folder are named like images."""
    return sum(name.lower().endswith(IMAGES) for _, _, names in os.walk(folder) for name in names)
