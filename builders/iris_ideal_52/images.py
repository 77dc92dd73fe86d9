"""The images of IRIS-Ideal-52: real ones first, then synthetic ones for what each cell lacks (C.1).

A cell is an occupation and one of the 18 groups; it takes at most `per_cell` real persons, drawn by the plan's hash.
The places that remain are the gap. Where a generator, a labeller and a matcher are named, images are made for each of
them from the paper's prompt until one shows what its cell says: one face, the gender, age and skin tone that were asked
for, and an occupation that the matcher finds among the nearest.
"""

from __future__ import annotations

import hashlib
import math
import os
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.dataset import Job, Row, expect
from fairspace.builders.engine.making import Wanted, jpeg, make
from fairspace.builders.engine.plan_store import Chosen, Selection
from fairspace.builders.engine.reviews import Reviews
from fairspace.builders.engine.tools import Box
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_ideal_52.checks import verdicts
from fairspace.builders.iris_ideal_52.columns import COLUMNS, WINDOW, labels_of
from fairspace.builders.iris_ideal_52.persons import Found
from fairspace.builders.iris_ideal_52.plan import QUESTION
from fairspace.builders.publishing import join_images

if TYPE_CHECKING:
    from PIL.Image import Image

PROMPT = (
    "A hyper-realistic close-up photo of the face of {attributes} {occupation}, sharp details, clear facial "
    "features, soft lighting, smooth skin texture, realistic eyes, natural makeup, high-definition quality"
)
"""C.1; the template's "a" stands with the attributes, because English says "an older"."""
CELLS = tuple(f"{occupation}/{group}" for occupation in OCCUPATIONS for group in GROUPS)
"""The 936 cells in the order of the items."""
ATTEMPTS = 10
"""Seeds that are tried for a synthetic image."""
_CHUNK, _WORKERS = 100, 4
"""Images that a thread takes at a time, and threads at most."""
_EMPTY = dict.fromkeys(COLUMNS)


@dataclass(frozen=True)
class Place:
    """A place of a cell that a synthetic image is to fill."""

    cell: str
    place: int


class Places:
    """All places that will be tried to fill, cell by cell: the chosen real persons, then synthetic places.

    Args:
        chosen: real persons, in the order of `cells`; None if there are none.
        synthetic: cell -> how many places after the real ones.
        cells: their order.
    """

    def __init__(self, chosen: Selection | None, synthetic: Mapping[str, int], cells: Sequence[str] = CELLS) -> None:
        self.cells, self._chosen = cells, chosen
        self._real = [chosen.counts.get(cell, 0) if chosen else 0 for cell in cells]
        self._ends = list(accumulate(n + synthetic.get(cell, 0) for n, cell in zip(self._real, cells, strict=True)))
        self._before = [0, *accumulate(self._real)]

    def __len__(self) -> int:
        """How many."""
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, part: slice, /) -> list[Chosen | Place]:
        """Those of a slice without step."""
        start, stop, _ = part.indices(len(self))
        units: list[Chosen | Place] = []
        while start < stop:
            number = bisect_right(self._ends, start)
            first = self._ends[number - 1] if number else 0
            end = min(stop, self._ends[number])
            real = self._real[number]
            if self._chosen is not None and start - first < real:
                before = self._before[number]
                units += self._chosen[before + start - first : before + min(end - first, real)]
            units += [Place(self.cells[number], place) for place in range(max(start - first, real), end - first)]
            start = end
        return units


def prompt(cell: str) -> str:
    """C.1's prompt with the attributes in the order of its example, 'young female dark-colored'."""
    known = labels_of(cell)
    age = {"young": "a young", "middle-aged": "a middle-aged", "older": "an older"}[known["age"]]
    attributes = f"{age} {known['gender']} {known['skin_tone']}-colored"
    return PROMPT.format(attributes=attributes, occupation=known["occupation"].replace("_", " "))


