"""Measure the errors of any labeller on faces with a user's labels: `fairspace ares evaluate --labels`.

A CSV file beside the images has the column `file` (below the folder), labels (`gender`, `age`, `skin_tone`, `race`;
empty if unknown), and any further columns to group by (`origin`, `lighting`). One person to an image: the largest face
counts. An image without an answer is wrong wherever a share is taken. Output: `measurement.json`, confusion matrices
with counts per attribute, over all images and per group, as for ARES.
"""

import csv
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.ares.annotating.annotate import Session, find_labeller, open_session
from fairspace.ares.annotating.files import MISSING
from fairspace.ares.annotating.labellers import Package
from fairspace.ares.annotating.source import ImageEntry
from fairspace.ares.configuration_ares import AGES, GENDERS, RACES, SKIN_TONES
from fairspace.ares.evaluating.data import UNKNOWN
from fairspace.ares.evaluating.measure import AttributeMeasurement, measure_codes
from fairspace.ares.evaluating.measurement import FILE, MeasuredGate, Measurement, write_document
from fairspace.ares.evaluating.nonfaces import measure_gate
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.reading_ares import quiet
from fairspace.builders.engine.build import file_hash
from fairspace.builders.errors import BuildError

VOCABULARY = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES, "race": RACES}
"""Attribute -> labels, in the order of matrices."""
_SIDE, _FACES = 256, 200
"""Pixels of non-faces, and images of faces behind them."""
Groups = Mapping[str, tuple[tuple[str, ...], NDArray[np.intp]]]


class LabelledFaces(NamedTuple):
    """Images with people's labels: `files` below the folder in the order of the CSV file, and the hash of both.

    `groups`: column, labels included -> its values and (n,) indices into them, -1 for an empty cell.
    """

    files: tuple[str, ...]
    groups: Groups
    sha256: str


def measure_labeller(
    folder: Path,
    labels: Path,
    out: Path,
    *,
    labeller: str | Package,
    model: Path | str = "",
    device: str = "",
    date: str,
    nonfaces: int = 0,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> tuple[Measurement, dict[str, AttributeMeasurement]]:
    """Label the images, compare, and write the measurement into `out`, in place of an earlier one.

    `nonfaces`: drawn non-faces of each kind to show as well, 0 for none; `date`: YYYY-MM-DD; others as in `annotate`.
    Errors: BuildError SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE for the labels; as `find_labeller`.
    """
    faces = read_labelled(folder, labels)
    by = find_labeller(labeller, model)
    session = open_session(labeller, by.folder, device=device)
    done = 0

    def step(images: int) -> None:
        nonlocal done
        done += images
        progress("Labelling images", done, len(faces.files))

    images = [folder / file for file in faces.files]
    entries = [ImageEntry("images", file, 0, file, 0, 0) for file in faces.files]
    annotations, routes, counts = session.answer(entries, images, step)
    if absent := counts["reasons"].get(MISSING):
        what, mend = f"nothing about {absent:,} of {len(images):,} labelled images", "run the detector on all of them"
        raise BuildError("SOURCE_VALUE", by.named["name"], what, "each of them, by its sha256", mend)
    measured = {
        name: _measured(name, faces.groups, annotations, routes)
        for name in VOCABULARY
        if name in faces.groups and f"label/{name}" in routes.schema.names
    }
    if not measured:
        names = ", ".join(name for name in VOCABULARY if name in faces.groups)
        mend = "choose another labeller, or add a column of what it labels"
        raise BuildError("SOURCE_LAYOUT", str(labels), f"labels of {names}", f"one that {by.named['name']} gives", mend)
    instrument = {"name": by.named["name"], "sha256": by.named["sha256"], "arbiter": session.about.get("arbiter", "")}
    data: dict[str, Any] = {"name": folder.resolve().name, "revision": labels.name, "sha256": faces.sha256}
    data["images"] = {"images": len(faces.files)}
    out.mkdir(parents=True, exist_ok=True)
    shown = not getattr(labeller, "by_hash", False)  # what reads a file shows nothing to anybody
    gate = _gate(session, images, nonfaces) if nonfaces and shown else None
    document = write_document(out / FILE, instrument, data, measured, date, gate)
    return document, measured


def _gate(session: Session, images: Sequence[Path], nonfaces: int) -> MeasuredGate | None:
    processor = AresImageProcessor(image_size=_SIDE)
    with quiet():
        prepared = [processor.prepare(image).pixels for image in images[:_FACES]]
    readable = [pixels for pixels in prepared if pixels is not None]
    if not readable:
        return None
    return measure_gate(session.answered, np.stack(readable), session.trained_on, nonfaces)


def read_labelled(folder: Path, labels: Path) -> LabelledFaces:
    """The images that a CSV file labels. BuildError SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE."""
    try:
        text = labels.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError("SOURCE_MISSING", str(labels), str(error), "a CSV file in UTF-8", "write one") from error
    reader = csv.DictReader(io.StringIO(text))
    columns = list(reader.fieldnames or [])
    if "file" not in columns or not set(columns) & set(VOCABULARY) or len(set(columns)) < len(columns):
        expected = f"a column `file`, and some of {', '.join(VOCABULARY)}, each once"
        raise BuildError("SOURCE_LAYOUT", labels.name, f"the columns {', '.join(columns)}", expected, "name them so")
    digest = hashlib.sha256(text.encode())
    rows: list[dict[str, str]] = []
    seen: set[str] = set()
    for number, row in enumerate(reader, start=2):
        where = f"{labels.name}, line {number}"
        if None in row or None in row.values():
            raise BuildError("SOURCE_LAYOUT", where, "too few or too many cells", f"{len(columns)}", "mend the line")
        path = folder / row["file"]
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()) or row["file"] in seen:
            mend = "name every image of the folder once, by its path below it"
            raise BuildError("SOURCE_VALUE", where, repr(row["file"]), f"a new file below {folder}", mend)
        for name in VOCABULARY.keys() & set(columns):
            if row[name] not in ("", *VOCABULARY[name]):
                expected = f"{', '.join(VOCABULARY[name])}, or nothing"
                raise BuildError("SOURCE_VALUE", f"{where}, {name}", repr(row[name]), expected, "write one of these")
        seen.add(row["file"])
        digest.update(file_hash(path).encode())
        rows.append(row)
    if not rows:
        raise BuildError("SOURCE_VALUE", labels.name, "no image", "one to a line", "label some images")
    groups = {}
    for name in columns:
        if name != "file":
            values = VOCABULARY.get(name) or tuple(sorted({row[name] for row in rows} - {""}))
            groups[name] = values, np.array([values.index(row[name]) if row[name] else UNKNOWN for row in rows])
    return LabelledFaces(tuple(row["file"] for row in rows), groups, digest.hexdigest())


def _measured(name: str, groups: Groups, annotations: pa.Table, routes: pa.Table) -> AttributeMeasurement:
    labels, true = groups[name]
    first = np.flatnonzero(np.asarray(annotations["face"]) == 0)
    answers = [routes[f"label/{name}"][int(row)].as_py() for row in first]
    codes = np.array([labels.index(answer) if answer else UNKNOWN for answer in answers], np.intp)
    mass = np.stack([np.array(routes[f"probability/{name}/{label}"].to_pylist(), float)[first] for label in labels], 1)
    return measure_codes(name, labels, true, codes, mass, groups)
