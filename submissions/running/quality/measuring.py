"""Fill in the four measured columns of annotations: image and face quality, prompt and reference similarity (M8, M9).

Scores stand on the row of face 0 of each steer image, for `benchmarks/iris/image_quantities.py`. A missing, refused or
unreadable image has null in all four; face quality without a face and reference similarity without a reference image
are null alone. The scorer takes null for the worst score. Vectors are cached under model and sha256 of the image, so
a killed run goes on, and the result depends on neither batch nor order nor sharding.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.ares.annotating.source import ImageEntry, ImageSource, contents, list_entries, open_source
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import steer_id, steer_prompt
from fairspace.builders.writing import beside
from fairspace.submissions.benchmarks.iris.records import STEER
from fairspace.submissions.errors import RunError
from fairspace.submissions.reading.tables import Progress
from fairspace.submissions.running.quality.models import (
    ImageFeatures,
    Item,
    Key,
    Measure,
    PromptSimilarity,
    Vectors,
    decode,
    image_key,
)

WITHOUT_IMAGE = ("refused", "unreadable")
"""Statuses of rows whose image is not looked for."""


@dataclass(frozen=True)
class MeasuredQuality:
    """Annotations with their measured columns, and the model that measured each (`about`).

    `counts` has `images` of the tasks, each `measured`, `unreadable`, `refused`, or `missing` from the source; of those
    measured, `without_face` and `without_reference`; and `not_annotated` images of the source. `embedded` counts those
    that this call embedded; the others were cached.
    """

    annotations: pa.Table
    counts: Mapping[str, int]
    about: Mapping[str, str]
    embedded: int


def measure_quality(
    images: Path | str | ImageSource,
    annotations: pa.Table,
    prompts: Mapping[Item, str],
    measures: Sequence[Measure],
    *,
    cache: Path,
    batch: int = 64,
    tasks: Collection[str] = (STEER,),
    progress: Progress = lambda what, done, total: None,
) -> MeasuredQuality:
    """Measure images, or go on where an earlier call with the same `cache`, a file of vectors, stopped.

    `images` is a source for `open_source` of ARES, such as a folder of `images*.parquet`, and `annotations` are of the
    same images, with or without measured columns. `prompts` holds that of every annotated item by (task, id). `batch`,
    the images handed to the models together, changes only speed and memory.

    Errors: RunError DATA_INVALID for inputs that do not fit together, RUN_OTHER for the cache, MODEL_OUTPUT without a
    usable vector; BuildError SOURCE_* for the images, TOOL_MISSING for models.
    """
    rows = _rows(annotations, tasks)
    statuses = annotations["status"].to_pylist()
    wanted = {key for key, row in rows.items() if statuses[row] not in WITHOUT_IMAGE}
    if any(isinstance(measure, PromptSimilarity) for measure in measures):
        _check_prompts(wanted, prompts)
    looking = list({measure.features.name: measure.features for measure in measures}.values())
    source = images if isinstance(images, ImageSource) else open_source(images)
    entries = list(list_entries(source))
    _check_once(entries, wanted)
    with closing(Vectors(cache)) as vectors:
        hashes, embedded = _embed(source, entries, wanted, looking, vectors, batch, progress)
        progress("Scoring", 0, 0)
        readable = {key: image_key(sha256) for key, sha256 in sorted(hashes.items()) if sha256}
        measured = {
            each.column: each.scores(vectors.seen(each.features, readable), prompts, vectors) for each in measures
        }
    counts = _counts([statuses[row] for row in rows.values()], hashes, measured)
    counts["not_annotated"] = sum(entry.task in tasks and entry[:3] not in rows for entry in entries)
    table = annotations
    for column, scores in measured.items():
        table = _filled(table, column, {row: scores.get(key) for key, row in rows.items()})
    return MeasuredQuality(table, counts, {measure.column: measure.name for measure in measures}, embedded)


def _rows(annotations: pa.Table, tasks: Collection[str]) -> dict[Key, int]:
    """Image -> its row of face 0. RunError DATA_INVALID if an image comes twice."""
    rows: dict[Key, int] = {}
    columns = (annotations[name].to_pylist() for name in ("task", "id", "sample", "face"))
    for row, (task, item, sample, face) in enumerate(zip(*columns, strict=True)):
        if face == 0 and task in tasks and rows.setdefault((task, item, sample), row) != row:
            what = f"{task} {item}, sample {sample} twice with face 0"
            raise _invalid("annotations", what, "every image once", "annotate the images again")
    return rows


def _check_prompts(wanted: Iterable[Key], prompts: Mapping[Item, str]) -> None:
    missing = sorted({(task, item) for task, item, _ in wanted if (task, item) not in prompts})
    if missing:
        what = f"no prompt of {' '.join(missing[0])} and {len(missing) - 1} more"
        raise _invalid("prompts", what, "the prompt of every item", "hand over the items of the dataset's revision")


def _check_once(entries: Iterable[ImageEntry], wanted: Collection[Key]) -> None:
    seen: set[Key] = set()
    for entry in entries:
        if (key := entry[:3]) in seen:
            what = f"{entry.task} {entry.id}, sample {entry.sample} again"
            raise _invalid(entry.where, what, "every image once", "remove all but one")
        if key in wanted:
            seen.add(key)


def _invalid(where: str, what: str, expected: str, mend: str) -> RunError:
    return RunError("DATA_INVALID", where, what, expected, mend)


def _embed(
    source: ImageSource,
    entries: Sequence[ImageEntry],
    wanted: Collection[Key],
    looking: Sequence[ImageFeatures],
    vectors: Vectors,
    batch: int,
    progress: Progress,
) -> tuple[dict[Key, str], int]:
    """Give every readable image a vector of every model; image -> sha256 ('' if unreadable), images embedded."""
    from fairspace.ares.reading_ares import quiet

    hashes: dict[Key, str] = {}
    embedded, began = 0, time.monotonic()
    with quiet(), ThreadPoolExecutor(2) as pool:
        pending = _pending(source, entries, wanted, looking, vectors, hashes)
        while part := list(islice(pending, batch)):
            decoded = list(pool.map(decode, [image for _, image in part]))
            hashes |= {entry[:3]: sha256 for (entry, _), (sha256, _) in zip(part, decoded, strict=True)}
            images = {image_key(sha256): pixels for sha256, pixels in decoded if pixels is not None}
            embedded += max((vectors.images(features, images) for features in looking), default=0)
            speed = embedded / max(time.monotonic() - began, 1e-9)
            progress(f"Measuring quality, {speed:.1f} images/s", len(hashes), len(wanted))
    return hashes, embedded


def _pending(
    source: ImageSource,
    entries: Sequence[ImageEntry],
    wanted: Collection[Key],
    looking: Sequence[ImageFeatures],
    vectors: Vectors,
    hashes: dict[Key, str],
) -> Iterator[tuple[ImageEntry, Any]]:
    """Images that some model has not seen, still encoded; `hashes` gets those that all models have seen."""
    for entry, image in zip(entries, contents(source, entries), strict=True):
        if entry[:3] not in wanted:
            continue
        key = image_key(entry.sha256)
        if entry.sha256 and all(vectors.get(features.name, key) is not None for features in looking):
            hashes[entry[:3]] = entry.sha256
        else:
            yield entry, image


def _counts(
    statuses: Sequence[str], hashes: Mapping[Key, str], scores: Mapping[str, Mapping[Key, float]]
) -> dict[str, int]:
    gone = {status: statuses.count(status) for status in WITHOUT_IMAGE}
    measured = sum(1 for sha256 in hashes.values() if sha256)
    counts = {
        "images": len(statuses),
        "measured": measured,
        "unreadable": gone["unreadable"] + len(hashes) - measured,
        "refused": gone["refused"],
        "missing": len(statuses) - sum(gone.values()) - len(hashes),
    }
    without = {"without_face": "face_quality", "without_reference": "reference_similarity"}
    return counts | {name: measured - len(scores[column]) for name, column in without.items() if column in scores}


def _filled(table: pa.Table, column: str, scores: Mapping[int, float | None]) -> pa.Table:
    index = table.schema.get_field_index(column)
    values = table[column].to_pylist() if index >= 0 else [None] * table.num_rows
    for row, score in scores.items():
        values[row] = score
    new = pa.array(values, pa.float64())
    if index < 0:
        return table.append_column(pa.field(column, pa.float64()), new)
    return table.set_column(index, table.schema.field(index), new)


FILE = "quality.json"


def fill_quality(
    images: Path | str,
    annotations: Path,
    out: Path,
    measures: Sequence[Measure],
    *,
    cache: Path,
    progress: Progress = lambda what, done, total: None,
) -> MeasuredQuality:
    """Measure the steer images of a model; write its annotations with the scores, and `quality.json` last.

    `annotations`: folder with `annotations*.parquet`, or a submission; as `out` it has its files replaced. Other
    arguments are those of `measure_quality`, prompts those of IRIS-Steer-60.

    Errors: those of `measure_quality`; RunError DATA_MISSING without annotations, DATA_INVALID for unreadable ones.
    """
    files = sorted(annotations.glob("annotations*.parquet"))
    if not files:
        mend = "annotate the images first: fairspace ares annotate"
        raise RunError("DATA_MISSING", str(annotations), "no annotations*.parquet", "a folder of annotations", mend)
    try:
        tables = [pq.read_table(file) for file in files]
        whole = pa.concat_tables([table.replace_schema_metadata(None) for table in tables])
    except (OSError, pa.ArrowException) as error:
        mend = "annotate the images again"
        raise RunError("DATA_INVALID", str(annotations), f"{error}", "readable Parquet files", mend) from error
    prompts = steer_prompts(whole["id"].to_pylist())
    measured = measure_quality(images, whole, prompts, measures, cache=cache, progress=progress)
    out.mkdir(parents=True, exist_ok=True)
    start = 0
    for file, table in zip(files, tables, strict=True):
        part = measured.annotations.slice(start, table.num_rows).replace_schema_metadata(table.schema.metadata)
        start += table.num_rows
        with beside(out / file.name) as place:
            pq.write_table(part, place, compression="zstd")
    facts = {"format": 1, "models": dict(measured.about), "counts": dict(measured.counts)}
    write_atomically(out / FILE, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
    return measured


def steer_prompts(ids: Iterable[str]) -> dict[Item, str]:
    """Prompts of the ids in IRIS-Steer-60; other ids are left out."""
    prompts: dict[Item, str] = {}
    for item in dict.fromkeys(ids):
        parts = item.split("/")
        if len(parts) != 4 or parts[1] not in OCCUPATIONS or not {*parts[2:]} <= {*GROUPS}:
            continue
        occupation, stereotype, requested = OCCUPATIONS.index(parts[1]), *map(GROUPS.index, parts[2:])
        if item == steer_id(occupation, stereotype, requested):
            prompts[STEER, item] = steer_prompt(occupation, requested)
    return prompts
