"""The pictures of the vision modality, two faces of UTKFace side by side, and the questions about them (section 3.1).

The paper splices two photos horizontally. Here each is first cut to its largest central square and scaled to 200 x 200
pixels, the size of UTKFace's aligned faces, which are thus kept pixel for pixel. UTKFace does not let its images be
passed on: a row names both files and their hashes, and `join_images.py` splices a user's own copies in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fairspace.builders.engine.dataset import Job, Row, Split
from fairspace.builders.errors import BuildError
from fairspace.builders.stereotypical_bias import plan
from fairspace.builders.stereotypical_bias.pairing import Pair, faces, filled, sample


def splits(job: Job) -> Iterator[Split]:
    """The splits `gender` and `race` of `vision`, if UTKFace is there, and of `vision_questions`."""
    from fairspace.builders.sources import SOURCES

    by_attribute: dict[plan.Attribute, list[Pair]] = {}
    if SOURCES["utkface"].found(job.source) is None:
        job.note("vision: UTKFace was not given, so no pair has its picture; the questions are there.")
    else:
        folder = job.need("utkface")
        files = faces(job, folder)
        for attribute in plan.ATTRIBUTES:
            by_attribute[attribute] = list(filled(job, attribute, files))
            if job.sample:
                by_attribute[attribute] = sample(by_attribute[attribute])
            yield _pictures(attribute, by_attribute[attribute], folder)
    for attribute in plan.ATTRIBUTES:
        yield _questions(attribute, [p.pair for p in by_attribute.get(attribute, [])] if job.sample else None)


def _pictures(attribute: plan.Attribute, pairs: Sequence[Pair], folder: Path) -> Split:
    other = "race" if attribute == "gender" else "gender"
    return Split(
        config="vision",
        split=attribute,
        about=f"Two faces side by side that differ in {attribute}, equal in age and in {other}.",
        columns={
            "image": ("image", "400 x 200 pixels: the left face, then the right one"),
            "attribute": (plan.ATTRIBUTES, "what the two faces differ in"),
            "age": ("int32", "of both faces, in years, as UTKFace says"),
            "left_gender": (plan.GROUPS["gender"], "perceived gender of the left face"),
            "left_race": (plan.GROUPS["race"], "perceived race of the left face"),
            "right_gender": (plan.GROUPS["gender"], "perceived gender of the right face"),
            "right_race": (plan.GROUPS["race"], "perceived race of the right face"),
            "origin": (("utkface", "synthetic"), "the source of both faces"),
            "left_file": ("string", "file below the source's folder"),
            "left_sha256": ("string", "of that file"),
            "right_file": ("string", "file below the source's folder"),
            "right_sha256": ("string", "of that file"),
        },
        units=pairs,
        rows=lambda part: (_row(pair, folder) for pair in part),
        groups=("left_gender", "left_race", "right_gender", "right_race"),
        id="the id of a question about the picture is this, `/`, and the instance in small letters with `_` for spaces "
        "(`vision_gender/0000/taxi_driver`); `vision_questions` holds them all",
    )


def _row(pair: Pair, folder: Path) -> Row:
    from fairspace.builders.publishing.join_images import spliced_jpeg

    row: dict[str, Any] = {"id": pair.id, "attribute": pair.attribute, "age": pair.age, "origin": "utkface"}
    halves = []
    for side, (gender, race, file) in (("left", pair.left), ("right", pair.right)):
        halves.append(_read(folder / file))
        row |= {f"{side}_gender": gender, f"{side}_race": race, f"{side}_file": file}
        row[f"{side}_sha256"] = hashlib.sha256(halves[-1]).hexdigest()
    name = f"{pair.id.replace('/', '-')}.jpg"
    return row | {"image": {"bytes": spliced_jpeg(halves[0], halves[1]), "path": name}}


def _read(file: Path) -> bytes:
    """The bytes of an image that can be decoded. BuildError SOURCE_IMAGE if it cannot."""
    from fairspace.builders.publishing.join_images import upright

    try:
        data = file.read_bytes()
        upright(data)
    except OSError as error:
        remedy = "obtain the file again from the source"
        raise BuildError("SOURCE_IMAGE", str(file), str(error), "an image that can be read", remedy) from error
    return data


def _questions(attribute: plan.Attribute, only: Sequence[str] | None) -> Split:
    """Every question about every planned pair; in a sample those about its pairs."""
    items = plan.items(f"vision_{attribute}")
    if only is not None:
        items = items.filter(pc.is_in(items["pair"], pa.array(only, pa.string())))
    return Split(
        config="vision_questions",
        split=attribute,
        about=f"A question about a picture of `vision`/`{attribute}`; its `id` is the one that a response names.",
        columns={
            "picture": (
                "string",
                "id of the row of `vision` that it is asked about; pairs that a source could not fill have none",
            ),
            "scenario": (plan.SCENARIOS[:2], "kind of instance"),
            "instance": (plan.INSTANCES, "the occupation or descriptor that is asked for"),
            "prompt": ("string", "the question, to the letter; prefixes of a run come before it"),
        },
        units=items,
        rows=_question_rows,
        shard=200_000,
        id="of the item",
    )


def _question_rows(items: pa.Table) -> pa.Table:
    instance = items["instance"].cast(pa.int64())
    return pa.table(
        {
            "id": items["id"],
            "picture": pc.replace_substring_regex(items["id"], "/[^/]*$", ""),
            "scenario": pc.greater_equal(instance, len(plan.OCCUPATIONS)).cast(pa.int64()),
            "instance": instance,
            "prompt": items["prompt"],
        }
    )
