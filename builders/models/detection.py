"""Persons found in images, for the crops of IRIS-Ideal-52 and the no-person filters.

IRIS uses YOLOv8 (appendix C.1; `yolo.py`). Here is YOLOS (Fang et al. 2021) or another detector of transformers. Boxes
of any other program are read from a Parquet file with a person per row: `file`, `x`, `y`, `width`, `height` in pixels
and `score` in [0, 1]; a picture without rows has no persons.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.build import file_hash
from fairspace.builders.engine.tools import PersonBox, PersonDetector, Picture
from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.ares.faces_ares import FaceBox as Part

YOLOS = "hustvl/yolos-base"
THRESHOLD = 0.9
"""Least confidence of a person, from YOLOS's own examples; the paper states none."""


class ImageDetector(ABC):
    """A detector that looks at images themselves."""

    batch = 8

    @property
    @abstractmethod
    def name(self) -> str:
        """The model and what decides its boxes."""

    @abstractmethod
    def boxes(self, images: Sequence[Image]) -> list[list[PersonBox]]:
        """The persons of each RGB image, the most certain first."""

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        """The persons of each picture, the most certain first. BuildError SOURCE_IMAGE for an unreadable one."""
        by_picture: list[list[PersonBox]] = []
        for start in range(0, len(pictures), self.batch):
            images = []
            for picture in pictures[start : start + self.batch]:
                try:
                    images.append(picture.open())
                except (OSError, ValueError, SyntaxError) as error:
                    mend = "obtain the image again, or remove it together with its annotations"
                    raise BuildError("SOURCE_IMAGE", picture.name, f"{error}", "a readable image", mend) from error
            by_picture += self.boxes(images)
        return by_picture


class YolosDetector(ImageDetector):
    """Persons by YOLOS or another of transformers' object detectors (folder or ID[@REVISION]).

    `threshold` is the least confidence, in [0, 1]. A pass has images of equal processed size, because padding would
    change the boxes, which are rounded to a hundredth of a pixel and clipped to the image. Errors: BuildError
    TOOL_MISSING without the weights or packages, TOOL_OUTPUT if the model knows no persons, SOURCE_IMAGE for an
    unreadable image.
    """

    def __init__(self, model: str = YOLOS, *, threshold: float = THRESHOLD, device: str = "", batch: int = 8) -> None:
        weights.need("transformers", "build", model)
        self._weights = weights.find(model, "config.json")
        self.threshold, self.device, self.batch = threshold, device, batch

    @property
    def name(self) -> str:
        """Model, commit or hash, threshold."""
        return f"yolos {self._weights.name} threshold {self.threshold:g}"

    @cached_property
    def _loaded(self) -> tuple[Any, Any, int]:
        from transformers import AutoImageProcessor, AutoModelForObjectDetection

        where, revision = self._weights.where, self._weights.revision
        with weights.loading(self._weights):
            processor = AutoImageProcessor.from_pretrained(where, revision=revision, backend="pil")
            model = AutoModelForObjectDetection.from_pretrained(where, revision=revision, use_safetensors=True)
        labels = {str(label).lower(): int(number) for number, label in model.config.id2label.items()}
        if "person" not in labels:
            classes, mend = ", ".join(sorted(labels)[:8]), "use a detector trained on COCO"
            raise BuildError("TOOL_OUTPUT", self._weights.name, f"it knows {classes}", "a class `person`", mend)
        return processor, model.eval().to(weights.best_device(self.device)), labels["person"]

    def boxes(self, images: Sequence[Image]) -> list[list[PersonBox]]:
        """The persons of each RGB image, the most certain first."""
        import torch

        processor, model, person = self._loaded
        tensors = [processor(images=[image], return_tensors="pt")["pixel_values"] for image in images]
        boxes: list[list[PersonBox]] = [[] for _ in images]
        for shape in dict.fromkeys(tensor.shape for tensor in tensors):
            places = [place for place, tensor in enumerate(tensors) if tensor.shape == shape]
            with torch.inference_mode():
                output = model(torch.cat([tensors[place] for place in places]).to(model.device))
            sizes = torch.tensor([images[place].size[::-1] for place in places], device=model.device)
            results = processor.post_process_object_detection(output, self.threshold, sizes)
            for place, result in zip(places, results, strict=True):
                is_person = result["labels"] == person
                corners = result["boxes"][is_person].float().tolist()
                scores = result["scores"][is_person].float().tolist()
                boxes[place] = arrange(corners, scores, images[place].size)
        return boxes


