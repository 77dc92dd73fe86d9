"""How far labellers agree on the same images: `fairspace ares agreement`.

Agreement says nothing about who is right: that takes people's labels (`fairspace ares measure`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.ares.annotating.rows import LABELS
from fairspace.ares.annotating.shards import FILE
from fairspace.builders.engine.agreement import Kappa, cohens_kappa, crossed
from fairspace.builders.errors import BuildError

FACE = "face"
"""Whether an image shows a face at all."""
_KEY = ("task", "id", "sample")


@dataclass(frozen=True)
class Agreement:
    """How two labellers agree in one attribute.

    Args:
        first: name of a labeller.
        second: of the other one.
        attribute: one of `LABELS`, or `face`.
        labels: of rows and columns.
        matrix: (k, k) images, row = label of the first, column = of the second.
        kappa: of them.
    """

    first: str
    second: str
    attribute: str
    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    kappa: Kappa


def agreement(folders: Sequence[Path]) -> list[Agreement]:
    """Each attribute of each pair of labellers that both have labels for, over the images that both saw.

    Args:
        folders: two or more folders that `fairspace ares annotate` wrote, of the same images.

    Errors: BuildError DRIFT_INPUT if one is no finished annotation, or two have no image in common.
    """
    if len(folders) < 2:
        what, mend = f"{len(folders)} folder", "name another one"
        raise BuildError("DRIFT_INPUT", "annotations", what, "two or more", mend)
    read = [_labels(folder) for folder in folders]
    rows = []
    for (first, one), (second, other) in combinations(read, 2):
        if not one.keys() & other.keys():
            expected = "the same images, with the same names"
            mend = "annotate the same folder with both labellers"
            raise BuildError("DRIFT_INPUT", f"{first} and {second}", "no image in common", expected, mend)
        rows += list(_pairs(first, one, second, other))
    return rows


def _pairs(
    first: str,
    one: Mapping[tuple[str, str, int], Mapping[str, str]],
    second: str,
    other: Mapping[tuple[str, str, int], Mapping[str, str]],
) -> Iterator[Agreement]:
    common = [(one[name], other[name]) for name in one.keys() & other.keys()]
    for attribute in (FACE, *LABELS):
        pairs = [(a[attribute], b[attribute]) for a, b in common if a[attribute] and b[attribute]]
        labels, counts = crossed([a for a, _ in pairs], [b for _, b in pairs])
        if labels:
            yield Agreement(first, second, attribute, labels, tuple(map(tuple, counts.tolist())), cohens_kappa(counts))


def _labels(folder: Path) -> tuple[str, dict[tuple[str, str, int], dict[str, str]]]:
    """Labeller and revision; name of an image -> attribute -> label of its largest face, '' where it has none."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        files = [folder / shard["annotations"]["file"] for shard in data["shards"]]
        columns = [*_KEY, "face", "faces", "status", *LABELS]
        table = pa.concat_tables([pq.read_table(file, columns=columns) for file in files])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what, mend = str(error) or type(error).__name__, "name a folder that `fairspace ares annotate` finished"
        raise BuildError("DRIFT_INPUT", str(folder), what, "finished annotations", mend) from error
    images = {}
    for row in table.to_pylist():
        if row["face"] == 0:
            seen = "" if row["status"] in ("unreadable", "refused") else "face" if row["faces"] else "none"
            images[row["task"], row["id"], row["sample"]] = {FACE: seen, **{name: row[name] or "" for name in LABELS}}
    return f"{data['model']['name']} {data['model']['revision'][:14]}", images
