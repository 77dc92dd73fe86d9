"""`yuface`: the face detector of libfacedetection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import yuface

from fairspace.ares.annotating.labellers.packages import SeenFace

if TYPE_CHECKING:
    from PIL.Image import Image

_SIDE = 640
"""Pixels of the longer side that it is shown; above 960 it finds fewer faces, as its authors warn."""


class YuFace:
    """The detector at its authors' threshold, on images of at most `_SIDE` pixels."""

    def label(self, image: Image) -> list[SeenFace]:
        """The faces of an upright RGB image."""
        shown = image.copy()
        shown.thumbnail((_SIDE, _SIDE))
        by = image.width / shown.width
        faces = []
        for chance, (x, y, width, height), _ in zip(*yuface.detect(_bgr(shown)), strict=True):
            left, top, right, bottom = (round(float(value) * by) for value in (x, y, x + width, y + height))
            faces.append(
                SeenFace((left, top, right, bottom), {"face": "face"}, {"face": {"face": float(chance) / 100}})
            )
        return faces


def _bgr(image: Image) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(image)[:, :, ::-1])
