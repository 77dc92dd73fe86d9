"""Annotations of a folder, with image quality and semantics filled in: what `fairspace ares quality` does.

The output folder has the input's `annotations*.parquet` under their names, with their rows, order and metadata, and
beside them `quality.json`, written last: what measured which column, and how many images have which fate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.engine.build import write_atomically
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import steer_id, steer_prompt
from fairspace.submissions.benchmarks.iris.records import STEER
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.quality.measuring import Item, Measured, Progress, measure_quality
from fairspace.submissions.running.quality.models import QualityModels

FILE = "quality.json"


def fill_quality(
    images: Path | str,
    annotations: Path,
    out: Path,
    models: QualityModels,
    *,
    cache: Path,
    prompts: Mapping[Item, str] | None = None,
    batch: int = 32,
    progress: Progress = lambda what, done, total: None,
) -> Measured:
    """Measure the steer images of a model, and write its annotations with what was measured.

    Args:
        images: a folder of images as shards, or whatever `fairspace ares annotate` takes.
        annotations: folder with `annotations*.parquet`, as `fairspace ares annotate` wrote it, or a submission.
        out: folder to write to; `annotations` itself replaces its files.
        models: what measures.
        cache: see `measure_quality`.
        prompts: (task, id) -> prompt; None: those of IRIS-Steer-60.
        batch: see `measure_quality`.
        progress: likewise.

    Errors: as `measure_quality`; RunError DATA_MISSING without annotations, DATA_INVALID if they cannot be read.
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
    chosen = prompts if prompts is not None else steer_prompts(whole["id"].to_pylist())
    measured = measure_quality(images, whole, chosen, models, cache=cache, batch=batch, progress=progress)
    out.mkdir(parents=True, exist_ok=True)
    start = 0
    for file, table in zip(files, tables, strict=True):
        part = measured.annotations.slice(start, table.num_rows).replace_schema_metadata(table.schema.metadata)
        start += table.num_rows
        new = out / f"{file.name}.part"
        pq.write_table(part, new, compression="zstd")
        new.replace(out / file.name)
    said = {"format": 1, "models": dict(measured.about), "counts": dict(measured.counts)}
    write_atomically(out / FILE, json.dumps(said, ensure_ascii=False, indent=1) + "\n")
    return measured


def steer_prompts(ids: Iterable[str]) -> dict[Item, str]:
    """The prompts of those ids that are of IRIS-Steer-60; the others are left out."""
    prompts: dict[Item, str] = {}
    for item in dict.fromkeys(ids):
        parts = item.split("/")
        if len(parts) != 4 or parts[1] not in OCCUPATIONS or not {*parts[2:]} <= {*GROUPS}:
            continue
        occupation, stereotype, requested = OCCUPATIONS.index(parts[1]), *map(GROUPS.index, parts[2:])
        if item == steer_id(occupation, stereotype, requested):
            prompts[STEER, item] = steer_prompt(occupation, requested)
    return prompts
