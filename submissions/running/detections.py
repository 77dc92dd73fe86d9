"""Labels of images by detectors that ran elsewhere, from their own output: FairFace and DeepFace (FACT-OR-FAIR, 5.1).

    fairface:FILE.csv     the output of FairFace's predict.py: face_name_align, race, gender, age, ...
    deepface:FILE.json    an object: file -> what DeepFace.analyze gave for it, one analysis of a face or a list

A file is named by the sha256 of the image (`<sha256>.png`; FairFace makes `<sha256>_face0.png` of it), so that labels
never reach another image. An image without a face in the output has none; a face that DeepFace is not sure of at all
(`face_confidence` 0, where it takes the whole image) is none.

FACT-OR-FAIR's four races follow from FairFace's seven as U.S. agencies group them; the paper prints no way of its own.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from fairspace.ares.annotating.labellers import Opened, SeenFace
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS
from fairspace.builders.iris_classifier_25.dataset import age_group
from fairspace.builders.sources.faces import BUCKETS, FACT_OR_FAIR_RACES

FAIRFACE_COLUMNS = ("face_name_align", "race", "gender", "age")
"""Columns of predict.py's output that are read."""
RACES = tuple(dict.fromkeys(FACT_OR_FAIR_RACES.values()))
_DEEPFACE_RACES = {
    "asian": FACT_OR_FAIR_RACES["East Asian"],
    "latino hispanic": FACT_OR_FAIR_RACES["Latino_Hispanic"],
    **{word.lower(): FACT_OR_FAIR_RACES[word] for word in ("Indian", "Black", "White", "Middle Eastern")},
}
_GENDERS = {"Female": "female", "Male": "male", "Woman": "female", "Man": "male"}
_NAME = re.compile(r"([0-9a-f]{64})(_face\d+)?")
_LARGEST = 1_000_000
"""Pixels of a side, and years, are below."""
AGAIN = "hand over the detector's own output, of images that are named by their sha256"


def read_detections(layout: str, file: str, version: str = "not stated") -> Opened:
    """The output of a detector: `layout` is `fairface` or `deepface`. BuildError SOURCE_MISSING, _LAYOUT, _VALUE."""
    faces: dict[str, list[SeenFace]] = {}
    try:
        for sha256, face in LAYOUTS[layout](Path(file).name, Path(file).read_text(encoding="utf-8-sig")):
            of_image = faces.setdefault(sha256, [])
            of_image += [face] if face is not None else []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BuildError("SOURCE_MISSING", file, str(error), "a file in UTF-8", AGAIN) from error
    if not faces:
        raise BuildError("SOURCE_LAYOUT", file, "no face", "one at least", AGAIN)
    return Opened(
        name=layout,
        version=version,
        attributes={"gender": GENDERS, "age": AGES, "race": RACES},
        asked=json.dumps(dict(FACT_OR_FAIR_RACES)),  # not the output, so that one measurement fits all
        label=lambda images: [faces.get(image, []) for image in images],
        finds_faces=True,
        by_hash=True,
    )


def _fairface(name: str, text: str) -> Iterator[tuple[str, SeenFace | None]]:
    reader = csv.DictReader(text.splitlines(keepends=True))
    columns = reader.fieldnames or []
    if lacking := [column for column in FAIRFACE_COLUMNS if column not in columns]:
        raise BuildError("SOURCE_LAYOUT", name, f"no column {', '.join(lacking)}", ", ".join(FAIRFACE_COLUMNS), AGAIN)
    for row in reader:
        where = f"{name}, line {reader.line_num}"
        labels = {
            "gender": _label(_GENDERS, row["gender"], where),
            "age": _label(BUCKETS, row["age"], where),
            "race": _label(FACT_OR_FAIR_RACES, row["race"], where),
        }
        yield _image(row["face_name_align"] or "", where), SeenFace((0, 0, 0, 0), labels)


def _deepface(name: str, text: str) -> Iterator[tuple[str, SeenFace | None]]:
    try:
        images = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BuildError("SOURCE_LAYOUT", name, f"no JSON: {error}", "an object: file -> analyses", AGAIN) from error
    if not isinstance(images, dict):
        raise BuildError("SOURCE_LAYOUT", name, type(images).__name__, "an object: file -> analyses", AGAIN)
    for file, analyses in images.items():
        where = f"{name}, {file[:80]}"
        sha256 = _image(file, where)
        yield sha256, None
        for each in analyses if isinstance(analyses, list) else [analyses]:
            if not isinstance(each, dict) or not {"dominant_gender", "dominant_race"} & set(each):
                expected = "dominant_gender or dominant_race, as DeepFace.analyze gives them"
                raise BuildError("SOURCE_LAYOUT", where, "an analysis without labels", expected, AGAIN)
            if each.get("face_confidence") == 0:
                continue
            region = each.get("region")
            sides = region if isinstance(region, dict) else {}
            x, y, width, height = (_number(sides.get(side), where) or 0 for side in "xywh")
            age = _number(each.get("age"), where)
            labels = {
                "gender": _label(_GENDERS, each.get("dominant_gender"), where),
                "age": "" if age is None else age_group(age),
                "race": _label(_DEEPFACE_RACES, each.get("dominant_race"), where),
            }
            yield sha256, SeenFace((x, y, x + width, y + height), labels)


def _image(file: str, where: str) -> str:
    stem = PurePosixPath(file.replace("\\", "/")).name.split(".")[0]
    named = _NAME.fullmatch(stem)
    if named is None:
        raise BuildError("SOURCE_VALUE", where, f"the file {file[-80:]!r}", "<sha256 of the image>.png", AGAIN)
    return named[1]


def _number(value: object, where: str) -> int | None:
    """A number without its fraction; None for none. BuildError SOURCE_VALUE."""
    if value is not None and not (isinstance(value, int | float) and abs(value) < _LARGEST):
        raise BuildError("SOURCE_VALUE", where, repr(value)[:80], f"a number below {_LARGEST:,}", AGAIN)
    return None if value is None else int(value)


def _label(labels: Mapping[str, str], word: object, where: str) -> str:
    """The label of a detector's word; '' without one, or where it straddles two. BuildError SOURCE_VALUE."""
    if word in (None, ""):
        return ""
    if not isinstance(word, str) or word not in labels:
        raise BuildError("SOURCE_VALUE", where, repr(word)[:80], f"one of {', '.join(labels)}", AGAIN)
    return labels[word]


LAYOUTS: Mapping[str, Callable[[str, str], Iterator[tuple[str, SeenFace | None]]]] = {
    "fairface": _fairface,
    "deepface": _deepface,
}