def window(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """The square crop (x, y, width, height) around a box in an image of width x height pixels.

    Its side is 384 pixels, or the longer side of the box if that is more, but no more than the image has; it is centred
    on the box and shifted into the image. So a person is cut only where the image is too narrow for a square.
    """
    side = min(max(join_images.SIZE, math.ceil(box.width), math.ceil(box.height)), width, height)
    x = min(max(round(box.x + box.width / 2 - side / 2), 0), width - side)
    y = min(max(round(box.y + box.height / 2 - side / 2), 0), height - side)
    return x, y, side, side


def rows(part: Sequence[Chosen | Place], job: Job, folder: Path | None) -> Iterator[Row]:
    """The rows of some places, in order; a place for which no synthetic image passed gives none, and the log says so.

    Args:
        part: a slice of `Places`.
        job: with a generator, a labeller and a matcher, if the slice has synthetic places.
        folder: FACET's, if it has real persons.

    Errors: BuildError SOURCE_IMAGE with the file that is missing or unreadable.
    """
    wanted = [Wanted(_item(place), prompt(place.cell)) for place in part if isinstance(place, Place)]
    results = make(job, wanted, partial(verdicts, job), attempts=ATTEMPTS, config="occupation")
    reviews = Reviews(job.options)
    crops = _ahead([place for place in part if isinstance(place, Chosen)], folder)
    for place in part:
        common = {**_EMPTY, "id": _item(place), "question": QUESTION, **labels_of(place.cell)}
        if isinstance(place, Place):
            item, image = next(results)
            expect(item.key == common["id"], "iris_ideal_52", f"an image for {item.key}", str(common["id"]))
            if image is not None:
                reviewed = reviews.columns(item.key, image.info["seed"])
                yield {**common, **_synthetic(job, item, image), **reviewed}
        else:
            yield {**common, **next(crops), **reviews.columns(common["id"], None)}


def _ahead(part: Sequence[Chosen], folder: Path | None) -> Iterator[dict[str, Any]]:
    """The columns of real images, in order; a few chunks are read, hashed and cropped beside the writing."""
    if folder is None or not part:
        return

    def chunk(start: int) -> list[dict[str, Any]]:
        return [cropped(Found.loads(c.data), folder, _name(c)) for c in part[start : start + _CHUNK]]

    workers = min(os.cpu_count() or 1, _WORKERS)
    with ThreadPoolExecutor(workers) as pool:
        coming: deque[Future[list[dict[str, Any]]]] = deque()
        for start in range(0, len(part), _CHUNK):
            coming.append(pool.submit(chunk, start))
            if len(coming) > workers:
                yield from coming.popleft().result()
        while coming:
            yield from coming.popleft().result()


def _item(place: Chosen | Place) -> str:
    return f"ideal/{place.cell}/{place.place:02d}"


def _name(place: Chosen | Place) -> str:
    """A file name for the image."""
    return f"{_item(place).replace('/', '-')}.jpg"


def cropped(person: Found, folder: Path, name: str) -> dict[str, Any]:
    """The columns of a real image. BuildError SOURCE_IMAGE if its file is missing or unreadable."""
    file = f"{folder}/{person.file}"
    try:
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 -- Path takes as long as the reading
            data = stream.read()
        crop = window(person.box, *join_images.upright_size(data))
        content = join_images.cropped_jpeg(data, crop)
    except (OSError, ValueError, SyntaxError) as error:
        mend = "obtain the image again, or remove it together with its annotations"
        raise BuildError("SOURCE_IMAGE", file, str(error), "a readable image", mend) from error
    return {
        "image": {"bytes": content, "path": name},
        "origin": "facet",
        "source_file": person.file,
        "source_sha256": hashlib.sha256(data).hexdigest(),
        "person_id": person.person_id,
        "second_occupation": person.second_occupation or None,
        **dict(zip(WINDOW, crop, strict=True)),
    }


def _synthetic(job: Job, item: Wanted, image: Image) -> dict[str, Any]:
    from PIL.Image import Resampling

    size = (join_images.SIZE, join_images.SIZE)
    scaled = image if image.size == size else image.resize(size, Resampling.LANCZOS)
    generator = job.tools.generator
    return {
        "image": {"bytes": jpeg(scaled), "path": f"{item.key.replace('/', '-')}.jpg"},
        "origin": "synthetic",
        "prompt": item.prompt,
        "generator": generator.name if generator else None,
        "seed": image.info["seed"],
        "occupation_rank": image.info["occupation_rank"],
    }
