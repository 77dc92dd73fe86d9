"""Persons by YOLOv8, YOLO11 or another detector of Ultralytics, as IRIS finds them (appendix C.1).

`onnx:FILE` runs an export in onnxruntime. Letterbox and non-maximum suppression are here, in numpy, so it needs no
ultralytics, no torchvision and no pickle. `ultralytics:FILE?sha256=HASH` runs a checkpoint (`.pt`, a pickle) by the
package itself, the extra `detect`; only the file with this hash is opened, and nothing in it but known classes.
"""

from __future__ import annotations

import ast
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.engine.build import file_hash
from fairspace.builders.engine.tools import PersonBox
from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.builders.models.detection import ImageDetector, arrange

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
Numbers = NDArray[np.floating[Any]]
Run = Callable[[Numbers], Numbers]

MOST, GREY = 300, 114
"""Most boxes of an image, level of a letterbox's margins: ultralytics' defaults, as all here; the paper states none."""
LICENCE = "Ultralytics' code and weights, exports too, are AGPL-3.0 unless you hold their commercial licence"


class _Yolo(ImageDetector):
    """Persons by a file of Ultralytics; `detect` and `boxes` give them, the most certain first.

    Args:
        sha256: Hash that the file must have; '' takes any, except of a pickle.
        threshold: Least confidence, in [0, 1].
        overlap: Intersection over union, in [0, 1], above which only the most certain box stays.
        label: The model's class to look for.
        device: Device that runs it; '' takes the CPU (ONNX), or a GPU if there is one (ultralytics).
    Errors: BuildError TOOL_MISSING without the package or the file of this hash; TOOL_OUTPUT if it is no detector or
    has no such class; MODEL_UNSAFE for a checkpoint with unknown classes; SOURCE_IMAGE for an unreadable image.
    """

    scheme, package, extra, pinned = "", "", "", False

    def __init__(
        self,
        file: str,
        *,
        sha256: str = "",
        threshold: float = 0.25,
        overlap: float = 0.7,
        label: str = "person",
        device: str = "",
    ) -> None:
        where = f"{self.scheme}:{file}"
        weights.need(self.package, self.extra, f"{where} ({LICENCE})")
        self.file = Path(file).expanduser()
        if not self.file.is_file():
            mend = f"name a model that you exported or obtained; nothing is downloaded. {LICENCE}"
            raise BuildError("TOOL_MISSING", where, "no such file", "a detector of Ultralytics", mend)
        self.sha256 = file_hash(self.file)
        if (sha256 or self.pinned) and sha256.lower() != self.sha256:
            expected = sha256 or "?sha256=HASH, as its makers publish it, for a pickle"
            mend = "obtain the file again, or compare the hash with its makers' and name it"
            raise BuildError("TOOL_MISSING", where, f"its sha256 is {self.sha256}", expected, mend)
        self.threshold, self.overlap, self.label, self.device = threshold, overlap, label, device

    @property
    def name(self) -> str:
        """File, hash and settings."""
        settings = f"{self.label} threshold {self.threshold:g} overlap {self.overlap:g}"
        return f"{self.scheme} {self.file.name} (sha256 {self.sha256[:16]}) {settings}"

    def boxes(self, images: Sequence[Image]) -> list[list[PersonBox]]:
        """The persons of each RGB image, in its pixels."""
        run, size, number, classes = self._ready
        by_image = []
        for image in images:
            square, scale, margin = letterbox(np.asarray(image), size)
            output = run(square)
            if output.ndim != 2 or (output.shape[1] != 6 and output.shape[0] != 4 + classes):
                raise self._no_detector(f"output of shape {output.shape} for {classes} classes")
            corners, scores = suppressed(output, number, self.threshold, self.overlap)
            by_image.append(arrange(((corners - margin) / scale).tolist(), scores.tolist(), image.size))
        return by_image

    @cached_property
    def _ready(self) -> tuple[Run, tuple[int, int], int, int]:
        """The function that runs the model, height and width of its input, the class's number, and of how many."""
        run, size, names = self._open()
        numbers = {name.lower(): number for number, name in names.items()}
        if self.label.lower() not in numbers:
            words, mend = ", ".join(sorted(numbers)[:8]), "use a detector trained on COCO, or name another `label`"
            raise BuildError("TOOL_OUTPUT", self.name, f"it knows {words}", f"a class `{self.label}`", mend)
        return run, size, numbers[self.label.lower()], len(names)

    @abstractmethod
    def _open(self) -> tuple[Run, tuple[int, int], Mapping[int, str]]:
        """The function that runs the model, height and width of its input, and the names of its classes."""

    def _no_detector(self, problem: str) -> BuildError:
        expected = "a detector (task detect) of YOLOv8, YOLO11 or later, by ultralytics"
        return BuildError("TOOL_OUTPUT", self.name, problem, expected, "`yolo export model=yolov8n.pt format=onnx`")


