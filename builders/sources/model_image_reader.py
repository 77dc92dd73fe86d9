"""Reads the images of a model's submission, one after another, and checks each against its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from fairspace.builders.sources.model_images import StoredImage
from fairspace.builders.sources.model_parquet import bad_image, rows

_SUFFIXES = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
_BATCH = 64
"""Images in memory at a time."""


class ImageReader:
    """Reads stored images one after another; going forward in a file costs nothing, going back opens it again."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._rows: Iterator[tuple[int, dict[str, Any]]] = iter(())
        self._next = 0

    def read(self, stored: StoredImage) -> tuple[bytes, str]:
        """Bytes and file suffix. BuildError SOURCE_IMAGE if they are missing, no image, or not those of the hash."""
        if stored.file != self._file or stored.row < self._next:
            self._file, self._rows = stored.file, rows(stored.file, ("image",), _BATCH)
        row: dict[str, Any] = next(row for place, row in self._rows if place == stored.row)
        self._next = stored.row + 1
        data = (row["image"] or {}).get("bytes")
        if not data:
            raise bad_image(stored.where, "no image bytes", "the image itself; a path alone is not followed")
        digest = hashlib.sha256(data).hexdigest()
        if digest != stored.sha256:
            raise bad_image(stored.where, f"bytes with sha256 {digest}", f"sha256 {stored.sha256}, as the row says")
        return data, _suffix(stored.where, data)


def _suffix(where: str, data: bytes) -> str:
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as image:
            kind = image.format or ""
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise bad_image(where, f"no image that can be read ({error})", "a JPEG, PNG or WebP image") from error
    if kind not in _SUFFIXES:
        raise bad_image(where, f"an image in the format {kind}", "a JPEG, PNG or WebP image")
    return _SUFFIXES[kind]
