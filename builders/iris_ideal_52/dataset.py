"""IRIS-Ideal-52 as a dataset: occupation images balanced over 936 cells, the gap that FACET leaves, the tournament.

A cell is an occupation and one of the 18 groups, with 29 images (option `per_cell`): real persons first, drawn by the
plan's hash, then images made from the paper's prompt (C.1) until one shows one face with the cell's gender, age and
skin tone, and an occupation that the matcher finds among the nearest. A sample fills a few occupations with two images
per cell. Without FACET, or without a generator, a labeller and a matcher, the build has what the others give, and a
note.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from fairspace.builders.engine import making, reviews
from fairspace.builders.engine.build import file_hash
from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Columns, Dataset, Row, Split, expect
from fairspace.builders.engine.reviews import Reviews
from fairspace.builders.engine.tools import Matcher, PersonBox, PersonDetector, Picture
from fairspace.builders.errors import BuildError
from fairspace.builders.iris import groups
from fairspace.builders.iris_ideal_52 import plan as ideal
from fairspace.builders.iris_ideal_52.plan import QUESTION
from fairspace.builders.publishing import join_images
from fairspace.builders.sources import SOURCES, facet

if TYPE_CHECKING:
    from PIL.Image import Image


OVERLAP = 0.5
"""Least intersection over union of a detected and an annotated box of one person; the paper states none."""
_BATCH = 64


@dataclass(frozen=True)
class FacetPerson:
    """A person with an occupation, three labels and a detected box in pixels; the file lies below FACET's folder."""

    person_id: str
    file: str
    second_occupation: str
    box: PersonBox


def find_persons(job: BuildJob, folder: Path, file: Path) -> list[making.Candidate]:
    """Read, detect and match: key person_id, data `FacetPerson`; others are logged, boxes kept in `file`.

    BuildError TOOL_MISSING without a detector, SOURCE_* from reader and detector.
    """
    detector = job.tools.detector
    if detector is None:
        mend = "name one, for example --tool detector=yolos:hustvl/yolos-base"
        raise BuildError("TOOL_MISSING", "FACET", "no person detector", "a model that finds persons", mend)
    persons = list(facet.persons(folder))
    for person in persons:
        if lacking := [name for name, label in _labels(person).items() if not label]:
            job.reject(f"facet/{person.person_id}", "label missing", line=person.line, labels=", ".join(lacking))
    files = sorted({person.file for person in persons if all(_labels(person).values())})
    boxes = _detected(files, folder, file, detector, job)
    persons.sort(key=lambda person: (person.file, person.line))
    return list(_matched([person for person in persons if person.file in boxes], boxes, job))


def overlap(first: PersonBox, second: PersonBox) -> float:
    """Intersection over union of two boxes, in [0, 1]."""
    width = min(first.x + first.width, second.x + second.width) - max(first.x, second.x)
    height = min(first.y + first.height, second.y + second.height) - max(first.y, second.y)
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (first.width * first.height + second.width * second.height - shared)


def match(annotated: Sequence[PersonBox], detected: Sequence[PersonBox]) -> list[tuple[PersonBox | None, float]]:
    """The detected box of the same person, or None, and the overlap, for each annotated box.

    Pairs are made one to one, largest overlap first, ties in the order of the lists, down to `OVERLAP`. Without a match
    the overlap is the largest with any detected box.
    """
    overlaps = [[overlap(a, d) for d in detected] for a in annotated]
    pairs = sorted((-value, a, d) for a, row in enumerate(overlaps) for d, value in enumerate(row) if value >= OVERLAP)
    matches: list[tuple[PersonBox | None, float]] = [(None, max(row, default=0.0)) for row in overlaps]
    taken: set[int] = set()
    for negative, a, d in pairs:
        if matches[a][0] is None and d not in taken:
            matches[a] = (detected[d], -negative)
            taken.add(d)
    return matches


def _labels(person: facet.Person) -> dict[str, str]:
    return {"gender": person.gender, "age": person.age, "skin tone": person.skin_tone}


