"""The real images of IRIS-Ideal-52: which annotated persons of FACET a detector finds, and where (C.1, Figure 10).

1. *Read.* A person can enter if all three labels are known. The occupation is FACET's primary class (class1); a second
   one is kept beside it, but gives no cell: an image has one true answer.
2. *Detect.* The detector sees every image that shows such a person. Images without a detected person are discarded.
3. *Match.* Detected boxes and annotated ones are paired one to one, those with the largest overlap first, where the
   intersection is at least half of the union; so an image of several persons gives one crop per person, and each crop
   inherits the annotations of its own person. A person whom no detected box matches is discarded.

What was read and detected lies in a database in the job's work folder, a batch per transaction: a build that was killed
loses one batch of detection. Matching is done again at each start, for it is cheap and logs what was discarded.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, starmap
from operator import itemgetter
from os.path import isfile
from pathlib import Path
from struct import Struct

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.plan_store import Candidate, PlanStore, connect
from fairspace.builders.engine.tools import Box, PersonDetector, Picture
from fairspace.builders.errors import BuildError
from fairspace.builders.sources import facet

OVERLAP = 0.5
"""The least intersection over union of a detected and an annotated box of one person; the paper states none."""
_BATCH = 64
"""Images per transaction of the detection."""
_BOX = Struct("<5d")
"""A detected box in the database."""


@dataclass(frozen=True)
class Found:
    """A person with an occupation, three labels and a detected box.

    Args:
        person_id: FACET's.
        file: the image, below FACET's folder.
        second_occupation: '' if FACET gives none.
        box: the detected box, in pixels.
    """

    person_id: str
    file: str
    second_occupation: str
    box: Box

    def dumps(self) -> str:
        """As JSON."""
        return json.dumps([self.person_id, self.file, self.second_occupation, self.box])

    @staticmethod
    def loads(text: str) -> Found:
        """From JSON."""
        person_id, file, second_occupation, box = json.loads(text)
        return Found(person_id, file, second_occupation, Box(*box))


def cell_name(occupation: str, gender: str, age: str, skin_tone: str) -> str:
    """`<occupation>/<group>`, as in the items' ids."""
    return f"{occupation}/{gender}_{age}_{skin_tone}"


def find_persons(job: Job, folder: Path, file: Path, plan: PlanStore) -> None:
    """Read, detect and match, and add who was found to the plan: key person_id, data `Found`.

    Args:
        job: with a detector; persons who cannot enter are logged with the reason.
        folder: FACET's.
        file: the database.
        plan: gets the candidates.

    Errors: BuildError TOOL_MISSING without a detector, SOURCE_* as the reader and the detector find.
    """
    detector = job.tools.detector
    if detector is None:
        mend = "name one, for example --tool detector=yolos:hustvl/yolos-base"
        raise BuildError("TOOL_MISSING", "FACET", "no person detector", "a model that finds persons", mend)
    database = connect(file)
    try:
        _read(database, folder)
        _detect(database, folder, detector, job)
        _log_unlabelled(database, job)
        plan.add(_matched(database, job))
    finally:
        database.close()


def overlap(first: Box, second: Box) -> float:
    """Intersection over union of two boxes, in [0, 1]."""
    width = min(first.x + first.width, second.x + second.width) - max(first.x, second.x)
    height = min(first.y + first.height, second.y + second.height) - max(first.y, second.y)
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (first.width * first.height + second.width * second.height - shared)


def match(annotated: Sequence[Box], detected: Sequence[Box]) -> list[tuple[Box | None, float]]:
    """For each annotated box the detected box of the same person, or None, and the overlap.

    Pairs are made one to one, largest overlap first, ties in the order of the lists, down to `OVERLAP`. Without a
    match the overlap is the largest with any detected box.
    """
    overlaps = [[overlap(a, d) for d in detected] for a in annotated]
    pairs = sorted((-value, a, d) for a, row in enumerate(overlaps) for d, value in enumerate(row) if value >= OVERLAP)
    matches: list[tuple[Box | None, float]] = [(None, max(row, default=0.0)) for row in overlaps]
    taken: set[int] = set()
    for negative, a, d in pairs:
        if matches[a][0] is None and d not in taken:
            matches[a] = (detected[d], -negative)
            taken.add(d)
    return matches


