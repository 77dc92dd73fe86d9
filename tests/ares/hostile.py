import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SIZE = 96


class Opens:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.file), "w")


def portrait(size: int = SIZE, mode: str = "RGB") -> Image.Image:
    """A face without symmetric halves."""
    from fairspace.ares.training.data import drawn_face

    return drawn_face("train", 5, size=size).image.convert(mode)


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    stream = BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def png(width: int, height: int, bits: int = 8, pixels: bytes = b"\0" * 1000) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)
    packed = zlib.compress(pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def exif(orientation: int) -> bytes:
    found = Image.Exif()
    found[0x0112] = orientation
    return found.tobytes()


def frames(form: str) -> bytes:
    others = [Image.new("RGB", (SIZE, SIZE), colour) for colour in ("red", "blue")]
    lossless = {"lossless": True} if form == "WEBP" else {}
    return encoded(portrait(), form, save_all=True, append_images=others, duration=100, **lossless)


def sixteen_bit_grey() -> bytes:
    grey = np.asarray(portrait(mode="L")).astype(np.uint16) * 257
    return encoded(Image.fromarray(grey), "PNG")


def sixteen_bit_colour() -> bytes:
    """A PNG with 16 bits per colour, which Pillow reads and does not write."""
    colour = np.asarray(portrait()).astype(">u2") * 257
    return png(SIZE, SIZE, 16, b"".join(b"\0" + row.astype(">u2").tobytes() for row in colour))


def with_alpha() -> bytes:
    image = portrait(mode="RGBA")
    image.putalpha(Image.new("L", image.size, 0))
    return encoded(image, "PNG")


def directory(tags: int, size: int) -> bytes:
    """A TIFF or EXIF block whose tags all name the same bytes."""
    begin = 8 + 2 + 12 * tags + 4
    entries = b"".join(struct.pack("<HHLL", 1000 + tag, 7, size, begin) for tag in range(tags))
    return b"II*\0" + struct.pack("<LH", 8, tags) + entries + bytes(4 + size)


def with_exif(form: str, block: bytes) -> bytes:
    """An image with a block; EXIF of a JPEG without JFIF is read for its density."""
    if form != "JPEG":
        return encoded(portrait(), form, exif=block)
    parts = [b"Exif\0\0" + block[start : start + 65_000] for start in range(0, len(block), 65_000)]
    head = b"".join(b"\xff\xe1" + struct.pack(">H", len(part) + 2) + part for part in parts)
    data = encoded(portrait(), form)
    return data[:2] + head + data[20:]


_GIF_BOMB = b"GIF89a" + struct.pack("<HH3xcHHHHx", 65535, 65535, b",", 0, 0, 65535, 65535) + b"\x08\x01\x00\x00;"

UNREADABLE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "zero_bytes"),
    "text": (lambda: b"<html>not found</html>", "not_an_image"),
    "postscript": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n", "not_an_image"),
    "zip": (lambda: b"PK\x03\x04" + bytes(100), "not_an_image"),
    "only a signature": (lambda: b"\x89PNG\r\n\x1a\n", "corrupt"),
    "half a JPEG": (lambda: encoded(portrait(), "JPEG")[:900], "truncated"),
    "half a PNG": (lambda: encoded(portrait(), "PNG")[:1500], "truncated"),
    "half a GIF": (lambda: encoded(portrait(), "GIF")[:1500], "truncated"),
    "broken PNG": (lambda: encoded(portrait(), "PNG").replace(b"IDAT", b"IDAX", 1), "corrupt"),
    "bomb": (lambda: png(60_000, 60_000), "too_many_pixels"),
    "small bomb": (lambda: png(8_193, 8_193), "too_many_pixels"),
    "GIF bomb": (lambda: _GIF_BOMB, "too_many_pixels"),
    "tags of one block": (lambda: directory(1000, 1 << 20), "corrupt"),
    "tags of one block in a JPEG": (lambda: with_exif("JPEG", directory(1000, 1 << 20)), "corrupt"),
    "drawing": (
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><image href='http://127.0.0.1/'/></svg>",
        "not_an_image",
    ),
    "point": (lambda: encoded(Image.new("RGB", (1, 1)), "PNG"), "too_small"),
    "numbers of 32 bits": (lambda: encoded(Image.new("I", (SIZE, SIZE), 10**6), "TIFF"), "unknown_pixels"),
    "negative floats": (lambda: encoded(Image.new("F", (SIZE, SIZE), -3.0), "TIFF"), "unknown_pixels"),
}
"""Name -> maker, and a word of the reason why it has no pixels."""

READABLE: dict[str, tuple[Callable[[], bytes], tuple[str, ...]]] = {
    "PNG": (lambda: encoded(portrait(), "PNG"), ()),
    "BMP": (lambda: encoded(portrait(), "BMP"), ()),
    "TIFF": (lambda: encoded(portrait(), "TIFF"), ()),
    "WEBP": (lambda: encoded(portrait(), "WEBP", lossless=True), ()),
    "AVIF": (lambda: encoded(portrait(), "AVIF", quality=100), ()),
    "JPEG": (lambda: encoded(portrait(), "JPEG", quality=95), ()),
    "large JPEG": (lambda: encoded(portrait(512), "JPEG", quality=95), ("draft",)),
    "turned": (
        lambda: encoded(portrait().transpose(Image.Transpose.ROTATE_90), "PNG", exif=exif(6)),
        ("exif_rotated",),
    ),
    "CMYK": (lambda: encoded(portrait(mode="CMYK"), "JPEG", quality=95), ("cmyk",)),
    "16 bits of grey": (sixteen_bit_grey, ("sixteen_bit", "greyscale")),
    "16 bits of colour": (sixteen_bit_colour, ("sixteen_bit",)),
    "grey": (lambda: encoded(portrait(mode="L"), "PNG"), ("greyscale",)),
    "black and white": (lambda: encoded(portrait(mode="1"), "PNG"), ("greyscale",)),
    "palette": (lambda: encoded(portrait().quantize(200), "PNG"), ("palette",)),
    "alpha": (with_alpha, ("transparent",)),
    "animated GIF": (lambda: frames("GIF"), ("first_frame", "palette")),
    "animated PNG": (lambda: frames("PNG"), ("first_frame",)),
    "animated WEBP": (lambda: frames("WEBP"), ("first_frame",)),
    "pages": (lambda: frames("TIFF"), ("first_frame",)),
}
"""Name -> maker, and the notes when it is read."""
