"""Rows of a built folder, kills of a build, and a painter that dies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.dataset import BuildManifest, Dataset
from fairspace.builders.engine.tools import ImagePrompt

Built = tuple[Path, BuildManifest]


class Killed(BaseException):
    """A kill that nothing catches."""


@dataclass
class SeedPainter:
    """Paints the seed's last three bytes into every pixel; dies after some images."""

    name: str = "painter"
    lives: int = 1_000_000
    asked: list[ImagePrompt] = field(default_factory=list)

    def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
        self.asked += prompts
        if len(self.asked) > self.lives:
            raise Killed
        return [Images.new("RGB", (8, 8), (red_of(p.seed), (p.seed >> 8) & 255, p.seed & 255)) for p in prompts]

    def edit(self, images: Sequence[Image], instructions: Sequence[ImagePrompt]) -> list[Image]:
        return [Images.blend(a, b, 0.5) for a, b in zip(images, self.generate(instructions), strict=True)]


def red_of(seed: int) -> int:
    """The red of a `SeedPainter`'s picture."""
    return seed >> 16 & 255


def no_card(folder: Path, dataset: Dataset, manifest: BuildManifest) -> None:
    """The card has tests of its own."""


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def table(out: Path, config: str, split: str = "") -> pa.Table:
    """A built config; labels by their names."""
    from datasets import ClassLabel, Features

    read = pa.concat_tables(pq.read_table(file) for file in sorted((out / config).glob(f"{split}*.parquet")))
    for place, (name, feature) in enumerate(Features.from_arrow_schema(read.schema).items()):
        if isinstance(feature, ClassLabel):
            read = read.set_column(place, name, pa.array(feature.names, pa.string()).take(read[name]))
    return read


def rows(out: Path, config: str, split: str = "") -> list[dict[str, Any]]:
    """Rows of a built config; labels by their names."""
    found: list[dict[str, Any]] = table(out, config, split).to_pylist()
    return found
