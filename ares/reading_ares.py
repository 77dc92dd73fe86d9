"""From any kind of image to upright RGB pixels, or to the reason why there are none.

Files are judged by their content, never by their name, and their header is read before they are decoded, once. Nothing
here raises for a bad image: each input has a `Fate`.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BytesIO
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np
from PIL import Image, ImageFile, TiffImagePlugin, UnidentifiedImageError

from .fates_ares import NOTES, Fate, ImageLimits, UnreadableError, check_size, refused
from .pixels_ares import decoded, eight_bits

FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
"""Decoded formats; every other one is `not_an_image`."""

_SUFFIXES = {
    ".avif": ("AVIF",),
    ".bmp": ("BMP",),
    ".gif": ("GIF",),
    ".jfif": ("JPEG", "MPO"),
    ".jpe": ("JPEG", "MPO"),
    ".jpeg": ("JPEG", "MPO"),
    ".jpg": ("JPEG", "MPO"),
    ".png": ("PNG",),
    ".tif": ("TIFF",),
    ".tiff": ("TIFF",),
    ".webp": ("WEBP",),
}
SUFFIXES = tuple(_SUFFIXES)
"""Extensions of image files, in lower case."""
_SIGNATURE = re.compile(rb"\xff\xd8\xff|\x89PNG\r\n|GIF8[79]a|BM|II\*\0|MM\0\*|RIFF.{4}WEBP|.{4}ftypavi[fs]", re.DOTALL)


def read_image(source: Any, limits: ImageLimits, least: int) -> tuple[Image.Image | None, Fate]:
    """An upright RGB image and its fate; None with every status but `ok`. `quiet()` silences decoders' warnings.

    Args:
        source: PIL image; path; bytes; array or tensor (h, w), (h, w, 1, 3 or 4) or (1, 3 or 4, h, w) of bools, 8 or 16
            bits, or floats in [0, 1]; mapping with `bytes` and `path`, as in a dataset's column, and `sha256`, the
            required hash of the bytes.
        limits: Limits of accepted images.
        least: Pixels of the shorter side below which a JPEG is not reduced while it is decoded.
    """
    facts: dict[str, Any] = {}
    notes: set[str] = set()
    try:
        with _opened(source, limits, notes) as image:
            facts = {"format": image.format or "", "width": image.width, "height": image.height}
            check_size(image.size, limits)
            pixels = decoded(image, least if image is not source else 0, notes)
        return pixels, Fate("ok", notes=tuple(note for note in NOTES if note in notes), **facts)
    except UnreadableError as unreadable:
        fate = refused(unreadable.reason, str(unreadable))
    except Image.DecompressionBombError as error:
        fate = refused("too_many_pixels", _line(error))
    except MemoryError:
        fate = refused("out_of_memory", "MemoryError")
    except Exception as error:  # noqa: BLE001 - a decoder can raise anything on hostile bytes; the fate says what
        early = isinstance(error, EOFError) or "truncated" in str(error).lower()
        fate = refused("truncated" if early else "corrupt", _line(error))
    return None, Fate(fate.status, fate.reason, fate.detail, **facts)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Pillow's warnings, and have it refuse truncated files and directories whose values overlap.

    May be entered by several threads at once.
    """
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            _before.append((warnings.catch_warnings(), ImageFile.LOAD_TRUNCATED_IMAGES))
            TiffImagePlugin.ImageFileDirectory_v2.load = _load_directory  # type: ignore[method-assign]
            _before[-1][0].__enter__()
            warnings.filterwarnings("ignore", module=r"PIL\b")
            ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                filters, ImageFile.LOAD_TRUNCATED_IMAGES = _before.pop()
                filters.__exit__(None, None, None)
                TiffImagePlugin.ImageFileDirectory_v2.load = _LOAD  # type: ignore[method-assign]


_LOAD = TiffImagePlugin.ImageFileDirectory_v2.load


def _load_directory(self: TiffImagePlugin.ImageFileDirectory_v2, fp: IO[bytes]) -> None:
    """Read a TIFF or EXIF directory: 65,535 tags that name the same megabyte would become 64 GB."""
    _LOAD(self, _Rationed(fp))  # type: ignore[arg-type]