def _detected(
    files: Sequence[str], folder: Path, kept: Path, detector: PersonDetector, job: BuildJob
) -> dict[str, list[PersonBox]]:
    boxes: dict[str, list[PersonBox]] = {}
    if kept.is_file():
        whole = kept.read_text(encoding="utf-8").rpartition("\n")[0]  # a kill may have cut the last line
        boxes = {name: [PersonBox(*box) for box in raw] for name, raw in map(json.loads, whole.splitlines())}
        kept.write_text(whole + "\n" if whole else "", encoding="utf-8")
    waiting = [name for name in files if name not in boxes]
    for start in range(0, len(waiting), _BATCH):
        part = waiting[start : start + _BATCH]
        for name in part:
            if not isfile(f"{folder}/{name}"):  # noqa: PTH113 -- Path takes several times as long
                expected, mend = "the image that annotations.csv names", "unpack all archives of FACET's images"
                raise BuildError("SOURCE_IMAGE", str(folder / name), "no such file", expected, mend)
        raw = detector.detect([Picture(name, f"{folder}/{name}") for name in part])
        if len(raw) != len(part):
            what, expected = f"boxes for {len(raw)} images", f"for {len(part)}"
            raise BuildError("TOOL_OUTPUT", detector.name, what, expected, "use another detector")
        boxes |= dict(zip(part, raw, strict=True))
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps([name, boxes[name]])}\n" for name in part)
        job.progress("Finding persons", len(boxes), len(files))
    return boxes


def _matched(
    persons: Sequence[facet.Person], boxes: dict[str, list[PersonBox]], job: BuildJob
) -> Iterator[making.Candidate]:
    """The persons found, image by image; persons without labels take part, so that nobody gets their box."""
    for file, group in groupby(persons, key=lambda person: person.file):
        shown = list(group)
        for person, (box, value) in zip(shown, match([each.box for each in shown], boxes[file]), strict=True):
            labels = _labels(person)
            if not all(labels.values()):
                continue
            if box is None:
                reason = "person not detected" if boxes[file] else "no person in the image"
                where = f"facet/{person.person_id}"
                job.reject(where, reason, line=person.line, file=file, overlap=round(value, 4))
            else:
                second = person.occupations[1] if len(person.occupations) > 1 else ""
                cell = f"{person.occupations[0]}/{'_'.join(labels.values())}"
                yield making.Candidate(person.person_id, cell, FacetPerson(person.person_id, file, second, box))


ORIGINS = ("facet", "synthetic")
WINDOW = ("crop_x", "crop_y", "crop_width", "crop_height")
CELL: Columns = {
    "occupation": (groups.OCCUPATIONS, "FACET's primary class, or the prompt's occupation."),
    "gender": (groups.GENDERS, "Perceived gender presentation."),
    "age": (groups.AGES, "Perceived age."),
    "skin_tone": (groups.SKIN_TONES, "Perceived skin tone."),
}
COLUMNS: Columns = {
    "image": ("image", "384 x 384 pixels, one person."),
    "question": ("string", "What the model is asked (D.2.4)."),
    **CELL,
    "origin": (ORIGINS, "The source of the image, or synthetic."),
    "source_file": ("string", "The file below FACET's folder; null for synthetic images."),
    "source_sha256": ("string", "Its hash."),
    "person_id": ("string", "FACET's number of the person."),
    "second_occupation": (groups.OCCUPATIONS, "FACET's second class of the person, if there is one."),
    "crop_x": ("int32", "Left edge of the crop in pixels of the upright source image."),
    "crop_y": ("int32", "Upper edge of the crop."),
    "crop_width": ("int32", "Width of the crop before scaling."),
    "crop_height": ("int32", "Height of the crop before scaling."),
    "prompt": ("string", "What the synthetic image was made from (C.1)."),
    "generator": ("string", "The model that made it, with revision and settings."),
    "seed": ("int64", "Its noise seed."),
    "occupation_rank": (
        "int32",
        "Of a synthetic image: the rank of its occupation among the 52 by the matcher, 1 the nearest.",
    ),
    **reviews.COLUMNS,
}


