"""Tools that paint, for processes to open, and a dataset of paintings: `python -m ... OUT PROCESSES` builds it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Row, Split
from fairspace.builders.engine.making import Wanted, jpeg, make
from fairspace.builders.engine.tools import Prompt, Tools
from fairspace.builders.errors import BuildError

UNITS = 60


@dataclass
class Painter:
    """Paints seeds, and compares; a text may ask it to fail, to end its process, or to give too few images.

    Args:
        device: of its process; its length is the green of every painting.
        pause: seconds that an image takes.
    """

    device: str = ""
    pause: float = 0.0
    name: str = "painter"
    seen: Sequence[Image] | None = None

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        time.sleep(self.pause * len(prompts))
        texts = [prompt.text for prompt in prompts]
        if "refused" in texts:
            raise BuildError("TOOL_MISSING", "weights", "none", "some", "fetch them")
        if "killed" in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        images = [Images.new("RGB", (4, 4), (prompt.seed % 256, len(self.device), 0)) for prompt in prompts]
        return images[1:] if "lazy" in texts else images

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """The red of each image, a tenth for each letter, a hundredth if the same list came last time."""
        same, self.seen = images is self.seen, images
        return [image.tobytes()[0] + len(text) / 10 + same / 100 for image, text in zip(images, texts, strict=True)]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        return [a.tobytes()[0] - b.tobytes()[0] for a, b in zip(first, second, strict=True)]


def opened(device: str) -> Tools:
    """The tools of a process."""
    painter = Painter(device)
    return Tools(generator=painter, matcher=painter)


def slow(device: str) -> Tools:
    """Tools that take their time, and paint alike on every device."""
    return Tools(generator=Painter(pause=0.02))


def paintings() -> Dataset:
    """Half of all candidates are rejected."""

    def rows(part: Sequence[int], job: Job) -> Iterator[Row]:
        wanted = [Wanted(f"painting/{number:04}", "a painting") for number in part]
        for item, image in make(job, wanted, _not_red, config="paintings"):
            if image is not None:
                yield {"id": item.key, "image": {"bytes": jpeg(image), "path": "x.jpg"}, "seed": image.info["seed"]}

    columns = {"image": ("image", ""), "seed": ("int64", "")}

    def splits(job: Job) -> list[Split]:
        return [Split("paintings", "A painting.", columns, range(UNITS), lambda part: rows(part, job), shard=20)]

    return Dataset("paintings", "Paintings", "iris", "v1", "CC0-1.0", (), splits, tools=("generator",))


def _not_red(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[str]:
    return ["too red" if image.tobytes()[0] > 128 else "" for image in images]


def no_card(out: Path, dataset: Dataset, manifest: Manifest) -> None:
    """A made-up dataset has no card."""


if __name__ == "__main__":
    from fairspace.builders.engine.build import build
    from fairspace.builders.engine.processes import devices, in_processes
    from tests.builders.engine import painted

    with in_processes(painted.slow, devices("cpu", int(sys.argv[2])), painted.slow("cpu")) as tools:
        build(paintings(), Path(sys.argv[1]), tools=tools, describe=no_card)
