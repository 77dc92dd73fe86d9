"""The images that are to be measured: where each lies, and its pixels, read ahead in the order of the files."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairspace.ares.annotating.source import Entry, Source, contents, list_entries
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from PIL.Image import Image

Key = tuple[str, str, int]
"""Task, id and sample of an image."""
Listed = tuple[int, Entry]
"""An image and its place among all of the source."""


class Listing(NamedTuple):
    """What a source holds of the images that are asked for.

    Args:
        images: in the order of the source.
        not_annotated: other images of the tasks, which no row of the annotations is about.
    """

    images: list[Listed]
    not_annotated: int


_STRETCH = 256
"""Images that are read in one go at most, those between them that are known included: a reader of Parquet can keep all
that it read until it is closed, so this bounds memory."""


def listed_images(source: Source, wanted: Collection[Key], known: Collection[Key], tasks: Collection[str]) -> Listing:
    """Where the images lie that are asked for.

    Args:
        source: of the images.
        wanted: images to be measured.
        known: images that have annotations.
        tasks: whose images count.

    Errors: RunError DATA_INVALID if an image comes twice; BuildError SOURCE_*.
    """
    images: list[Listed] = []
    seen: set[Key] = set()
    others = 0
    for place, entry in enumerate(list_entries(source)):
        key = (entry.task, entry.id, entry.sample)
        if key in seen:
            what = f"{entry.task} {entry.id}, sample {entry.sample} again"
            raise invalid(entry.where, what, "every image once", "remove all but one")
        if key in wanted:
            seen.add(key)
            images.append((place, entry))
        elif entry.task in tasks and key not in known:
            others += 1
    return Listing(images, others)


def stored_images(source: Source, listed: Sequence[Listed], pending: Sequence[int]) -> Iterator[tuple[Entry, Any]]:
    """The pending images, read in stretches that stand together in the source."""
    start = 0
    while start < len(pending):
        stop = start + 1
        while stop < len(pending) and _together(listed, pending[start], pending[stop]):
            stop += 1
        wanted = set(pending[start:stop])
        numbers = range(pending[start], pending[stop - 1] + 1)
        entries = [listed[number][1] for number in numbers]
        for number, entry, image in zip(numbers, entries, contents(source, entries), strict=True):
            if number in wanted:
                yield entry, image
        start = stop


def _together(listed: Sequence[Listed], first: int, other: int) -> bool:
    """Whether two images can be read in one go: nothing but what is listed stands between them, and not too much."""
    return other - first < _STRETCH and listed[other][0] - listed[first][0] == other - first


def decoded_images(
    pool: ThreadPoolExecutor, images: Iterable[tuple[Entry, Any]], ahead: int
) -> Iterator[tuple[Entry, str, Image | None]]:
    """Entry, sha256 and pixels of each image, in order; at most `ahead` are read before they are taken."""
    waiting: deque[tuple[Entry, Future[tuple[str, Image | None]]]] = deque()
    for entry, image in images:
        waiting.append((entry, pool.submit(_decode, image)))
        if len(waiting) > ahead:
            first, future = waiting.popleft()
            yield first, *future.result()
    for entry, future in waiting:
        yield entry, *future.result()


def _decode(image: Any) -> tuple[str, Image | None]:
    """The sha256 and the pixels; None if they cannot be read, or the bytes are not those of their hash."""
    from fairspace.ares.fates_ares import Limits
    from fairspace.ares.reading_ares import read_image

    if isinstance(image, Path):
        try:
            image = {"bytes": image.read_bytes(), "path": image.name}
        except OSError:
            return "", None
    pixels, _ = read_image(image, Limits(), 0)
    if pixels is None:
        return "", None
    return image.get("sha256") or hashlib.sha256(image["bytes"]).hexdigest(), pixels


def invalid(where: str, what: str, expected: str, mend: str) -> RunError:
    """The error for annotations, images or prompts that do not fit together."""
    return RunError("DATA_INVALID", where, what, expected, mend)