class OnnxYolo(_Yolo):
    """Persons by an export to ONNX: `yolo export model=yolov8n.pt format=onnx`, with any further arguments."""

    scheme, package, extra = "onnx", "onnxruntime", "build"

    def _open(self) -> tuple[Run, tuple[int, int], Mapping[int, str]]:
        import onnxruntime

        providers = [*(["CUDAExecutionProvider"] if self.device.startswith("cuda") else []), "CPUExecutionProvider"]
        try:
            session = onnxruntime.InferenceSession(self.file, providers=providers)
        except Exception as error:  # onnxruntime has a class for each fault, and no common one
            raise self._no_detector(str(error).partition("\n")[0]) from error
        about, source = session.get_modelmeta().custom_metadata_map, session.get_inputs()[0]
        if about.get("task") != "detect" or "names" not in about or "imgsz" not in about:
            raise self._no_detector(f"an export for the task {about.get('task', 'that its metadata leave out')}")
        if source.shape[0] not in (1, "batch"):
            raise self._no_detector(f"an export for {source.shape[0]} images at a time")
        height, width = ast.literal_eval(about["imgsz"])
        kind = np.float16 if "float16" in source.type else np.float32

        def run(square: Numbers) -> Numbers:
            output: Numbers = session.run(None, {source.name: square.astype(kind)})[0][0].astype(np.float32)
            return output

        return run, (height, width), ast.literal_eval(about["names"])


class UltralyticsYolo(_Yolo):
    """Persons by a checkpoint of ultralytics, in squares of 640 pixels; its own `predict` trims their margins."""

    scheme, package, extra, pinned = "ultralytics", "ultralytics", "detect", True

    def _open(self) -> tuple[Run, tuple[int, int], Mapping[int, str]]:
        os.environ |= {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false"}  # else it connects, and installs packages
        import torch
        from ultralytics.nn.tasks import torch_safe_load

        try:
            checkpoint, _ = torch_safe_load(str(self.file), safe_only=True)
        except Exception as error:  # its loader raises TypeError, ModuleNotFoundError, or what torch raises
            mend = "take the checkpoint that its makers publish, or export it and use onnx:FILE"
            what = str(error).strip().partition("\n")[0]
            raise BuildError("MODEL_UNSAFE", str(self.file), what, "known classes alone", mend) from error
        model = (checkpoint.get("ema") or checkpoint["model"]).float().eval().to(weights.best_device(self.device))
        if getattr(model, "task", "detect") != "detect":
            raise self._no_detector(f"a model for {model.task}")

        def run(square: Numbers) -> Numbers:
            with torch.inference_mode():
                output = model(torch.from_numpy(square).to(next(model.parameters()).device))
            numbers: Numbers = (output[0] if isinstance(output, tuple) else output)[0].cpu().numpy()
            return numbers

        return run, (640, 640), model.names


def letterbox(rgb: Pixels, size: tuple[int, int]) -> tuple[Numbers, Numbers, Numbers]:
    """An image (height, width, 3) in the middle of a grey square, as ultralytics puts it there.

    `size` is the square's height and width. Returns float32 (1, 3, height, width) in [0, 1]; and scale and margin, each
    (4,), with which corners (left, top, right, bottom) in the square are margin + scale * those in the image.
    """
    old = rgb.shape[:2]
    ratio = min(size[0] / old[0], size[1] / old[1])
    height, width = (max(round(side * ratio), 1) for side in old)
    top, left = round((size[0] - height) / 2 - 0.1), round((size[1] - width) / 2 - 0.1)
    square = np.full((*size, 3), GREY, np.uint8)
    square[top : top + height, left : left + width] = rgb if old == (height, width) else _resized(rgb, height, width)
    pixels = square.transpose(2, 0, 1)[None].astype(np.float32) / 255
    return pixels, np.tile([width / old[1], height / old[0]], 2), np.tile([float(left), float(top)], 2)


def _resized(rgb: Pixels, height: int, width: int) -> Pixels:
    """Bilinear between the centres of pixels without smoothing, in whole numbers, as OpenCV's INTER_LINEAR.

    Equal to it where an image shrinks; where it grows, at most one pixel in 200 differs, by a level.
    """

    def between(old: int, new: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int32]]:
        at = ((np.arange(new) + 0.5) * (old / new) - 0.5).clip(0, old - 1).astype(np.float32)
        first = at.astype(np.intp)
        return first, np.minimum(first + 1, old - 1), np.rint((at - first) * 2048).astype(np.int32)

    (upper, lower, down), (left, right, across) = between(rgb.shape[0], height), between(rgb.shape[1], width)
    down, across, levels = down[:, None, None], across[:, None], rgb.astype(np.int32)
    rows = (levels[:, left] * (2048 - across) + levels[:, right] * across) >> 4
    mixed = (rows[upper] * (2048 - down) >> 16) + (rows[lower] * down >> 16)
    return (mixed + 2 >> 2).astype(np.uint8)


def suppressed(output: Numbers, number: int, threshold: float, overlap: float) -> tuple[Numbers, Numbers]:
    """Corners (boxes, 4) in the square and scores (boxes,) of class `number`, the most certain first, without doubles.

    `output` is (4 + classes, candidates), with centre, width, height and the class's probabilities; or (boxes, 6), with
    corners, score and class, of a model that suppresses doubles itself. A candidate is of its likeliest class.
    """
    if output.shape[1] == 6:
        candidates = output[(output[:, 5] == number) & (output[:, 4] > threshold)]
        return candidates[:, :4], candidates[:, 4]
    chances = output[4:]
    output = output[:, (chances.argmax(0) == number) & (chances[number] > threshold)]
    scores, (x, y, width, height) = output[4 + number], output[:4]
    corners = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=1)
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    while len(order) and len(kept) < MOST:
        first, order = order[0], order[1:]
        kept.append(first)
        order = order[_shared(corners[first], corners[order]) <= overlap]
    return corners[kept], scores[kept]


def _shared(box: Numbers, others: Numbers) -> Numbers:
    """Intersection over union of a box (4,) with others (boxes, 4), as corners."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    both = sides.clip(0).prod(axis=1)
    areas = (box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(axis=1)
    shares: Numbers = both / np.maximum(areas - both, np.finfo(np.float32).tiny)
    return shares