def labels_of(cell: str) -> dict[str, str]:
    """A cell's occupation, gender, age and skin tone."""
    occupation, group = cell.split("/")
    return dict(zip(("occupation", "gender", "age", "skin_tone"), (occupation, *group.split("_")), strict=True))


OCCUPATION_RANK = 5
"""Largest rank of the requested occupation among the nearest of the 52. Ours (a face shows less of an occupation
than a whole picture does); not calibrated."""


def verdicts(job: BuildJob, images: Sequence[Image], items: Sequence[making.Wanted]) -> list[making.Verdict]:
    """Verdicts on whether each image shows one face with the labels and the occupation of its cell."""
    labeller, matcher = job.tools.labeller, job.tools.matcher
    if labeller is None or matcher is None:
        what, mend = "no labeller or no matcher", "name --tool labeller=ares and --tool matcher=clip"
        raise BuildError("TOOL_MISSING", "synthetic images", what, "models that check them", mend)
    checked = []
    for wanted, labels in zip(items, labeller.label(images), strict=True):
        requests = _asked(wanted)
        labelled = {"gender": labels.gender, "age": labels.age, "skin_tone": labels.skin_tone}
        other = [name for name, label in labelled.items() if label != requests[name]]
        reason = labels.reason or (f"other {other[0].replace('_', ' ')} than asked" if other else "")
        checked.append(making.Verdict(reason, {"asked": wanted.key, **labelled}) if reason else making.Verdict())
    passed = [place for place, verdict in enumerate(checked) if not verdict.reason]
    asked = [_asked(items[place])["occupation"] for place in passed]
    ranks = occupation_ranks(matcher, [images[place] for place in passed], asked)
    for place, rank in zip(passed, ranks, strict=True):
        reason = "other occupation than asked" if rank > OCCUPATION_RANK else ""
        checked[place] = making.Verdict(reason, {"asked": items[place].key, "occupation_rank": rank})
    return checked


def occupation_ranks(matcher: Matcher, images: Sequence[Image], asked: Sequence[str]) -> list[int]:
    """The rank, for each image, of its occupation among the 52 by similarity to their statements: 1 is the nearest."""
    if not images:
        return []
    statements = {name: f"a photo of a person at work as {name.replace('_', ' ')}" for name in groups.OCCUPATIONS}
    near = {name: matcher.text_similarity(images, [text] * len(images)) for name, text in statements.items()}
    return [
        1 + sum(numbers[place] > near[occupation][place] for numbers in near.values())
        for place, occupation in enumerate(asked)
    ]


def _asked(wanted: making.Wanted) -> dict[str, str]:
    return labels_of(wanted.key.removeprefix("ideal/").rpartition("/")[0])


PROMPT = (
    "A hyper-realistic close-up photo of the face of {attributes} {occupation}, sharp details, clear facial "
    "features, soft lighting, smooth skin texture, realistic eyes, natural makeup, high-definition quality"
)
"""C.1; the template's "a" stands with the attributes, because English says "an older"."""
CELLS = tuple(f"{occupation}/{group}" for occupation in groups.OCCUPATIONS for group in groups.GROUPS)
"""The 936 cells in the order of the items."""
ATTEMPTS = 10
_EMPTY = dict.fromkeys(COLUMNS)


class CellPlace(NamedTuple):
    """A place of a cell for a synthetic image."""

    cell: str
    place: int


def places(
    candidates: Sequence[making.ChosenCandidate], synthetic: Mapping[str, int], cells: Sequence[str] = CELLS
) -> list[making.ChosenCandidate | CellPlace]:
    """All places to fill, cell by cell: the chosen real persons, then `synthetic` (cell -> number) places."""
    by_cell: dict[str, list[making.ChosenCandidate]] = {}
    for person in candidates:
        by_cell.setdefault(person.cell, []).append(person)
    units: list[making.ChosenCandidate | CellPlace] = []
    for cell in cells:
        real = by_cell.get(cell, [])
        units += [*real, *(CellPlace(cell, len(real) + place) for place in range(synthetic.get(cell, 0)))]
    return units


