"""Answers as rows: the annotations of a submission, and beside them the routes, with all that ARES says of a face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairspace.ares.annotating.source import Entry
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.classifying_ares import Answered

LABELS = ("gender", "age", "skin_tone", "race")
"""Attributes that the format has columns for; others stand in the routes alone."""
_QUALITIES = ("image_quality", "face_quality", "prompt_similarity", "reference_similarity")
_TEXT, _NUMBER, _REAL = pa.string(), pa.int32(), pa.float64()
_KEY = [
    pa.field(name, _TEXT if name in ("task", "id") else _NUMBER, False) for name in ("task", "id", "sample", "face")
]
ANNOTATIONS = pa.schema(
    [
        *_KEY,
        pa.field("status", _TEXT, nullable=False),
        *(pa.field(name, _TEXT) for name in LABELS),
        *(pa.field(name, _REAL) for name in _QUALITIES),
        pa.field("faces", _NUMBER),
    ]
)
"""The submission format's table; a test compares it with `fairspace.submissions.format.schema.ANNOTATIONS`."""


Counts = dict[str, Any]
"""What became of images.

`images`, inputs; `rows` of the annotations; `faces` that were found, where every readable image counts as one if no
detector is on; `status` -> rows; `reasons` why an image has no usable face (a word of `REASONS`, `no_face`) -> images;
`notes` on what was done to read an image (a word of `NOTES`) -> images; `routes`, task of ARES -> route -> faces;
`labels`, attribute -> label -> faces, where '' counts the abstentions.
"""


def added(first: Any, other: Any) -> Any:
    """Counts together; a key that one lacks counts nothing there."""
    if isinstance(first, int):
        return first + other
    keys = list(first) if list(first) == list(other) else sorted({*first, *other})
    return {
        key: added(first[key], other[key]) if key in first and key in other else first.get(key, other.get(key))
        for key in keys
    }


def route_schema(config: Any) -> pa.Schema:
    """The columns of the routes, for the tasks of an `AresConfig`.

    Per image: what reading it said. Per face: `route/<task>`; `value/<task>` where a regression decides; and per
    attribute `label/<attribute>` and the probabilities `probability/<attribute>/<label>`.
    """
    fields = [*_KEY, pa.field("faces", _NUMBER)]
    fields += [pa.field(name, _TEXT) for name in ("status", "reason", "detail", "notes", "format")]
    fields += [pa.field("width", _NUMBER), pa.field("height", _NUMBER)]
    for task in config.tasks:
        fields.append(pa.field(f"route/{task['name']}", _TEXT))
        if task["arbiter"] == "fusion":
            fields.append(pa.field(f"value/{task['name']}", _REAL))
    for attribute, labels in config.attributes.items():
        fields.append(pa.field(f"label/{attribute}", _TEXT))
        fields += [pa.field(f"probability/{attribute}/{label}", _REAL) for label in labels]
    return pa.schema(fields)


def tables(
    entries: Sequence[Entry], answered: Iterable[Answered], routes: pa.Schema
) -> tuple[pa.Table, pa.Table, Counts]:
    """The rows of some inputs.

    Args:
        entries: the inputs.
        answered: what became of each, in the same order.
        routes: of `route_schema`.

    Returns:
        Annotations, routes, and the counts.

    Errors: BuildError BUILD_CHECK if an input has no fate or several, or rows and faces do not agree.
    """
    faces = 0
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("status", "reasons", "notes")}
    nested: dict[str, dict[str, Counter[str]]] = {"routes": {}, "labels": {}}
    rows: list[dict[str, Any]] = []
    routed: list[dict[str, Any]] = []
    for entry, image in zip(entries, answered, strict=True):
        labelled = [answer for answer in image.answers if answer.labels]
        numbers = [answer.face for answer in image.answers]
        if len(image.answers) != max(1, len(labelled)) or numbers != list(range(len(numbers))):
            what = f"{len(labelled)} faces, and the rows {numbers}"
            raise BuildError("BUILD_CHECK", entry.where, what, "one row per face, or one that says why", "report this")
        faces += len(labelled)
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
                    nested[kind].setdefault(key, Counter())[value] += 1
    total: Counts = {"images": len(entries), "rows": len(rows), "faces": faces}
    total |= {key: dict(sorted(counter.items())) for key, counter in counts.items()}
    for kind, by in nested.items():
        total[kind] = {key: dict(sorted(counter.items())) for key, counter in sorted(by.items())}
    return _table(rows, ANNOTATIONS), _table(routed, routes), total


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
