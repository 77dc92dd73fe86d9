"""The real images of IRIS-Ideal-52: annotated persons of FACET with detected boxes (C.1, Figure 10).

A person enters with all three labels; the occupation is FACET's primary class (class1), the second one is kept but
gives no cell. Detected and annotated boxes are paired one to one, largest overlap first, down to `OVERLAP`; each crop
inherits the annotations of its person, and unmatched persons are discarded. Detected boxes are kept in the job's work
folder, so a killed build loses one batch of detection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from os.path import isfile
from pathlib import Path

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.making import Candidate
from fairspace.builders.engine.tools import Box, PersonDetector, Picture
from fairspace.builders.errors import BuildError
from fairspace.builders.sources import facet

OVERLAP = 0.5
"""Least intersection over union of a detected and an annotated box of one person; the paper states none."""
_BATCH = 64


@dataclass(frozen=True)
class Found:
    """A person with an occupation, three labels and a detected box in pixels; the file lies below FACET's folder."""

    person_id: str
    file: str
    second_occupation: str
    box: Box


def find_persons(job: Job, folder: Path, file: Path) -> list[Candidate]:
    """Read, detect and match: key person_id, data `Found`; others are logged, boxes kept in `file`.

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


def overlap(first: Box, second: Box) -> float:
    """Intersection over union of two boxes, in [0, 1]."""
    width = min(first.x + first.width, second.x + second.width) - max(first.x, second.x)
    height = min(first.y + first.height, second.y + second.height) - max(first.y, second.y)
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (first.width * first.height + second.width * second.height - shared)


def match(annotated: Sequence[Box], detected: Sequence[Box]) -> list[tuple[Box | None, float]]:
    """The detected box of the same person, or None, and the overlap, for each annotated box.

    Pairs are made one to one, largest overlap first, ties in the order of the lists, down to `OVERLAP`. Without a match
    the overlap is the largest with any detected box.
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


def _labels(person: facet.Person) -> dict[str, str]:
    return {"gender": person.gender, "age": person.age, "skin tone": person.skin_tone}


def _detected(
    files: Sequence[str], folder: Path, kept: Path, detector: PersonDetector, job: Job
) -> dict[str, list[Box]]:
    boxes: dict[str, list[Box]] = {}
    if kept.is_file():
        whole = kept.read_text(encoding="utf-8").rpartition("\n")[0]  # a kill may have cut the last line
        boxes = {name: [Box(*box) for box in found] for name, found in map(json.loads, whole.splitlines())}
        kept.write_text(whole + "\n" if whole else "", encoding="utf-8")
    waiting = [name for name in files if name not in boxes]
    for start in range(0, len(waiting), _BATCH):
        part = waiting[start : start + _BATCH]
        for name in part:
            if not isfile(f"{folder}/{name}"):  # noqa: PTH113 -- Path takes several times as long
                expected, mend = "the image that annotations.csv names", "unpack all archives of FACET's images"
                raise BuildError("SOURCE_IMAGE", str(folder / name), "no such file", expected, mend)
        found = detector.detect([Picture(name, f"{folder}/{name}") for name in part])
        if len(found) != len(part):
            what, expected = f"boxes for {len(found)} images", f"for {len(part)}"
            raise BuildError("TOOL_OUTPUT", detector.name, what, expected, "use another detector")
        boxes |= dict(zip(part, found, strict=True))
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps([name, boxes[name]])}\n" for name in part)
        job.progress("Finding persons", len(boxes), len(files))
    return boxes


def _matched(persons: Sequence[facet.Person], boxes: dict[str, list[Box]], job: Job) -> Iterator[Candidate]:
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
                yield Candidate(person.person_id, cell, Found(person.person_id, file, second, box))
