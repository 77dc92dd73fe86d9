"""The images that ARES is trained on: a built IRIS-Classifier-25 folder, or faces drawn on the fly (`drawn:N`).

| part | of a folder | of `drawn:N` | used for |
|---|---|---|---|
| `train` | `train`, but for `stop` | N faces | experts, fusion |
| `stop` | every 20th image of `train`, by the hash of its id | N / 10 | early stopping of both |
| `routers` | `validation`, but for `calibration` | N / 2 | routers |
| `calibration` | every 5th image of `validation` | N | cuts, route shares, confidence |
| `test` | `test` | N / 4 | the report in `training.json` |

So routers and cuts see only answers to images that no expert was trained on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.reading_ares import quiet
from fairspace.ares.training.loop import image_seed
from fairspace.builders.drawn.swatches import ATTIRE, BUCKETS, STRIPS, draw_person, draws, person, wall
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS

if TYPE_CHECKING:
    from PIL.Image import Image

# Drawn faces: all groups of age and gender meet all ten Monk swatches equally often. Some are incomplete, small or
# noisy, so that experts err and routing has work. A drawing follows from (seed, part, number) alone.

_CLOSER = 1.5
"""Width of a person's picture over that of the part that is shown: its upper strips, which have the labels."""
INCOMPLETE, SMALL, NOISY = 0.1, 0.1, 0.2
"""Shares of the faces."""
_NOISE = 14.0
"""Largest standard deviation of the noise, in levels of 255."""
_SWATCH = {monk: tone for tone, swatches in BUCKETS.items() for monk in swatches}
_CELLS = list(product(GENDERS, AGES, _SWATCH))


@dataclass(frozen=True)
class DrawnFace:
    """A square RGB drawing with its labels, the `monk` swatch of its skin, and whether part of the face is missing.

    Labels are of `gender`, `age`, `skin_tone` and `accessories` (`with` or `without`).
    """

    image: Image
    labels: dict[str, str]
    monk: int
    incomplete: bool


def drawn_face(part: str, number: int, *, seed: int = 0, size: int = 64) -> DrawnFace:
    """The face of a number; parts (`train`, `test`, ...) never share a draw.

    60 numbers in a row hold each group and swatch once. `size`: pixels of a side.
    """
    from PIL import Image as Images

    random = draws("drawn face", seed, part, number)
    gender, age, monk = _CELLS[number % len(_CELLS)]
    incomplete, small, noisy = random.random_sample(3) < (INCOMPLETE, SMALL, NOISY)
    accessories, insignia, beard = random.random_sample(3) < (0.5, 0.2, 0.3)
    who = person(
        gender,
        age,
        _SWATCH[monk],
        int(random.randint(2**31)),
        monk=monk,
        accessories=bool(accessories),
        insignia=bool(insignia),
        facial_hair=bool(beard and gender == "male"),
        attire=list(ATTIRE)[random.randint(len(ATTIRE))],
        expression=list(STRIPS["expression"])[random.randint(3)],
    )
    inner = round(size * random.uniform(0.7, 0.95)) if small else size
    whole = draw_person(who, int(random.randint(2**31)), round(inner * _CLOSER), incomplete=bool(incomplete))
    left, top = round(inner * _CLOSER * 0.12), round(inner * _CLOSER * 0.04)
    image = whole.crop((left, top, left + inner, top + inner))
    pixels = np.empty((size, size, 3))
    pixels[:] = wall(random)
    x, y = random.randint(size - inner + 1, size=2)
    pixels[y : y + inner, x : x + inner] = np.asarray(image)
    if noisy:
        pixels = pixels + random.normal(0, random.uniform(0, _NOISE), pixels.shape)
    labels = {"gender": gender, "age": age, "skin_tone": _SWATCH[monk]}
    labels["accessories"] = "with" if accessories else "without"
    image = Images.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
    return DrawnFace(image, labels, monk, bool(incomplete))


DRAWN = "drawn:"
_DRAWN_SHARES = {"train": 1.0, "stop": 0.1, "routers": 0.5, "calibration": 1.0, "test": 0.25}
_SPLIT = {"train": "train", "stop": "train", "routers": "validation", "calibration": "validation", "test": "test"}
PARTS = tuple(_SPLIT)
_STOP, _CALIBRATION = 20, 5
"""One image in this many of `train` stops training early; of `validation` calibrates."""


