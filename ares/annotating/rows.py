"""Answers as rows: the annotations of a submission, and beside them the routes, with all that ARES says of a face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairspace.ares.annotating.source import Entry
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.classifying_ares import Answered

ANNOTATIONS = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("face", pa.int32(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("gender", pa.string()),
        pa.field("age", pa.string()),
        pa.field("skin_tone", pa.string()),
        pa.field("race", pa.string()),
        pa.field("image_quality", pa.float64()),
        pa.field("face_quality", pa.float64()),
        pa.field("prompt_similarity", pa.float64()),
        pa.field("reference_similarity", pa.float64()),
        pa.field("faces", pa.int32()),
    ]
)
"""The submission format's table; a test compares it with `fairspace.submissions.format.schema.ANNOTATIONS`."""
LABELS = ("gender", "age", "skin_tone", "race")
"""Attributes that the format has columns for; others stand in the routes alone."""
_KEY = ("task", "id", "sample", "face")


@dataclass
class Tally:
    """What became of images; two are added by `add`.

    Args:
        images: inputs.
        rows: of the annotations.
        faces: that were found; every readable image counts as one where no detector is on.
        status: status -> rows.
        reasons: why an image has no usable face (a word of `REASONS`, `no_face`) -> images.
        notes: what was done to read an image (a word of `NOTES`) -> images.
        routes: task of ARES -> route -> faces.
        labels: attribute -> label -> faces; '' counts the abstentions.
    """

    images: int = 0
    rows: int = 0
    faces: int = 0
    status: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    routes: dict[str, dict[str, int]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Count what another one counted."""
        self.images, self.rows, self.faces = (
            self.images + other.images,
            self.rows + other.rows,
            self.faces + other.faces,
        )
        for name in ("status", "reasons", "notes"):
            setattr(self, name, _summed(getattr(self, name), getattr(other, name)))
        for name in ("routes", "labels"):
            mine, theirs = getattr(self, name), getattr(other, name)
            keys = sorted({*mine, *theirs})
            setattr(self, name, {key: _summed(mine.get(key, {}), theirs.get(key, {})) for key in keys})


def route_schema(config: Any) -> pa.Schema:
    """The columns of the routes, for the tasks of an `AresConfig`.

    Per image: what reading it said. Per face: `route/<task>`; `value/<task>` where a regression decides; and per
    attribute `label/<attribute>` and the probabilities `probability/<attribute>/<label>`.
    """
    fields = [pa.field(name, pa.string() if name in ("task", "id") else pa.int32(), nullable=False) for name in _KEY]
    fields += [pa.field("faces", pa.int32()), *(pa.field(name, pa.string()) for name in _FATE)]
    fields += [pa.field("width", pa.int32()), pa.field("height", pa.int32())]
    for task in config.tasks:
        fields.append(pa.field(f"route/{task['name']}", pa.string()))
        if task["arbiter"] == "fusion":
            fields.append(pa.field(f"value/{task['name']}", pa.float64()))
    for attribute, labels in config.attributes.items():
        fields.append(pa.field(f"label/{attribute}", pa.string()))
        fields += [pa.field(f"probability/{attribute}/{label}", pa.float64()) for label in labels]
    return pa.schema(fields)


_FATE = ("status", "reason", "detail", "notes", "format")


def tables(
    entries: Sequence[Entry], answered: Iterable[Answered], routes: pa.Schema
) -> tuple[pa.Table, pa.Table, Tally]:
    """The rows of some inputs.

    Args:
        entries: the inputs.
        answered: what became of each, in the same order.
        routes: of `route_schema`.

    Returns:
        Annotations, routes, and the counts.

    Errors: BuildError BUILD_CHECK if an input has no fate or several, or rows and faces do not agree.
    """
    tally = Tally()
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("status", "reasons", "notes")}
    nested: dict[tuple[str, str], Counter[str]] = {}
    rows: list[dict[str, Any]] = []
    routed: list[dict[str, Any]] = []
    for entry, image in zip(entries, answered, strict=True):
        labelled = [answer for answer in image.answers if answer.labels]
        numbers = [answer.face for answer in image.answers]
        if len(image.answers) != max(1, len(labelled)) or numbers != list(range(len(numbers))):
            what = f"{len(labelled)} faces, and the rows {numbers}"
            raise BuildError("BUILD_CHECK", entry.where, what, "one row per face, or one that says why", "report this")
        tally.images += 1
        tally.rows += len(image.answers)
        tally.faces += len(labelled)
        counts["notes"].update(image.fate.notes)
        if not labelled:
            counts["reasons"][image.answers[0].reason] += 1
        for answer in image.answers:
            name = {"task": entry.task, "id": entry.id, "sample": entry.sample, "face": answer.face}
            labels = {key: answer.labels.get(key) or None for key in LABELS}
            status = "abstained" if answer.status == "ok" and not any(labels.values()) else answer.status
            rows.append({**name, "status": status, **labels, "faces": len(labelled)})
            routed.append({**name, "faces": len(labelled), **_routed(image, answer)})
            counts["status"][status] += 1
            for kind, values in (("routes", answer.routes), ("labels", answer.labels)):
                for key, value in values.items():
                    nested.setdefault((kind, key), Counter())[value] += 1
    for key, counter in counts.items():
        setattr(tally, key, dict(sorted(counter.items())))
    for (kind, key), counter in sorted(nested.items()):
        getattr(tally, kind)[key] = dict(sorted(counter.items()))
    return _table(rows, ANNOTATIONS), _table(routed, routes), tally


def _routed(image: Answered, answer: Any) -> dict[str, Any]:
    fate = image.fate
    chances = {
        f"probability/{attribute}/{label}": chance
        for attribute, labels in answer.probabilities.items()
        for label, chance in labels.items()
    }
    return {
        "status": answer.status,
        "reason": answer.reason or None,
        "detail": fate.detail or None,
        "notes": " ".join(fate.notes) or None,
        "format": fate.format or None,
        "width": fate.width or None,
        "height": fate.height or None,
        **{f"route/{task}": route for task, route in answer.routes.items()},
        **{f"value/{task}": value for task, value in answer.values.items()},
        **{f"label/{attribute}": label or None for attribute, label in answer.labels.items()},
        **chances,
    }


def _table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table; what a row does not say is null."""
    columns = [pa.array([row.get(column.name) for row in rows], column.type) for column in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _summed(first: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {key: first.get(key, 0) + other.get(key, 0) for key in sorted({*first, *other})}