class _Rationed:
    """A stream that gives twice its length in all."""

    def __init__(self, stream: IO[bytes]) -> None:
        here = stream.tell()
        self._left, self._read = 2 * stream.seek(0, os.SEEK_END), stream.read
        self.seek, self.tell = stream.seek, stream.tell
        self.seek(here)

    def read(self, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise UnreadableError("corrupt", "a directory whose values are larger than the file that holds them")
        return self._read(size)


_lock = threading.Lock()
_inside = 0
_before: list[tuple[warnings.catch_warnings[None], bool]] = []


def _opened(source: Any, limits: ImageLimits, notes: set[str]) -> AbstractContextManager[Image.Image]:
    """The image with its header read, not decoded yet; a user's own image is not closed."""
    if isinstance(source, Mapping):
        data, path = source.get("bytes"), source.get("path")
        if data is not None:
            return _from_bytes(data, limits, str(path or ""), notes, source.get("sha256"))
        source = path
    if source is None or (isinstance(source, str) and not source):
        raise UnreadableError("no_image", "no image was given")
    if isinstance(source, Image.Image):
        return nullcontext(source)
    if isinstance(source, str | os.PathLike):
        return _from_bytes(_contents(Path(source), limits), limits, os.fspath(source), notes)
    if isinstance(source, bytes | bytearray | memoryview):
        return _from_bytes(source, limits, "", notes)
    return _from_array(source, limits, notes)


def _contents(path: Path, limits: ImageLimits) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("no_file", "the path leads to something other than a plain file")
        if status.st_size > limits.bytes:
            raise UnreadableError("too_many_bytes", f"{status.st_size} bytes; the limit is {limits.bytes}")
        with path.open("rb") as stream:
            return stream.read(limits.bytes + 1)
    except (OSError, ValueError) as error:
        raise UnreadableError("no_file", getattr(error, "strerror", None) or _line(error)) from error


def _from_bytes(data: Any, limits: ImageLimits, name: str, notes: set[str], sha256: str | None = None) -> Image.Image:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise UnreadableError("unknown_input", f"bytes of type {type(data).__name__}")
    size = memoryview(data).nbytes
    if not size:
        raise UnreadableError("zero_bytes", "0 bytes")
    if size > limits.bytes:
        raise UnreadableError("too_many_bytes", f"{size} bytes; the limit is {limits.bytes}")
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise UnreadableError("hash_differs", f"not {sha256}")
    Image.init()
    try:
        image = Image.open(BytesIO(data), formats=[each for each in FORMATS if each in Image.OPEN])
    except UnidentifiedImageError as error:
        if _SIGNATURE.match(bytes(data[:16])):
            raise UnreadableError("corrupt", "the header cannot be read") from error
        raise UnreadableError("not_an_image", f"none of {', '.join(FORMATS)}") from error
    if image.format not in _SUFFIXES.get(PurePath(name).suffix.lower(), (image.format,)):
        notes.add("extension_differs")
    return image


def _from_array(source: Any, limits: ImageLimits, notes: set[str]) -> Image.Image:
    tensor = source.detach().cpu().numpy() if hasattr(source, "detach") else source
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "buif" or tensor.ndim not in (2, 3):
        shape = f" of shape {tensor.shape}, {tensor.dtype}" if isinstance(tensor, np.ndarray) else ""
        raise UnreadableError("unknown_input", f"{type(source).__name__}{shape}")
    array: np.ndarray[Any, Any] = tensor
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        array = np.moveaxis(array, 0, 2)
    if array.ndim == 3 and array.shape[2] not in (1, 3, 4):
        raise UnreadableError("unknown_input", f"an array of shape {tensor.shape}")
    check_size((array.shape[1], array.shape[0]), limits)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.dtype == np.uint16:
        notes.add("sixteen_bit")
    return Image.fromarray(eight_bits(array))


def _line(error: BaseException) -> str:
    text = re.sub(r"<[^>]*>| at 0x[0-9a-fA-F]+", "", " ".join(str(error).split()))
    return f"{type(error).__name__}: {text}"[:200]
