"""Decoded images as upright RGB with 8 bits per value.

Colour profiles are not applied; alpha is laid on white; of several frames the first one counts; 16-bit values are
scaled, not cut off. A JPEG far larger than needed is decoded at a half, a quarter or an eighth of its size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from .fates_ares import UnreadableError

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ORIENTATION = 0x0112


def decoded(image: Image.Image, least: int, notes: set[str]) -> Image.Image:
    """Upright RGB; the only place that decodes. A `least` of 0 is for images that may not be changed."""
    before = image.size
    if least and image.format in ("JPEG", "MPO"):
        image.draft("RGB", (least, least))
    if getattr(image, "is_animated", False):
        notes.add("first_frame")
    if any(";16" in str(tile) for tile in getattr(image, "tile", ())):
        notes.add("sixteen_bit")
    image.load()
    if image.size != before:
        notes.add("draft")
    turn = _TURNS.get(_orientation(image, notes))
    rgb = _to_rgb(image, notes)
    if turn is None:
        return rgb
    notes.add("exif_rotated")
    return rgb.transpose(turn)


def _orientation(image: Image.Image, notes: set[str]) -> int:
    try:
        orientation = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - broken EXIF data raise anything, and do not make an image unreadable
        notes.add("exif_broken")
        return 1
    return orientation if isinstance(orientation, int) else 1


def _to_rgb(image: Image.Image, notes: set[str]) -> Image.Image:
    mode = image.mode
    if mode.startswith(("I", "F")):
        notes.update(("sixteen_bit", "greyscale") if mode != "F" else ("greyscale",))
        values = np.asarray(image)
        if mode != "F" and values.min() >= 0 and values.max() <= 65535:
            values = values.astype(np.uint16)
        return Image.fromarray(eight_bits(values)).convert("RGB")
    kinds = {"1": "greyscale", "L": "greyscale", "LA": "greyscale", "La": "greyscale", "CMYK": "cmyk"}
    notes.update({kinds.get(mode, "palette")} if mode in kinds or mode in ("P", "PA") else ())
    if mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        layered = (image.convert("LA") if mode == "La" else image).convert("RGBA")
        if layered.getchannel("A").getextrema() != (255, 255):
            notes.add("transparent")
            ground = Image.new("RGBA", layered.size, (255, 255, 255, 255))
            ground.alpha_composite(layered)
            layered = ground
        return layered.convert("RGB")
    try:
        return image.convert("RGB")
    except ValueError as error:
        raise UnreadableError("unknown_pixels", f"pixels of mode {mode}") from error


def eight_bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values as 8 bits: uint16 from 0 to 65535, other integers from 0 to 255, floats from 0 to 1."""
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind == "b":
        return array.astype(np.uint8) * 255
    low, high = array.min(), array.max()
    if array.dtype.kind == "f":
        if not (low >= 0 and high <= 1):  # also where a value is no number
            raise UnreadableError("unknown_pixels", "floats outside [0, 1]")
        return np.rint(array.astype(np.float64) * 255).astype(np.uint8)
    if array.dtype == np.uint16:
        return ((array.astype(np.uint32) * 255 + 32767) // 65535).astype(np.uint8)
    if low < 0 or high > 255:
        raise UnreadableError("unknown_pixels", f"whole numbers from {low} to {high}")
    return array.astype(np.uint8)