def open_data(data: str, tasks: Sequence[Mapping[str, Any]], size: int, seed: int, work: Path) -> Data:
    """The data that a command line names: a folder, or `drawn:N`. BuildError TRAINING_DATA.

    `size`: pixels; `seed`: of drawings and of the choice of parts; `work`: folder for prepared data.
    """
    if data.startswith(DRAWN):
        number = data.removeprefix(DRAWN)
        if not number.isdecimal() or not 60 <= int(number) <= 1_000_000:
            mend = "give drawn:2400, or the folder of a built IRIS-Classifier-25"
            raise BuildError("TRAINING_DATA", f"--data {data}", repr(number), "a number from 60 to 1000000", mend)
        return DrawnData(int(number), tasks, size, seed)
    return FolderData(Path(data), tasks, size, seed, work)


def label_index(task: Mapping[str, Any]) -> dict[tuple[str, ...], int]:
    """Values of the task's attributes -> index of its label."""
    return {values: index for index, values in enumerate(zip(*task["attributes"].values(), strict=True))}


class DrawnData:
    """Drawn faces with labels for all tasks.

    Like `FolderData` it has a `name`, the `sha256` of everything that decides the images, and `sample`: whether they
    are drawings or a sample build, whose models are not released.
    """

    def __init__(self, number: int, tasks: Sequence[Mapping[str, Any]], size: int, seed: int) -> None:
        self.name, self.sample = f"{DRAWN}{number}", True
        self.number, self.tasks, self.size, self.seed = number, tasks, size, seed
        self.sha256 = hashlib.sha256(f"{self.name}/{size}/{seed}".encode()).hexdigest()
        self._parts: dict[str, DrawnFaces] = {}

    def part(self, part: str, task: str) -> DrawnFaces:
        """The faces of a part; the same for every task. BuildError if drawings do not show the task's attributes."""
        if part not in self._parts:
            n = max(60, round(self.number * _DRAWN_SHARES[part]))
            self._parts[part] = DrawnFaces(part, n, self.tasks, self.size, self.seed)
        if (self._parts[part].labels[task] < 0).any():
            expected = "attributes with the values that ares/training/data.py draws"
            raise BuildError("TRAINING_DATA", self.name, f"no labels for {task}", expected, "name a folder with images")
        return self._parts[part]


class DrawnFaces:
    """The faces of one part, in memory.

    Like `FolderFaces` it has `labels`: task -> (n,) indices into its labels, -1 for none.
    """

    def __init__(self, part: str, n: int, tasks: Sequence[Mapping[str, Any]], size: int, seed: int) -> None:
        self.size = size
        self.pixels = torch.empty(n, 3, size, size, dtype=torch.uint8)
        labelled: list[dict[str, str]] = []
        for row in range(n):
            face = drawn_face(part, row, seed=seed, size=size)
            self.pixels[row] = torch.from_numpy(np.array(face.image)).permute(2, 0, 1)
            labelled.append(face.labels)
        self.labels: Mapping[str, NDArray[np.intp]] = {
            task["name"]: np.array(
                [
                    label_index(task).get(tuple(face.get(name, "") for name in task["attributes"]), -1)
                    for face in labelled
                ]
            )
            for task in tasks
        }

    def batches(self, order: Sequence[NDArray[np.intp]], workers: int) -> Iterator[torch.Tensor]:
        """The images of each list of rows, (n, 3, s, s) of uint8."""
        for rows in order:
            yield self.pixels[torch.as_tensor(rows)]


