"""The reference images of steer prompts (M9, SCL): the images of IRIS-Ideal-52 that show what a prompt asks for.

They are the same for every model, 29 of each occupation and group, so that a stereotypical prompt has as many as a
counter-stereotypical one, and a model gains nothing by making all images of a prompt alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from fairspace.submissions.running.data.data import Data, open_data
from fairspace.submissions.running.data.images import Images
from fairspace.submissions.running.quality.cache import Vectors, image_key
from fairspace.submissions.running.quality.models import ImageFeatures
from fairspace.submissions.running.quality.scores import Vector

DATASET = "iris_ideal_52"
BATCH = 8


class References:
    """The images of IRIS-Ideal-52, by steer prompt.

    Args:
        data: where the dataset is.

    Errors: RunError DATA_MISSING, DATA_INVALID, of `images`, `of` and `name`.
    """

    def __init__(self, data: Data) -> None:
        self._data = data

    @classmethod
    def opened(cls, where: str, revision: str = "") -> References:
        """Those in a folder of builds, or of `NAMESPACE[@TAG]` on the Hub; that it holds images is checked at once."""
        references = cls(open_data(where, revision))
        _ = references.images
        return references

    @cached_property
    def images(self) -> Images:
        """All of them, by id."""
        return self._data.images(DATASET, "occupation", "test")

    @property
    def name(self) -> str:
        """Which build or commit of the dataset it is."""
        _ = self.images
        return f"{DATASET} ({self._data.used[DATASET]})"

    def of(self, item: str) -> list[bytes]:
        """The images of what a steer prompt asks for, in the order of the dataset.

        Args:
            item: id of the prompt, `steer/<occupation>/<stereotypical group>/<requested group>`.
        """
        _, occupation, _, requested = item.split("/")
        return [self.images.get(image) for image in self._cells.get(f"ideal/{occupation}/{requested}", ())]

    @cached_property
    def _cells(self) -> dict[str, list[str]]:
        cells: dict[str, list[str]] = {}
        for image in self.images:
            cells.setdefault(image.rpartition("/")[0], []).append(image)
        return cells


def image_vectors(features: ImageFeatures, images: Iterable[bytes], vectors: Vectors) -> list[Vector]:
    """What a model makes of encoded images, as it is kept; those that cannot be read are left out."""
    from fairspace.ares.fates_ares import Limits
    from fairspace.ares.reading_ares import quiet, read_image

    encoded = {image_key(hashlib.sha256(image).hexdigest()): image for image in images}
    missing = [key for key in encoded if not vectors.has(features.name, key)]
    with quiet():
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            decoded = {key: read_image({"bytes": encoded[key], "path": ""}, Limits(), 0)[0] for key in part}
            pixels = {key: image for key, image in decoded.items() if image is not None}
            vectors.put(features.name, zip(pixels, features.images(list(pixels.values())), strict=True))
    kept = (vectors.get(features.name, key) for key in encoded)
    return [np.asarray(vector) for vector in kept if vector is not None and vector.size]
