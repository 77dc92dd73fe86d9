"""MST-E's images: the Monk skin tone that the scale's author gave each subject, in many poses and lights.

Layout as published: `mst-e_image_details.csv` with `image_ID`, `subject_name`, `MST` (1 to 10), `pose`, `lighting` and
`mask` (0 or 1), and the images as `<subject_name>/<image_ID>`: 19 subjects, 1 515 images, 31 videos. Videos and raw
camera files (`.dng`) are left out.

*Licence question.* The terms of the set, made to teach human annotators, are reported to forbid the training of models;
IRIS' authors name it among their training images (C.4). So it is read only on request, and never published.

Trap: a subject has one tone in all images, and some levels rest on a single subject, who must not be in two splits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import SKIN_TONES
from fairspace.builders.sources.reading import AGAIN, inside, table

DETAILS = "mst-e_image_details.csv"
IMAGES = (".jpg", ".jpeg", ".png")
LEFT_OUT = (".mp4", ".mov", ".dng", ".heic")
_TONES = {str(tone): tone for tone in range(1, 11)}


@dataclass(frozen=True, slots=True)
class MstImage:
    """One image and Monk's tone, 1 to 10, of its subject; `file` lies below the source's folder."""

    line: int
    file: str
    subject: str
    mst: int
    skin_tone: str
    pose: str
    lighting: str
    mask: bool


def group_of(mst: int) -> str:
    """IRIS' skin tone group of a Monk tone: 1-3 light, 4-7 middle, 8-10 dark."""
    return SKIN_TONES[(mst > 3) + (mst > 7)]


def images(folder: Path) -> Iterator[MstImage]:
    """The images of MST-E, in the order of the file, one row in memory at a time; videos are left out.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE with file and line.
    """
    yield from (image for image in _rows(folder) if isinstance(image, MstImage))


def left_out(folder: Path) -> dict[str, int]:
    """Ending -> rows with a video or another file that is no image we read. Errors: as `images`."""
    return dict(sorted(Counter(image for image in _rows(folder) if isinstance(image, str)).items()))


def _rows(folder: Path) -> Iterator[MstImage | str]:
    details = folder / DETAILS
    columns = ("image_ID", "subject_name", "MST", "pose", "lighting", "mask")
    for line, row in table(details, columns):
        name, subject, mst, pose, lighting, mask = (cell.strip() for cell in row)
        where = f"{details}:{line}"
        file = inside(f"{subject}/{name}" if subject and name else "", where)
        ending = PurePosixPath(file).suffix.lower()
        if ending in LEFT_OUT:
            yield ending
            continue
        if ending not in IMAGES:
            expected = f"a file that ends in {', '.join((*IMAGES, *LEFT_OUT))}"
            raise BuildError("SOURCE_VALUE", where, f"the image_ID {name!r}", expected, AGAIN)
        if mst not in _TONES:
            raise BuildError("SOURCE_VALUE", where, f"the MST {mst!r}", "a whole number from 1 to 10", AGAIN)
        if mask not in ("0", "1"):
            raise BuildError("SOURCE_VALUE", where, f"the mask {mask!r}", "0 or 1", AGAIN)
        yield MstImage(line, file, subject, _TONES[mst], group_of(_TONES[mst]), pose, lighting, mask == "1")