class FolderData:
    """A built IRIS-Classifier-25: a config per task, with the splits `train`, `validation` and `test`."""

    def __init__(self, folder: Path, tasks: Sequence[Mapping[str, Any]], size: int, seed: int, work: Path) -> None:
        from fairspace.builders.engine.build import file_hash

        self.folder, self.tasks, self.size, self.seed, self.work = folder, list(tasks), size, seed, work
        manifest = folder / "manifest.json"
        if not manifest.is_file():
            mend = "build it with `fairspace build iris_classifier_25`, or give drawn:N"
            raise BuildError("TRAINING_DATA", str(folder), "no manifest.json", "the folder of a finished build", mend)
        self.sha256, self.sample = file_hash(manifest), bool(json.loads(manifest.read_bytes()).get("sample"))
        self.name = f"{folder.name}@{self.sha256[:12]}"
        self._splits: dict[tuple[str, str], Any] = {}
        self._parts: dict[tuple[str, str], FolderFaces] = {}

    def part(self, part: str, task: str) -> FolderFaces:
        """The images of a part. BuildError TRAINING_DATA if the folder has none."""
        if (part, task) not in self._parts:
            table = self._split(_SPLIT[part], task)
            keep = [row for row, name in enumerate(table["id"]) if self._in_part(part, name)]
            if not keep:
                mend = "build it with more images, and with its sources and tools"
                raise BuildError(
                    "TRAINING_DATA", f"{self.folder}, {task}/{_SPLIT[part]}", "no image", f"images for {part}", mend
                )
            self._parts[part, task] = FolderFaces(table, np.array(keep), self.tasks, self.size)
        return self._parts[part, task]

    def _in_part(self, part: str, name: str) -> bool:
        place = image_seed(self.seed, "part", name)
        stop, calibration = place % _STOP == 0, place % _CALIBRATION == 0
        return {"train": not stop, "stop": stop, "routers": not calibration, "calibration": calibration}.get(part, True)

    def _split(self, split: str, task: str) -> Any:
        from datasets import Image, load_dataset

        if (split, task) not in self._splits:
            files = sorted(str(file) for file in (self.folder / task).glob(f"{split}-*.parquet"))
            if not files:
                mend = "build the config, or leave the task out of the configuration"
                raise BuildError("TRAINING_DATA", f"{self.folder / task}", f"no {split} split", "Parquet shards", mend)
            read = load_dataset("parquet", data_files={"part": files}, split="part", cache_dir=str(self.work / "data"))
            self._splits[split, task] = read.cast_column("image", Image(decode=False))
        return self._splits[split, task]


class FolderFaces:
    """Rows of a split, read from a memory-mapped file and decoded on demand."""

    def __init__(self, table: Any, keep: NDArray[np.intp], tasks: Sequence[Mapping[str, Any]], size: int) -> None:
        self.table, self.keep, self.size = table, keep, size
        self.processor = AresImageProcessor(image_size=size)
        self.generated = np.array(_names(table, "origin"))[keep] == "synthetic"
        self.labels: Mapping[str, NDArray[np.intp]] = {task["name"]: _labels(table, task)[keep] for task in tasks}

    def batches(self, order: Sequence[NDArray[np.intp]], workers: int) -> Iterator[torch.Tensor]:
        """The images of each list of rows, in pinned memory where there is a GPU; `workers` processes decode."""
        yield from torch.utils.data.DataLoader(
            _Decoder(self.table, self.keep, self.processor),
            batch_sampler=[rows.tolist() for rows in order],
            num_workers=workers,
            pin_memory=torch.cuda.is_available(),
            collate_fn=self._stacked,
        )

    def _stacked(self, images: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.stack(list(images)) if images else torch.empty(0, 3, self.size, self.size, dtype=torch.uint8)


class _Decoder(torch.utils.data.Dataset[torch.Tensor]):
    def __init__(self, table: Any, keep: NDArray[np.intp], processor: AresImageProcessor) -> None:
        self.table, self.keep, self.processor = table, keep, processor

    def __getitem__(self, row: int) -> torch.Tensor:
        """One image, (3, s, s) of uint8, read and scaled as for classification. BuildError TRAINING_DATA."""
        cells = self.table[int(self.keep[row])]
        with quiet():
            image = self.processor.prepare(cells["image"]["bytes"])
        if image.pixels is None:
            what = f"{image.fate.reason}: {image.fate.detail}"
            raise BuildError("TRAINING_DATA", str(cells["id"]), what, "an image", "build the dataset again")
        return torch.from_numpy(image.pixels).permute(2, 0, 1)


def _names(table: Any, column: str) -> list[str]:
    """A ClassLabel column as names, '' where it is null or missing."""
    if column not in table.column_names:
        return [""] * len(table)
    names = table.features[column].names
    return [names[code] if code is not None and code >= 0 else "" for code in table[column]]


def _labels(table: Any, task: Mapping[str, Any]) -> NDArray[np.intp]:
    index = label_index(task)
    columns = [_names(table, attribute) for attribute in task["attributes"]]
    return np.array([index.get(values, -1) for values in zip(*columns, strict=True)])


Faces = DrawnFaces | FolderFaces
Data = DrawnData | FolderData
