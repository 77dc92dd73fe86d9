"""From images to answers: read ahead in threads, find faces on request, and fill the model's batches across images.

An image's answer depends on the image alone: not on batch size, threads or other images.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from .deciding_ares import ABSTAINED, Answer
from .faces_ares import FaceDetector, face_crops
from .fates_ares import Fate
from .gate_ares import NO_FACE
from .image_processing_ares import AresImageProcessor, PreparedInput, as_images
from .reading_ares import quiet

if TYPE_CHECKING:
    from .modeling_ares import AresModel


@dataclass
class ClassifiedInput:
    """One input: its fate, and an answer per face, in the detector's order.

    There is exactly one answer without a detector, a face or a readable image.
    """

    fate: Fate
    answers: list[Answer] = field(default_factory=list)


def classify(
    model: AresModel,
    images: Any,
    *,
    processor: AresImageProcessor | None = None,
    batch: int = 64,
    workers: int = 0,
    detector: FaceDetector | None = None,
) -> list[list[Answer]]:
    """The answers for one image, or for many.

    Args:
        model: Opened ARES.
        images: PIL images, paths, bytes, arrays, or a dataset's column; see `AresImageProcessor.preprocess`.
        processor: Reader of images; one of the model's size if left out.
        batch: Faces per batch; rounded up to whole tiles.
        workers: Threads that read ahead; 0 reads in between.
        detector: Face detector; without one, every image counts as one face.

    Returns:
        For each image its answers, one per face; an unusable image has one with status and reason.
    """
    processor = processor or AresImageProcessor(image_size=model.config.image_size)
    results = answered(model, processor, as_images(images), batch=batch, workers=workers, detector=detector)
    return [each.answers for each in results]


def answered(
    model: AresModel,
    processor: AresImageProcessor,
    images: Iterable[Any],
    *,
    batch: int = 64,
    workers: int = 0,
    detector: FaceDetector | None = None,
) -> Iterator[ClassifiedInput]:
    """The answers for each image, in order; images are taken from the iterator a little ahead of them.

    Arguments as in `classify`. ValueError if the processor's squares do not have the model's size.
    """
    size = model.config.image_size
    if processor.image_size != size:
        raise ValueError(f"The processor makes images of {processor.image_size} pixels; the model takes {size}.")
    tile = model.config.tile
    batch = max(1, -(-batch // tile)) * tile
    keep = detector is not None or model.arbiter is not None
    prepare = partial(processor.prepare, square=detector is None, keep=keep)
    waiting: deque[tuple[ClassifiedInput, int]] = deque()
    faces: list[_Face] = []
    with quiet():
        for group in _grouped(_ahead(prepare, images, workers, 2 * batch), batch):
            for each, of_image in zip(group, _faces(group, processor, detector), strict=True):
                image = ClassifiedInput(each.fate)
                waiting.append((image, len(of_image) or 1))
                faces += [replace(face, of=image) for face in of_image]
                if not of_image:
                    image.answers.append(_without_face(each.fate))
            while len(faces) >= batch or (faces and len(waiting) > 4 * batch):
                _decide(model, processor, faces[:batch])
                faces = faces[batch:]
            yield from _finished(waiting)
        while faces:
            _decide(model, processor, faces[:batch])
            faces = faces[batch:]
        yield from _finished(waiting)


@dataclass(frozen=True)
class _Face:
    pixels: Any
    image: Any
    number: int = 0
    of_all: int = 1
    of: ClassifiedInput | None = None


def _faces(
    group: Sequence[PreparedInput], processor: AresImageProcessor, detector: FaceDetector | None
) -> list[list[_Face]]:
    if detector is None:
        return [[] if each.pixels is None else [_Face(each.pixels, each.image)] for each in group]
    faces: list[list[_Face]] = [[] for _ in group]
    readable = [(place, each.image) for place, each in enumerate(group) if each.image is not None]
    boxes = detector.detect([image for _, image in readable]) if readable else []
    for (place, image), of_one in zip(readable, boxes, strict=True):
        crops = face_crops(image, of_one)
        faces[place] = [_Face(processor.square(crop), crop, i, len(crops)) for i, crop in enumerate(crops)]
    return faces


def _decide(model: AresModel, processor: AresImageProcessor, faces: Sequence[_Face]) -> None:
    pixels = processor.tensor([face.pixels for face in faces], model.device, model.dtype)
    images = [face.image for face in faces] if model.arbiter is not None else None
    for face, answer in zip(faces, model.answers(model.decide(pixels, images)), strict=True):
        assert face.of is not None
        if answer.status == NO_FACE and face.of_all == 1:
            face.of.answers.append(answer)
            continue
        if answer.status == NO_FACE:  # a detector disagrees, and the image has other faces
            answer = replace(answer, status=ABSTAINED, labels=dict.fromkeys(model.config.attributes, ""))
        face.of.answers.append(replace(answer, face=face.number, faces=face.of_all))


def _without_face(fate: Fate) -> Answer:
    if fate.status == "ok":
        return Answer(NO_FACE, NO_FACE, faces=0)
    return Answer(fate.status, fate.reason, faces=0)


def _finished(waiting: deque[tuple[ClassifiedInput, int]]) -> Iterator[ClassifiedInput]:
    while waiting and len(waiting[0][0].answers) == waiting[0][1]:
        yield waiting.popleft()[0]


def _ahead(
    prepare: Callable[[Any], PreparedInput], images: Iterable[Any], workers: int, most: int
) -> Iterator[PreparedInput]:
    """Prepared images in order; at most `most` are ready or under way."""
    stream = iter(images)
    if not workers:
        yield from map(prepare, stream)
        return
    with ThreadPoolExecutor(workers, "ares-read") as pool:
        under_way: deque[Future[PreparedInput]] = deque(pool.submit(prepare, image) for image in islice(stream, most))
        try:
            while under_way:
                yield under_way.popleft().result()
                under_way.extend(pool.submit(prepare, image) for image in islice(stream, 1))
        finally:
            for future in under_way:
                future.cancel()


def _grouped(prepared: Iterable[PreparedInput], size: int) -> Iterator[list[PreparedInput]]:
    stream = iter(prepared)
    while group := list(islice(stream, size)):
        yield group