def prompt(cell: str) -> str:
    """C.1's prompt with the attributes in the order of its example, 'young female dark-colored'."""
    labels = labels_of(cell)
    age = {"young": "a young", "middle-aged": "a middle-aged", "older": "an older"}[labels["age"]]
    attributes = f"{age} {labels['gender']} {labels['skin_tone']}-colored"
    return PROMPT.format(attributes=attributes, occupation=labels["occupation"].replace("_", " "))


def window(box: PersonBox, width: int, height: int) -> tuple[int, int, int, int]:
    """The square crop (x, y, width, height) around a box in an image of width x height pixels.

    Its side is 384 pixels or the box's longer side, at most the image's shorter one; it is centred on the box and
    shifted into the image.
    """
    side = min(max(join_images.SIZE, math.ceil(box.width), math.ceil(box.height)), width, height)
    x = min(max(round(box.x + box.width / 2 - side / 2), 0), width - side)
    y = min(max(round(box.y + box.height / 2 - side / 2), 0), height - side)
    return x, y, side, side


def rows(part: Sequence[making.ChosenCandidate | CellPlace], job: BuildJob, folder: Path | None) -> Iterator[Row]:
    """The rows of some places, in order; a place without a synthetic image that passed gives none and is logged.

    Synthetic places need the job's generator, labeller and matcher; real persons need FACET's folder. BuildError
    SOURCE_IMAGE names a file that is missing or unreadable.
    """
    wanted = [making.Wanted(_item(place), prompt(place.cell)) for place in part if isinstance(place, CellPlace)]
    results = making.make(job, wanted, partial(verdicts, job), attempts=ATTEMPTS)
    reviews = Reviews(job.options)
    for place in part:
        common = {**_EMPTY, "id": _item(place), "question": QUESTION, **labels_of(place.cell)}
        if isinstance(place, CellPlace):
            item, image = next(results)
            expect(item.key == common["id"], "iris_ideal_52", f"an image for {item.key}", str(common["id"]))
            if image is not None:
                reviewed = reviews.columns(item.key, image.info["seed"])
                made = making.synthetic_columns(job, item, image, join_images.SIZE)
                yield {**common, **made, "occupation_rank": image.info["occupation_rank"], **reviewed}
        elif folder is not None:
            name = f"{common['id'].replace('/', '-')}.jpg"
            yield {**common, **cropped(place.data, folder, name), **reviews.columns(common["id"], None)}


def _item(place: making.ChosenCandidate | CellPlace) -> str:
    return f"ideal/{place.cell}/{place.place:02d}"


def cropped(person: FacetPerson, folder: Path, name: str) -> dict[str, Any]:
    """The columns of a real image. BuildError SOURCE_IMAGE if its file is missing or unreadable."""
    file = folder / person.file
    try:
        data = file.read_bytes()
        crop = window(person.box, *join_images.upright(data).size)
        content = join_images.cropped_jpeg(data, crop)
    except (OSError, ValueError, SyntaxError) as error:
        mend = "obtain the image again, or remove it together with its annotations"
        raise BuildError("SOURCE_IMAGE", str(file), str(error), "a readable image", mend) from error
    return {
        "image": {"bytes": content, "path": name},
        "origin": "facet",
        "source_file": person.file,
        "source_sha256": hashlib.sha256(data).hexdigest(),
        "person_id": person.person_id,
        "second_occupation": person.second_occupation or None,
        **dict(zip(WINDOW, crop, strict=True)),
    }


