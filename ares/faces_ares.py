"""Faces, or persons, found in images before ARES looks at them. Off unless the user hands a detector over.

IRIS classifies whole images. With a detector every face is a row of its own, the largest first, and an image without
any is `no_face`. A detector is any object with `name` and `detect`; the one here runs YOLOS (Fang et al. 2021) or
another of transformers' object detectors, with any label of the checkpoint: `face`, or `person`, cut to the upper part.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch
from transformers import AutoImageProcessor, AutoModelForObjectDetection

from .pinned_ares import checkpoint_name, pinned

if TYPE_CHECKING:
    from PIL.Image import Image


class FaceBox(NamedTuple):
    """The part of an image for ARES, in pixels from the upper left corner; `score` is the confidence in [0, 1]."""

    x: float
    y: float
    width: float
    height: float
    score: float = 1.0


class FaceDetector(Protocol):
    """Finds faces."""

    @property
    def name(self) -> str:
        """Model, revision and settings."""

    def detect(self, images: Sequence[Image]) -> list[list[FaceBox]]:
        """For each RGB image the parts for ARES, margin included; none without a face."""


class FaceError(RuntimeError):
    """A detector cannot be opened; the message has the reason and the remedy."""


def face_crops(image: Image, boxes: Sequence[FaceBox]) -> list[Image]:
    """The parts of an image in the boxes, on whole pixels, as far as they lie inside.

    The largest comes first; of equally large ones the upper, then the left one. Boxes outside of it are left out.
    """
    windows = []
    for box in boxes:
        left, top = max(math.floor(box.x), 0), max(math.floor(box.y), 0)
        right = min(math.ceil(box.x + box.width), image.width)
        bottom = min(math.ceil(box.y + box.height), image.height)
        if right > left and bottom > top:
            windows.append((-(right - left) * (bottom - top), top, left, bottom, right))
    return [image.crop((left, top, right, bottom)) for _, top, left, bottom, right in sorted(windows)]


def open_faces(settings: Mapping[str, Any]) -> FaceDetector | None:
    """The detector from `source` and other arguments of `TransformersFaces`; None for empty settings.

    FaceError if a setting is unknown, or the model cannot be opened.
    """
    if not settings:
        return None
    names = list(inspect.signature(TransformersFaces).parameters)
    if "source" not in settings or set(settings) - set(names):
        raise FaceError(f"faces: {', '.join(sorted(settings))}. What is known: {', '.join(names)}; source is needed")
    return TransformersFaces(**settings)


class TransformersFaces:
    """Faces by a checkpoint for `AutoModelForObjectDetection`, with safetensors.

    Args:
        source: Folder, or id of a Hub repository.
        revision: Commit of the repository, 40 hexadecimal digits; a folder has none.
        label: The checkpoint's label to look for.
        upper: Whether to take the upper part only, as high as wide. For `person`.
        margin: Margin on every side, as a share of the longer side of the box.
        smallest: Pixels; boxes with a shorter side are left out.
        overlap: Intersection over union above which only the most certain box stays.
        batch: Images per pass. Every pass has exactly so many images, of one shape, so images do not affect each other.
        device: Device of torch; '' takes a GPU if there is one.
    Errors: FaceError if the weights cannot be had, or do not know the label.
    """

    def __init__(
        self,
        source: str,
        revision: str = "",
        *,
        label: str = "face",
        upper: bool = False,
        threshold: float = 0.9,
        margin: float = 0.2,
        smallest: int = 16,
        overlap: float = 0.6,
        batch: int = 4,
        device: str = "",
    ) -> None:
        self.source, self.revision, self.label, self.upper = source, revision, label, upper
        self.threshold, self.margin, self.smallest, self.overlap = threshold, margin, smallest, overlap
        self.batch = batch
        try:
            at = pinned(source, revision)
            self.processor = AutoImageProcessor.from_pretrained(source, backend="pil", **at)
            model = AutoModelForObjectDetection.from_pretrained(source, use_safetensors=True, **at)
        except (OSError, ValueError) as error:
            text = str(error).strip().split("\n", 1)[0]
            raise FaceError(
                f"faces: {source} cannot be opened: {text}. It takes a checkpoint of an object detector of transformers"
            ) from error
        numbers = {str(name).lower(): int(number) for number, name in model.config.id2label.items()}
        if label.lower() not in numbers:
            raise FaceError(f"faces: {source} knows {', '.join(sorted(numbers)[:8])}, but not {label}. Name another")
        self._number = numbers[label.lower()]
        self.model: Any = model.eval().to(device or ("cuda" if torch.cuda.is_available() else "cpu"))

    @cached_property
    def name(self) -> str:
        """Checkpoint and settings that decide its boxes."""
        part = f"upper part of {self.label}" if self.upper else self.label
        numbers = (
            f"threshold {self.threshold:g} margin {self.margin:g} overlap {self.overlap:g} from {self.smallest} px"
        )
        return f"{checkpoint_name(self.source, self.revision)} {part} {numbers}"

    @torch.inference_mode()
    def detect(self, images: Sequence[Image]) -> list[list[FaceBox]]:
        """For each RGB image the parts for ARES, the most certain first."""
        pixels = [self.processor(images=[image], return_tensors="pt")["pixel_values"] for image in images]
        by_image: list[list[FaceBox]] = [[] for _ in images]
        for shape in dict.fromkeys(each.shape for each in pixels):
            places = [place for place, each in enumerate(pixels) if each.shape == shape]
            for start in range(0, len(places), self.batch):
                some = places[start : start + self.batch]
                full = some + some[:1] * (self.batch - len(some))
                output = self.model(torch.cat([pixels[place] for place in full]).to(self.model.device))
                sizes = [images[place].size[::-1] for place in full]
                results = self.processor.post_process_object_detection(output, self.threshold, sizes)
                for place, result in zip(some, results, strict=False):
                    mine = result["labels"] == self._number
                    corners, scores = result["boxes"][mine].float().tolist(), result["scores"][mine].float().tolist()
                    by_image[place] = self._arranged(corners, scores, images[place].size)
        return by_image

    def _arranged(
        self, corners: Sequence[Sequence[float]], scores: Sequence[float], size: tuple[int, int]
    ) -> list[FaceBox]:
        """Boxes from corners (left, top, right, bottom): inside of the image, without doubles, with a margin."""
        boxes: list[FaceBox] = []
        for (left, top, right, bottom), score in sorted(
            zip(corners, scores, strict=True), key=lambda pair: (-pair[1], pair[0])
        ):
            left, right = (min(max(x, 0.0), float(size[0])) for x in (left, right))
            top, bottom = (min(max(y, 0.0), float(size[1])) for y in (top, bottom))
            height = min(bottom - top, right - left) if self.upper else bottom - top
            box = FaceBox(left, top, right - left, height, score)
            if min(box.width, box.height) >= self.smallest and all(shared(box, b) <= self.overlap for b in boxes):
                boxes.append(box)
        more = [self.margin * max(box.width, box.height) for box in boxes]
        return [
            FaceBox(
                round(box.x - by, 2),
                round(box.y - by, 2),
                round(box.width + 2 * by, 2),
                round(box.height + 2 * by, 2),
                round(box.score, 4),
            )
            for box, by in zip(boxes, more, strict=True)
        ]


def shared(first: FaceBox, other: FaceBox) -> float:
    """Intersection over union, in [0, 1]; 0 for boxes without an area."""
    width = min(first.x + first.width, other.x + other.width) - max(first.x, other.x)
    height = min(first.y + first.height, other.y + other.height) - max(first.y, other.y)
    both = max(width, 0.0) * max(height, 0.0)
    union = first.width * first.height + other.width * other.height - both
    return both / union if union > 0 else 0.0
