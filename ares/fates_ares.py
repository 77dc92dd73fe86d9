"""Outcomes of reading an image for ARES: closed lists of stable words."""

from __future__ import annotations

from dataclasses import dataclass

REASONS = {
    "no_image": "there is none: null, or neither bytes nor a path",
    "no_file": "the path leads to no readable plain file",
    "zero_bytes": "the file is empty",
    "too_many_bytes": "the file is larger than the limit",
    "too_many_pixels": "its header, read before anything is decoded, announces more pixels than the limit",
    "too_small": "a side has fewer pixels than the limit",
    "not_an_image": "the content is of none of the known formats, whatever the name says",
    "corrupt": "it begins like an image of a known format and cannot be decoded",
    "truncated": "its data end too early",
    "unknown_pixels": "there is no defined way from its values to red, green and blue",
    "out_of_memory": "decoding it asked for more memory than there is",
    "unknown_input": "none of the kinds of input, or an array of another shape",
    "hash_differs": "its bytes do not have the sha256 that stands beside them",
}
"""Reasons why an input has no pixels."""
NOTES = {
    "first_frame": "animated or of several pages: the first one counts",
    "exif_rotated": "turned or mirrored as its EXIF orientation says",
    "exif_broken": "its EXIF data cannot be read and were left aside",
    "cmyk": "converted from cyan, magenta, yellow and black",
    "sixteen_bit": "reduced from 16 bits per value to 8",
    "greyscale": "without colour",
    "palette": "of indexed colours",
    "transparent": "laid on white",
    "extension_differs": "the extension of its name belongs to another format",
    "draft": "decoded at a fraction of its size",
}
"""Changes of an input that has pixels."""


@dataclass(frozen=True)
class ImageLimits:
    """Limits checked before decoding: most bytes and pixels, and pixels of the shortest `side`."""

    bytes: int = 64 * 2**20
    pixels: int = 8192**2
    side: int = 16


@dataclass(frozen=True)
class Fate:
    """The outcome of reading one input.

    Args:
        status: `ok`, `unreadable`, or `refused` where there was no image.
        reason: Word of `REASONS`; '' with `ok`.
        detail: Finding, in a line; '' with `ok`.
        notes: Words of `NOTES`, in their order.
        format: Format of the content (`PNG`); '' for arrays, and if unknown.
        width, height: Pixels from the header; 0 if unknown.
    """

    status: str
    reason: str = ""
    detail: str = ""
    notes: tuple[str, ...] = ()
    format: str = ""
    width: int = 0
    height: int = 0


class UnreadableError(Exception):
    """Ends the reading of one image, with a word of `REASONS` and the finding."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def refused(reason: str, detail: str) -> Fate:
    """The fate of an input without pixels."""
    return Fate("refused" if reason == "no_image" else "unreadable", reason, detail)


def check_size(size: tuple[int, int], limits: ImageLimits) -> None:
    """UnreadableError if an image of this width and height is refused."""
    width, height = size
    if width * height > limits.pixels:
        raise UnreadableError("too_many_pixels", f"{width} x {height} pixels; the limit is {limits.pixels} in all")
    if min(size) < limits.side:
        raise UnreadableError("too_small", f"{width} x {height} pixels; the least side is {limits.side}")