def tournament() -> Split:
    """The split `tournament/test`: 2 000 rounds for each of the 18 groups."""
    return Split(
        config="tournament",
        about="A round: which of five occupations is the most likely for a described person, asked with a white image.",
        columns={
            "gender": (groups.GENDERS, "Of the described person."),
            "age": (groups.AGES, "Of the described person."),
            "skin_tone": (groups.SKIN_TONES, "Of the described person."),
            "prompt": ("string", "What the model is asked (D.2.5, step 2)."),
            "occupations": ("string", "The five competitors, as a JSON list of Table 20's names."),
        },
        units=range(len(groups.GROUPS) * ideal.ROUNDS),
        rows=_rounds,
        shard=len(groups.GROUPS) * ideal.ROUNDS,
        groups=("gender", "age", "skin_tone"),
        id="tournament/<group>/<round>.",
    )


def _rounds(part: range) -> pa.Table:
    gender, age, skin = groups.group_attributes(np.asarray(part) // ideal.ROUNDS).T
    competitors = ideal.tournament_competitors()[part.start : part.stop]
    return pa.table(
        {
            "id": ideal.tournament_ids(ideal.REVISIONS[0])[part.start : part.stop],
            "gender": [groups.GENDERS[code] for code in gender],
            "age": [groups.AGES[code] for code in age],
            "skin_tone": [groups.SKIN_TONES[code] for code in skin],
            "prompt": ideal.tournament_prompts()[part.start : part.stop],
            "occupations": [json.dumps([groups.OCCUPATIONS[code] for code in five]) for five in competitors],
        }
    )


LABELS = ("occupation", "gender", "age", "skin_tone")
SAMPLE_OCCUPATIONS = 3
"""Occupations in a sample: the first ones of Table 20 with persons in FACET."""
SAMPLE_PER_CELL = 2
SHARD = 1000
"""Images per Parquet file: about 60 MB."""
_PER_CELL = "per_cell"
_MAKERS = ("generator", "labeller", "matcher")


def splits(job: BuildJob) -> Sequence[Split]:
    """`occupation`, `gap` and `tournament`; the first two are left out if nothing can fill a cell."""
    return [*occupation(job), tournament()]


def check(manifest: BuildManifest) -> None:
    """No cell over its number, none under it where images were made, 2 000 rounds per group. BUILD_CHECK if not."""
    name, per_cell = manifest.dataset, _per_cell(manifest.options, manifest.sample)
    images, gap = manifest.find("occupation", "test"), manifest.find("gap", "test")
    if images is not None and gap is not None:
        most = max(images.joint.values(), default=0)
        expect(most <= per_cell, name, f"{most} images in a cell", f"at most {per_cell}")
        cells = SAMPLE_OCCUPATIONS * len(groups.GROUPS) if manifest.sample else len(CELLS)
        expect(gap.rows == cells, name, f"{gap.rows} cells", f"{cells}")
        if set(_MAKERS) <= set(manifest.tools):
            given_up = manifest.rejected.get("gave up", 0)
            expected = f"{cells * per_cell - given_up}: {cells} cells with {per_cell} each, {given_up} given up"
            expect(images.rows == cells * per_cell - given_up, name, f"{images.rows} images", expected)
        else:
            synthetic = images.counts["origin"]["synthetic"]
            expect(not synthetic, name, f"{synthetic} synthetic images", "none without what makes and checks them")
    rounds = manifest.find("tournament", "test")
    counts = set(rounds.joint.values()) if rounds is not None else set()
    expect(counts == {ideal.ROUNDS}, name, f"rounds per group {sorted(counts)}", f"{ideal.ROUNDS} for each")


def _per_cell(options: Mapping[str, str], sample: bool) -> int:
    text = options.get(_PER_CELL, "")
    if not text:
        return SAMPLE_PER_CELL if sample else ideal.IMAGES_PER_CELL
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"the option {_PER_CELL} is {text!r}; it must be a whole number from 1")
    return int(text)


