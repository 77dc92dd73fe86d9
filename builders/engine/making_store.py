"""What became of each candidate image, on disk: its verdict, the image if it passed, some thumbnails of rejected ones.

    made/<2 digits>/<name>.json, .png     verdict; image, only if it passed (.jpg out of an earlier build)
    made/rejected/<config>/<name>.json, .png   thumbnails, at most `THUMBNAILS` per config

A name is the sha256 of what decides the image. Every file is there whole or not at all.
"""

from __future__ import annotations

import json
import shutil
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

THUMBNAILS = 48
"""Rejected candidates whose thumbnail is kept for the review sheet, per config."""
_THUMBNAIL = (192, 192)
JPEG = "jpeg"
"""What an image of an earlier build holds its bytes under, in `info`."""


class MadeStore:
    """The verdicts and images below a folder (`job.work`)."""

    def __init__(self, work: Path) -> None:
        self.folder = work / "made"

    def verdict(self, name: str) -> dict[str, Any] | None:
        """What `keep` was told of a candidate; None if it was never checked."""
        file = self._file(name, ".json")
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None

    def image(self, name: str) -> Image:
        """The image of a candidate that passed, pixel for pixel; one of an earlier build with its bytes (`jpeg`)."""
        from PIL import Image as Images

        if (earlier := self._file(name, ".jpg")).is_file():
            with Images.open(earlier) as image:
                decoded = image.convert("RGB")
            decoded.info[JPEG] = earlier.read_bytes()
            return decoded
        with Images.open(self._file(name, ".png")) as image:
            return image.convert("RGB")

    def keep(self, name: str, image: Image, verdict: dict[str, Any]) -> None:
        """Keep the image, if it passed, then its verdict (`key`, `attempt`, `reason`, `evidence`)."""
        if not verdict["reason"]:
            _write(self._file(name, ".png"), _png(image))
        _write(self._file(name, ".json"), json.dumps(verdict, ensure_ascii=False).encode())

    def keep_earlier(self, name: str, data: bytes, verdict: dict[str, Any]) -> None:
        """Keep the image of an earlier build, then its verdict."""
        _write(self._file(name, ".jpg"), data)
        _write(self._file(name, ".json"), json.dumps(verdict, ensure_ascii=False).encode())

    def keep_thumbnail(self, name: str, image: Image, verdict: dict[str, Any], config: str) -> None:
        """Keep a thumbnail if its name is among the smallest: a draw that neither order nor a restart changes."""
        folder = self.folder / "rejected" / config
        file = folder / f"{name}.png"
        others = sorted(folder.glob("*.png"))
        if file in others or (len(others) >= THUMBNAILS and file > others[THUMBNAILS - 1]):
            return
        thumbnail = image.convert("RGB")
        thumbnail.thumbnail(_THUMBNAIL)
        _write(file.with_suffix(".json"), json.dumps(verdict, ensure_ascii=False).encode())
        _write(file, _png(thumbnail))
        for beyond in sorted([*others, file])[THUMBNAILS:]:
            beyond.unlink()
            beyond.with_suffix(".json").unlink(missing_ok=True)

    def _file(self, name: str, suffix: str) -> Path:
        return self.folder / name[:2] / f"{name}{suffix}"


def forget_made(work: Path) -> None:
    """Remove verdicts and images once they are in a shard, so that the disk holds one shard's at a time."""
    for folder in (work / "made").glob("[0-9a-f][0-9a-f]"):
        shutil.rmtree(folder)


def _png(image: Image) -> bytes:
    stream = BytesIO()
    image.convert("RGB").save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.write_bytes(data)
    part.replace(file)
