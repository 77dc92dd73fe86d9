"""The real faces of IRIS-Classifier-25: FairFace, UTKFace and, if asked for, MST-E, as candidates for its cells.

"Verified real-world data" (C.4) means here: the label is in the closed vocabulary and within one of IRIS' age groups
(FairFace's 60-69 is not), the file decodes, and no earlier file has the same bytes. The sha256 of the bytes (MST-E: of
the subject's name) decides the split, so equal files and persons stay in one split across configs.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairspace.builders.engine.build import write_atomically
from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.plan_store import Candidate, PlanStore
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES
from fairspace.builders.iris_classifier_25.plan import SHARES
from fairspace.builders.sources import SOURCES, fairface, mst_e, utkface

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

SOURCES_READ = ("fairface", "utkface", "mst_e")
_SPLITS: tuple[Literal["train", "val"], ...] = ("train", "val")
LABELS = {
    "fairface": tuple(f"fairface_label_{split}.csv" for split in _SPLITS),
    "mst_e": (mst_e.DETAILS,),
}


@dataclass(frozen=True)
class Face:
    """A labelled face; '' without such a label in the source.

    `source` is a key of `SOURCES`, `file` lies below its folder, `person` is the name that it gives, `race` one of
    FACT-OR-FAIR's four.
    """

    source: str
    file: str
    person: str = ""
    gender: str = ""
    age: str = ""
    skin_tone: str = ""
    race: str = ""

    def cells(self) -> dict[str, str]:
        """Config -> the face's class in it."""
        features = {
            "age_gender": f"{self.gender}_{self.age}" if self.gender and self.age else "",
            "skin_tone": self.skin_tone,
            "race": self.race,
        }
        return {config: name for config, name in features.items() if name}


def age_group(years: int) -> str:
    """IRIS' age group: young to 39, middle-aged to 64, older from 65."""
    return AGES[(years >= 40) + (years >= 65)]


def split_of(seed: int, name: str) -> str:
    """The split of all data from the file or person of that name."""
    place = int.from_bytes(hashlib.sha256(f"{seed}/split/{name}".encode()).digest()[:8], "big") * 100 >> 64
    for split, share in SHARES.items():
        place -= share
        if place < 0:
            return split
    raise ValueError("the shares of the splits do not add up to 100")


def candidates(job: Job) -> PlanStore:
    """The plan of all real faces, in cells `<config>/<split>/<class>`; omissions are noted.

    BuildError of the sources' readers, and SOURCE_IMAGE for a missing file.
    """
    file, report = job.work / "faces.jsonl", job.work / "faces.json"
    store = PlanStore(job.seed)
    if report.is_file():
        store.add(Candidate(*json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines())
    else:
        skipped, digest = Counter[str](), hashlib.sha256()
        found = list(_candidates(job, skipped, digest))
        store.add(found)
        write_atomically(file, "".join(f"{json.dumps(candidate)}\n" for candidate in found))
        summary = {"skipped": skipped, "cells": store.counts(), "sha256": digest.hexdigest()}
        write_atomically(report, json.dumps(summary, indent=1))
    for what, count in json.loads(report.read_text(encoding="utf-8"))["skipped"].items():
        job.note(f"{count} {what}.")
    for source, names in LABELS.items():
        if given(job, source):
            for name in names:
                job.used(f"{source}/{name}", job.need(source) / name)
    if any(given(job, source) for source in SOURCES_READ):
        job.used("plan of the real faces, with a hash over all of them", report)
    _note_absent(job)
    return store


def given(job: Job, source: str) -> bool:
    """Whether a source is there and may be used."""
    wanted = source != "mst_e" or job.options.get("include") == "mst_e"
    return wanted and SOURCES[source].found(job.source) is not None


def _note_absent(job: Job) -> None:
    for name in SOURCES_READ:
        title = SOURCES[name].title
        if name == "mst_e" and job.options.get("include") != "mst_e":
            job.note(f"{title}: not asked for. {SOURCES[name].terms}")
        elif not given(job, name):
            job.note(f"{title}: it was not given, so it has no images here.")


def _candidates(job: Job, skipped: Counter[str], digest: Hash) -> Iterator[Candidate]:
    seen: set[bytes] = set()
    for number, face in enumerate(_faces(job, skipped), start=1):
        sha256 = hashlib.sha256(read(job.need(face.source) / face.file))
        if number % 1000 == 0:
            job.progress("Reading faces", number, number)
        if sha256.digest()[:12] in seen:
            skipped["faces with the bytes of an earlier file"] += 1
            continue
        seen.add(sha256.digest()[:12])
        split = split_of(job.seed, f"{face.source}/{face.person}" if face.person else sha256.hexdigest())
        data = json.dumps({**asdict(face), "sha256": sha256.hexdigest()})
        digest.update(data.encode())
        for config, name in face.cells().items():
            yield Candidate(f"{config}/{face.source}/{face.file}", f"{config}/{split}/{name}", data)


def _faces(job: Job, skipped: Counter[str]) -> Iterator[Face]:
    if given(job, "fairface"):
        for split in _SPLITS:
            for face in fairface.faces(job.need("fairface"), split):
                if face.damaged:
                    skipped[
                        "ages of FairFace as a spreadsheet program had changed them to dates: read as what they were"
                    ] += 1
                if not face.age:
                    skipped[
                        f"faces of FairFace of the age {face.bucket}, which straddles two classes of age and gender"
                    ] += 1
                race = fairface.FACT_OR_FAIR_RACES[face.race]
                yield Face("fairface", face.file, gender=face.gender, age=face.age, race=race)
    if given(job, "utkface"):
        scan = utkface.scan(job.need("utkface"))
        for reason, count in scan.skipped.items():
            skipped[f"files of UTKFace whose names break its layout ({reason})"] += count
        for usable in scan.faces:
            yield Face("utkface", usable.file, gender=usable.gender, age=age_group(usable.age))
    if given(job, "mst_e"):
        for image in mst_e.images(job.need("mst_e")):
            yield Face("mst_e", image.file, person=image.subject, skin_tone=image.skin_tone)


def read(file: Path, sha256: str = "") -> bytes:
    """The bytes of an image. BuildError SOURCE_IMAGE if it is missing, damaged, or has another hash than `sha256`."""
    from fairspace.builders.publishing.join_images import upright

    mend = "obtain the file again from the source, and build into a new folder"
    try:
        data = file.read_bytes()
        if not sha256:
            upright(data)
    except (OSError, ValueError, SyntaxError) as error:
        raise BuildError("SOURCE_IMAGE", str(file), str(error), "an image that can be read", mend) from error
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise BuildError("SOURCE_IMAGE", str(file), "another file than when the build began", "the same file", mend)
    return data