def _read(database: sqlite3.Connection, folder: Path) -> None:
    """The persons into the database, all or none."""
    (there,) = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'persons'").fetchone()
    if there:
        return
    with database:
        database.execute("BEGIN")
        database.execute(
            "CREATE TABLE persons (file TEXT, line INTEGER, person_id TEXT, cell TEXT, second TEXT, missing TEXT, "
            "x REAL, y REAL, width REAL, height REAL, PRIMARY KEY (file, line)) WITHOUT ROWID"
        )
        database.execute("CREATE TABLE images (file TEXT PRIMARY KEY, boxes BLOB) WITHOUT ROWID")
        database.executemany(
            "INSERT INTO persons VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_person_row, facet.persons(folder))
        )


def _person_row(person: facet.Person) -> tuple[str | int | float, ...]:
    labels = {"gender": person.gender, "age": person.age, "skin tone": person.skin_tone}
    missing = ", ".join(name for name, label in labels.items() if not label)
    cell = "" if missing else cell_name(person.occupations[0], *labels.values())
    second = person.occupations[1] if len(person.occupations) > 1 else ""
    return (person.file, person.line, person.person_id, cell, second, missing, *person.box[:4])


def _detect(database: sqlite3.Connection, folder: Path, detector: PersonDetector, job: Job) -> None:
    """Boxes of every image that shows a labelled person; goes on after the last image that has them."""
    (total,) = database.execute("SELECT count(DISTINCT file) FROM persons WHERE missing = ''").fetchone()
    done, last = database.execute("SELECT count(*), coalesce(max(file), '') FROM images").fetchone()
    question = "SELECT DISTINCT file FROM persons WHERE missing = '' AND file > ? ORDER BY file LIMIT ?"
    while files := [file for (file,) in database.execute(question, [last, _BATCH])]:
        for file in files:
            if not isfile(f"{folder}/{file}"):  # noqa: PTH113 -- Path takes several times as long
                raise _no_image(folder / file)
        boxes = detector.detect([Picture(file, f"{folder}/{file}") for file in files])
        if len(boxes) != len(files):
            what, expected = f"boxes for {len(boxes)} images", f"for {len(files)}"
            raise BuildError("TOOL_OUTPUT", detector.name, what, expected, "use another detector")
        with database:
            rows = (
                (file, b"".join(starmap(_BOX.pack, file_boxes))) for file, file_boxes in zip(files, boxes, strict=True)
            )
            database.executemany("INSERT INTO images VALUES (?, ?)", rows)
        last, done = files[-1], done + len(files)
        job.progress("Finding persons", done, total)


def _no_image(file: Path) -> BuildError:
    expected = "the image that annotations.csv names"
    return BuildError("SOURCE_IMAGE", str(file), "no such file", expected, "unpack all archives of FACET's images")


def _log_unlabelled(database: sqlite3.Connection, job: Job) -> None:
    question = "SELECT person_id, line, missing FROM persons WHERE missing != '' ORDER BY line"
    for person_id, line, missing in database.execute(question):
        job.reject(f"facet/{person_id}", "label missing", line=line, labels=missing)


def _matched(database: sqlite3.Connection, job: Job) -> Iterator[Candidate]:
    """The persons found, image by image; persons without labels take part, so that nobody gets their box."""
    question = (
        "SELECT file, boxes, line, person_id, cell, second, missing, x, y, width, height "
        "FROM images JOIN persons USING (file) ORDER BY file, line"
    )
    for (file, boxes), group in groupby(database.execute(question), key=itemgetter(0, 1)):
        shown = list(group)
        detected = list(map(Box._make, _BOX.iter_unpack(boxes)))
        pairs = match([Box(*row[7:]) for row in shown], detected)
        for (_, _, line, person_id, cell, second, missing, *_), (box, value) in zip(shown, pairs, strict=True):
            if missing:
                continue
            if box is None:
                reason = "person not detected" if detected else "no person in the image"
                job.reject(f"facet/{person_id}", reason, line=line, file=file, overlap=round(value, 4))
            else:
                yield Candidate(person_id, cell, Found(person_id, file, second, box).dumps())
