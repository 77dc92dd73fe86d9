"""Fills in the four measured columns of annotations: image and face quality, prompt and reference similarity (M8, M9).

What is measured is what `submissions/benchmarks/iris/generation.py` reads: the row of face 0 of each image of
the steer prompts.
Every readable image is measured, whatever its labels; an image that is missing, refused or cannot be read has null in
all four columns and is counted, and a score that a readable image cannot have is null alone: face quality without a
face, reference similarity where its prompt has no reference image. The scorer takes null for the worst that it could
be.

Images go by in the order of their files, a few at a time, and each one's vectors are kept at once (`quality_cache.py`);
scores follow from the vectors at the end. So a killed run goes on where it was, a second one loads no model, and the
result depends on neither the batch, nor the order, nor the sharding.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairspace.ares.annotating.source import Source, open_source
from fairspace.submissions.benchmarks.iris.records import STEER
from fairspace.submissions.running.quality.cache import Vectors
from fairspace.submissions.running.quality.embedding import Progress, embed, seen_by, text_scale, text_vector
from fairspace.submissions.running.quality.images import Key, invalid, listed_images
from fairspace.submissions.running.quality.opening import QualityModels
from fairspace.submissions.running.quality.rating import Rating
from fairspace.submissions.running.quality.references import image_vectors
from fairspace.submissions.running.quality.scores import Vector, cosine, mean_to, mean_to_others

Item = tuple[str, str]
"""Task and id of an item."""
WITHOUT_IMAGE = ("refused", "unreadable")
"""Statuses of rows whose image is not looked for."""


@dataclass(frozen=True)
class Measured:
    """Annotations with their measured columns.

    Args:
        annotations: as they were handed over, with the columns filled in.
        counts: `images` of the tasks, each of which is `measured`, `unreadable`, `refused`, or `missing` from the
            source; of those measured, `without_face` and `without_reference`; and `not_annotated` images of the source.
        about: column -> what measured it.
        embedded: images that this call looked at with a model; the others were known.
        seconds: of this call.
        model_seconds: of these in the models, with what they do to pixels.
    """

    annotations: pa.Table
    counts: Mapping[str, int]
    about: Mapping[str, str]
    embedded: int
    seconds: float
    model_seconds: float


def measure_quality(
    images: Path | str | Source,
    annotations: pa.Table,
    prompts: Mapping[Item, str],
    models: QualityModels,
    *,
    cache: Path,
    batch: int = 32,
    workers: int = 2,
    tasks: Collection[str] = (STEER,),
    progress: Progress = lambda what, done, total: None,
) -> Measured:
    """Measure images, or go on where an earlier call with the same cache stopped.

    Args:
        images: as `open_source` of ARES takes them: a folder of `images*.parquet`, for example.
        annotations: of the same images; the columns of the format's `ANNOTATIONS`, those measured may be absent.
        prompts: (task, id) -> prompt, of every item of the tasks that has annotations.
        models: what measures.
        cache: file that keeps what models made of images and texts.
        batch: images that are handed to the models together; changes nothing but speed and memory.
        workers: threads that read ahead; likewise.
        tasks: whose images are measured.
        progress: called with what is being done and how fast, how much is done, and of how much.

    Errors: RunError DATA_INVALID for annotations, images or prompts that do not fit together, RUN_OTHER for the cache,
        MODEL_OUTPUT if a model gives no usable vector; BuildError SOURCE_* for the images, TOOL_MISSING for models.
    """
    began = time.monotonic()
    rows = _rows(annotations, tasks)
    statuses = annotations["status"].to_pylist()
    wanted = {key for key, row in rows.items() if statuses[row] not in WITHOUT_IMAGE}
    if models.similarity is not None:
        _check_prompts(wanted, prompts)
    source = images if isinstance(images, Source) else open_source(images)
    listing = listed_images(source, wanted, rows, tasks)
    with Vectors(cache) as vectors:
        work = embed(
            source,
            listing.images,
            models.looking(),
            vectors,
            batch=batch,
            workers=workers,
            progress=progress,
        )
        progress("Scoring", 0, 0)
        measured = _scores(work.hashes, prompts, models, vectors)
    counts = _counts([statuses[row] for row in rows.values()], work.hashes, measured)
    counts["not_annotated"] = listing.not_annotated
    table = annotations
    for column, scores in measured.items():
        table = _filled(table, column, {row: scores.get(key) for key, row in rows.items()})
    seconds = time.monotonic() - began
    return Measured(table, counts, models.about(), work.embedded, seconds, work.model_seconds)


def _rows(annotations: pa.Table, tasks: Collection[str]) -> dict[Key, int]:
    """Image -> its row of face 0. RunError DATA_INVALID if one comes twice."""
    rows: dict[Key, int] = {}
    columns = (annotations[name].to_pylist() for name in ("task", "id", "sample", "face"))
    for row, (task, item, sample, face) in enumerate(zip(*columns, strict=True)):
        if face == 0 and task in tasks and rows.setdefault((task, item, sample), row) != row:
            what = f"{task} {item}, sample {sample} twice with face 0"
            raise invalid("annotations", what, "every image once", "annotate the images again")
    return rows


def _check_prompts(wanted: Iterable[Key], prompts: Mapping[Item, str]) -> None:
    missing = sorted({(task, item) for task, item, _ in wanted if (task, item) not in prompts})
    if missing:
        what = f"no prompt of {' '.join(missing[0])} and {len(missing) - 1} more"
        raise invalid("prompts", what, "the prompt of every item", "hand over the items of the dataset's revision")


def _scores(
    hashes: Mapping[Key, str], prompts: Mapping[Item, str], models: QualityModels, vectors: Vectors
) -> dict[str, dict[Key, float]]:
    """Column -> image -> score; images without one are left out."""
    scores: dict[str, dict[Key, float]] = {}
    readable = sorted(key for key, sha256 in hashes.items() if sha256)
    for column, rating in (("image_quality", models.image), ("face_quality", models.face)):
        if rating is not None:
            scores[column] = _ratings(rating, readable, hashes, vectors)
    for column, features in (("prompt_similarity", models.similarity), ("reference_similarity", models.reference)):
        if features is not None:
            scores[column] = {}
    for item, group in groupby(readable, key=lambda key: key[:2]):
        keys = list(group)
        if models.similarity is not None:
            prompt = text_vector(models.similarity, prompts[item], vectors)
            for key, image in seen_by(models.similarity, keys, hashes, vectors):
                scores["prompt_similarity"][key] = cosine(image, prompt)
        if models.reference is not None:
            seen = list(seen_by(models.reference, keys, hashes, vectors))
            means = _to_reference(models, item[1], [image for _, image in seen], vectors)
            for (key, _), mean in zip(seen, means, strict=True):
                if mean is not None:
                    scores["reference_similarity"][key] = mean
    return scores


def _to_reference(
    models: QualityModels, item: str, images: Sequence[Vector], vectors: Vectors
) -> Sequence[float | None]:
    """How like the references each image of a prompt is; without references, how like its other images."""
    if models.reference is None or models.references is None:
        return mean_to_others(images)
    references = image_vectors(models.reference, models.references.of(item), vectors) if images else []
    return [mean_to(image, references) for image in images]


def _ratings(rating: Rating, readable: Sequence[Key], hashes: Mapping[Key, str], vectors: Vectors) -> dict[Key, float]:
    features: Any = rating.features
    texts = [text_vector(features, text, vectors) for text in rating.texts] if readable else []
    scale = text_scale(features, vectors) if texts else 1.0
    return {key: rating.rate(image, texts, scale) for key, image in seen_by(features, readable, hashes, vectors)}


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
    """The table with some rows of a column set; it is added if it is absent."""
    index = table.schema.get_field_index(column)
    values = table[column].to_pylist() if index >= 0 else [None] * table.num_rows
    for row, score in scores.items():
        values[row] = score
    new = pa.array(values, pa.float64())
    if index < 0:
        return table.append_column(pa.field(column, pa.float64()), new)
    return table.set_column(index, table.schema.field(index), new)
