"""The images that ARES is measured on: the test split of a built IRIS-Classifier-25, or faces drawn on the fly.

A task is measured on its own config's test split. Labels for other tasks and the origin of an image are its groups.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fairspace.ares.evaluating import DRAWN_FACES, SAMPLE
from fairspace.ares.evaluating.measure import attribute_codes
from fairspace.ares.fates_ares import ImageLimits
from fairspace.ares.reading_ares import quiet, read_image
from fairspace.ares.training.data import DRAWN, DrawnFaces, Faces, FolderData, FolderFaces, open_data
from fairspace.builders.errors import BuildError

UNKNOWN = -1


@dataclass(frozen=True)
class HeldOut:
    """Images of one source, measured for some tasks.

    `groups`: name (an attribute or `origin`) -> labels and (n,) indices into them, -1 if unknown.
    """

    faces: Faces
    tasks: tuple[str, ...]
    groups: Mapping[str, tuple[tuple[str, ...], NDArray[np.intp]]]

    def __len__(self) -> int:
        return len(next(iter(self.faces.labels.values())))

    def pixels(self, rows: NDArray[np.intp], device: torch.device) -> torch.Tensor:
        """(n, 3, s, s) in [0, 1]."""
        (batch,) = self.faces.batches([rows], 0)
        return batch.to(device).float() / 255


@dataclass(frozen=True)
class HeldOutData:
    """All images that a model is measured on; each task is measured on one of the `sets`.

    Drawn faces have number and seed as `revision`; `sha256` covers everything that decides the images.
    """

    name: str
    revision: str
    sha256: str
    sets: tuple[HeldOut, ...]


class Pictures(Sequence[Any]):
    """The PIL images of a test set as a vision-language model sees them, opened on demand."""

    def __init__(self, faces: Faces) -> None:
        self.faces = faces

    def __len__(self) -> int:
        return len(next(iter(self.faces.labels.values())))

    def __getitem__(self, row: Any) -> Any:
        """One image, upright, in RGB; of a folder at its own size."""
        from PIL import Image

        if isinstance(self.faces, FolderFaces):
            cells = self.faces.table[int(self.faces.keep[row])]
            with quiet():
                image, fate = read_image(cells["image"]["bytes"], ImageLimits(side=1), 0)
            if image is None:
                what = f"{fate.reason}: {fate.detail}"
                raise BuildError("TRAINING_DATA", str(cells["id"]), what, "an image", "build the dataset again")
            return image
        (pixels,) = self.faces.batches([np.array([row])], 0)
        return Image.fromarray(pixels[0].permute(1, 2, 0).numpy())


def open_test(data: str, tasks: Sequence[Mapping[str, Any]], size: int, seed: int, work: Path) -> HeldOutData:
    """The images that a command line names: a built IRIS-Classifier-25, or `drawn:N` for N faces that no training drew.

    BuildError TRAINING_DATA if an image or a label is missing. `size`: pixels; `seed`: of drawings; `work`: folder for
    prepared data.
    """
    opened = open_data(data, tasks, size, seed, work)
    if isinstance(opened, FolderData):
        manifest = json.loads((opened.folder / "manifest.json").read_text(encoding="utf-8"))
        sets = tuple(held_out(opened.part("test", str(t["name"])), [t], tasks) for t in tasks)
        sample = f" {SAMPLE}" if manifest.get("sample") else ""
        return HeldOutData(manifest["dataset"], f"{manifest['revision']}{sample}", opened.sha256, sets)
    faces = DrawnFaces("test", int(data.removeprefix(DRAWN)), tasks, size, seed)
    return HeldOutData(DRAWN_FACES, f"{data}, seed {seed}", opened.sha256, (held_out(faces, tasks, tasks),))


def held_out(faces: Faces, measured: Sequence[Mapping[str, Any]], tasks: Sequence[Mapping[str, Any]]) -> HeldOut:
    """Images for measuring some tasks, with the groups from labels for all of a model's tasks."""
    groups = {
        attribute: (
            tuple(dict.fromkeys(str(value) for value in values)),
            attribute_codes(task, attribute, faces.labels[task["name"]]),
        )
        for task in tasks
        for attribute, values in task["attributes"].items()
    }
    if isinstance(faces, FolderFaces):
        groups["origin"] = (("real", "generated"), faces.generated.astype(np.intp))
    return HeldOut(faces, tuple(str(task["name"]) for task in measured), groups)
