"""Has models look at images and texts, and keeps what they make of them: whatever is known is not looked at again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from fairspace.ares.annotating.source import Entry, Source
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.quality.cache import Vectors, image_key, text_key
from fairspace.submissions.running.quality.images import Key, Listed, decoded_images, stored_images
from fairspace.submissions.running.quality.models import ImageFeatures, TextFeatures
from fairspace.submissions.running.quality.scores import Vector

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[str, int, int], None]


@dataclass
class Work:
    """What is known of the images once they have gone by.

    Args:
        hashes: image that the source holds -> sha256; '' if it cannot be read.
        embedded: images that a model looked at.
        model_seconds: in the models, with what they do to pixels.
    """

    hashes: dict[Key, str] = field(default_factory=dict)
    embedded: int = 0
    model_seconds: float = 0.0


def embed(
    source: Source,
    listed: Sequence[Listed],
    looking: Sequence[ImageFeatures],
    vectors: Vectors,
    *,
    batch: int,
    workers: int,
    progress: Progress,
) -> Work:
    """See that every readable image has a vector of every model.

    Args:
        source: of the images.
        listed: which of them, in their order there.
        looking: the models.
        vectors: keeps what they make of images.
        batch: images that are handed to the models together.
        workers: threads that read ahead.
        progress: called with what is being done and how fast, how much is done, and of how much.
    """
    from fairspace.ares.reading_ares import quiet

    work, pending = Work(), []
    for number, (_, entry) in enumerate(listed):
        work.hashes[entry.task, entry.id, entry.sample] = entry.sha256
        key = image_key(entry.sha256)
        if not (entry.sha256 and all(vectors.has(features.name, key) for features in looking)):
            pending.append(number)
    before, began, done = len(listed) - len(pending), time.monotonic(), 0
    with quiet(), ThreadPoolExecutor(max(workers, 1)) as pool:
        decoded = decoded_images(pool, stored_images(source, listed, pending), batch)
        while part := list(islice(decoded, batch)):
            _look(part, looking, vectors, work)
            done += len(part)
            speed = done / max(time.monotonic() - began, 1e-9)
            progress(f"Measuring quality, {speed:.1f} images/s", before + done, len(listed))
    return work


def _look(
    part: Sequence[tuple[Entry, str, Image | None]], looking: Sequence[ImageFeatures], vectors: Vectors, work: Work
) -> None:
    """Have the models look at some images, and keep what they make of them."""
    images: dict[str, Image] = {}
    for entry, sha256, pixels in part:
        work.hashes[entry.task, entry.id, entry.sample] = sha256
        if pixels is not None:
            images[image_key(sha256)] = pixels
    looked: set[str] = set()
    for features in looking:
        missing = [key for key in images if not vectors.has(features.name, key)]
        if missing:
            began = time.monotonic()
            computed = features.images([images[key] for key in missing])
            work.model_seconds += time.monotonic() - began
            vectors.put(features.name, [(key, _checked(v, features)) for key, v in zip(missing, computed, strict=True)])
            looked.update(missing)
    work.embedded += len(looked)


def _checked(vector: Vector, features: ImageFeatures) -> Vector:
    """The vector. RunError MODEL_OUTPUT if it has no direction: a score of it would be made up."""
    if not np.isfinite(vector).all() or (vector.size > 1 and not vector.any()):
        mend = "name other weights, or run them on another device"
        raise RunError("MODEL_OUTPUT", features.name, "a vector that is not finite, or zero", "a direction", mend)
    return vector


def seen_by(
    features: ImageFeatures, keys: Iterable[Key], hashes: Mapping[Key, str], vectors: Vectors
) -> Iterator[tuple[Key, Vector]]:
    """The images that a model saw something in, with what it saw."""
    for key in keys:
        vector = vectors.get(features.name, image_key(hashes[key]))
        if vector is not None and vector.size:
            yield key, vector


def text_vector(features: TextFeatures, text: str, vectors: Vectors) -> Vector:
    """What a model makes of a text, as it is kept."""
    key = text_key(text)
    known = vectors.get(features.name, key)
    if known is None:
        vectors.put(features.name, {key: _checked(features.text(text), features)})
        known = vectors.get(features.name, key)
    assert known is not None  # it was just put there
    return known


def text_scale(features: TextFeatures, vectors: Vectors) -> float:
    """A model's scale of cosines, as it is kept."""
    known = vectors.get(features.name, "scale")
    if known is None:
        known = np.array([features.scale()], np.float32)
        vectors.put(features.name, {"scale": _checked(known, features)})
    return float(known[0])