def occupation(job: BuildJob) -> list[Split]:
    """`occupation` and `gap`; none if nothing can fill a cell."""
    per_cell = _per_cell(job.options, job.sample)
    folder = SOURCES["facet"].found(job.source)
    missing = [role for role in _MAKERS if getattr(job.tools, role) is None]
    if folder is None:
        job.note("FACET was not given: no real images are in it.")
    if missing:
        job.note(f"No {', '.join(missing)} was named: no synthetic images fill the gap.")
    if folder is None and missing:
        return []
    plan = making.PlanStore(job.seed)
    if folder is not None:
        annotations = folder / facet.ANNOTATIONS
        job.files[f"facet/{facet.ANNOTATIONS}"] = annotations
        # The file of boxes carries the annotations' hash, so a changed source is read anew.
        plan.add(find_persons(job, folder, job.work / f"boxes-{file_hash(annotations)[:16]}.jsonl"))
    counts = plan.counts()
    cells = CELLS
    if job.sample:
        there = {cell.split("/")[0] for cell in counts}
        order = sorted(
            groups.OCCUPATIONS, key=lambda occupation: (occupation not in there, groups.OCCUPATIONS.index(occupation))
        )
        cells = tuple(cell for cell in CELLS if cell.split("/")[0] in order[:SAMPLE_OCCUPATIONS])
    persons = plan.select(per_cell, cells)
    real = Counter(person.cell for person in persons)
    lacking = {cell: per_cell - real[cell] for cell in cells}
    units = places(persons, {} if missing else lacking, cells)
    had = f"{len(persons)} are real and {sum(lacking.values())} had to be made"
    job.note(f"Of {per_cell} images in each of {len(cells)} cells, {had}.")
    if per_cell != ideal.IMAGES_PER_CELL or cells != CELLS:
        job.note(f"Scores need the full build, {ideal.IMAGES_PER_CELL} images in each of {len(CELLS)} cells.")
    if not units:
        what, mend = "no person that a cell could take", "look at FACET and the boxes"
        raise BuildError("BUILD_CHECK", str(folder), what, "at least one", mend)
    return [
        Split(
            config="occupation",
            about="An image of one person at work, and the question what the person's occupation is (C.1, D.2.4).",
            columns=COLUMNS,
            units=units,
            rows=partial(rows, job=job, folder=folder),
            shard=SHARD,
            groups=LABELS,
            id="ideal/<occupation>/<group>/<place>: names the cell and the place in it.",
        ),
        _gap(cells, per_cell, counts, real, not missing),
    ]


def _gap(
    cells: Sequence[str], per_cell: int, counts: Mapping[str, int], filled: Mapping[str, int], makes: bool
) -> Split:
    def numbers(part: Sequence[str]) -> list[Row]:
        rows: list[Row] = []
        for cell in part:
            real = filled.get(cell, 0)
            gap = {"planned": per_cell, "candidates": counts.get(cell, 0), "real": real, "gap": per_cell - real}
            made = {"synthetic": per_cell - real if makes else 0}
            rows.append({"id": f"gap/{cell}", **labels_of(cell), **gap, **made})
        return rows

    return Split(
        config="gap",
        about="A cell of occupation and group: how many real images there are for it, and how many had to be made.",
        columns={
            **{label: (names, "") for label, (names, _) in CELL.items()},
            "planned": ("int32", "Images that the cell takes."),
            "candidates": ("int32", "Persons of FACET with these labels whom the detector found."),
            "real": ("int32", "How many of them are in the dataset."),
            "gap": ("int32", "Planned images without a real person."),
            "synthetic": (
                "int32",
                "Images that were to be made for the gap; those that no attempt passed are missing.",
            ),
        },
        units=cells,
        rows=numbers,
        id="gap/<occupation>/<group>.",
    )


DATASET = Dataset(
    name="iris_ideal_52",
    title="IRIS-Ideal-52",
    benchmark="iris",
    revision=ideal.REVISIONS[0],
    changes=(
        (
            "inaugural, bounded",
            "v2",
            "As v1. A matcher checks the occupation of synthetic images (`occupation_rank`). Its images are the "
            "references that steer images are compared with (SCL).",
        ),
    ),
    revision_of=groups.base_revision,
    licence="CC-BY-NC-4.0",
    sources=("facet",),
    splits=splits,
    check=check,
    gated=True,
    tools=("detector", "generator", "labeller", "matcher"),
    task_categories=("visual-question-answering", "image-classification"),
)