def arrange(corners: Sequence[Sequence[float]], scores: Sequence[float], size: tuple[int, int]) -> list[PersonBox]:
    """Boxes from corners (left, top, right, bottom) in pixels, clipped to the image, the most certain first."""
    boxes = []
    for (left, top, right, bottom), score in zip(corners, scores, strict=True):
        left, right = (min(max(x, 0.0), float(size[0])) for x in (left, right))
        top, bottom = (min(max(y, 0.0), float(size[1])) for y in (top, bottom))
        box = PersonBox(round(left, 2), round(top, 2), round(right - left, 2), round(bottom - top, 2), round(score, 4))
        if box.width > 0 and box.height > 0:
            boxes.append(box)
    return sorted(boxes, key=lambda box: (-box.score, box))


def not_one_person(detector: PersonDetector, images: Sequence[Image]) -> list[str]:
    """The reason, for each image, why it shows not one person (`no face`, `several faces`), else ''."""
    from fairspace.builders.engine.making import jpeg

    pictures = [Picture(f"candidate {place}", jpeg(image)) for place, image in enumerate(images)]
    boxes = detector.detect(pictures)
    return ["" if len(boxes) == 1 else "several faces" if boxes else "no face" for boxes in boxes]


SCHEMA = pa.schema([("file", pa.string())] + [(name, pa.float64()) for name in ("x", "y", "width", "height", "score")])


class FaceParts:
    """The parts of images for ARES (`ares.faces_ares.FaceDetector`) by a detector of a build.

    Of a person it is the upper one, as high as wide; of another label (`face`) the whole box. As `TransformersFaces`
    does by default, it adds a fifth of the longer side on each side, and leaves out boxes with a side under 16 pixels.
    """

    def __init__(self, detector: ImageDetector) -> None:
        self.detector, self.upper = detector, getattr(detector, "label", "person") == "person"

    @property
    def name(self) -> str:
        """The detector and what is taken of its boxes."""
        return f"{self.detector.name}{' upper part' if self.upper else ''} margin 0.2 from 16 px"

    def detect(self, images: Sequence[Image]) -> list[list[Part]]:
        """For each RGB image the parts for ARES, the most certain first."""
        from fairspace.ares.faces_ares import FaceBox as Part

        def part(box: PersonBox) -> Part:
            height = min(box.height, box.width) if self.upper else box.height
            more = 0.2 * max(box.width, height)
            return Part(box.x - more, box.y - more, box.width + 2 * more, height + 2 * more, box.score)

        boxes_of_images = self.detector.boxes(images)
        return [[part(box) for box in boxes if min(box.width, box.height) >= 16] for boxes in boxes_of_images]


class StoredBoxes:
    """Boxes from a Parquet file in the layout of `SCHEMA`.

    Errors: BuildError TOOL_MISSING without the file; TOOL_OUTPUT, with the row, if its layout or a value is wrong.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = Path(file).expanduser()
        if not self.file.is_file():
            mend = f"name a Parquet file with the columns {', '.join(SCHEMA.names)}"
            raise BuildError("TOOL_MISSING", str(file), "no such file", "stored boxes", mend)

    @cached_property
    def name(self) -> str:
        """The file's hash."""
        return f"boxes {self.file.name} (sha256 {file_hash(self.file)[:16]})"

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        """The stored persons of each picture, the most certain first; equal ones in the file's order."""
        return [self._boxes.get(picture.name, []) for picture in pictures]

    @cached_property
    def _boxes(self) -> dict[str, list[PersonBox]]:
        expected = f"a Parquet file with the columns {', '.join(SCHEMA.names)}"
        try:
            table = pq.read_table(self.file).select(SCHEMA.names).cast(SCHEMA)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise BuildError("TOOL_OUTPUT", str(self.file), f"{error}", expected, "store the boxes again") from error
        sizes = np.column_stack([table[name].to_numpy() for name in SCHEMA.names[1:]])
        good = np.isfinite(sizes).all(axis=1) & (sizes[:, 2:4] > 0).all(axis=1)
        good &= (sizes[:, 4] >= 0) & (sizes[:, 4] <= 1) & table["file"].is_valid().to_numpy()
        if not good.all():
            row = int(good.argmin())
            what, expected = (
                f"{table.slice(row, 1).to_pylist()[0]}",
                "a file name, numbers, sizes above 0, a score <= 1",
            )
            raise BuildError("TOOL_OUTPUT", f"{self.file} row {row}", what, expected, "store the boxes again")
        boxes: dict[str, list[PersonBox]] = {}
        for name, *numbers in zip(*(column.to_pylist() for column in table.columns), strict=True):
            boxes.setdefault(name, []).append(PersonBox(*numbers))
        return {name: sorted(of_file, key=lambda box: -box.score) for name, of_file in boxes.items()}
