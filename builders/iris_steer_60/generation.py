"""The generation part of IRIS-Steer-60: each model's own sixty prompts, and what it made of them (C.2, D.2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from fairspace.builders.engine.dataset import Job, Row, Split
from fairspace.builders.iris.groups import GROUPS, LABELS
from fairspace.builders.iris.revisions import REVISIONS
from fairspace.builders.iris_gen_52.images import OF_MODEL, ORIGIN, model_columns, stored_image
from fairspace.builders.iris_steer_60.plan import IMAGES, NO_YES, STEREOTYPES, counter_groups, steer_ids, steer_plan
from fairspace.builders.iris_steer_60.prompts import ASKED, Steer
from fairspace.builders.sources.model_image_reader import ImageReader
from fairspace.builders.sources.model_images import STATUSES
from fairspace.builders.sources.model_store import STEER, ModelStore
from fairspace.builders.sources.model_units import Made

_ITEM = ("string", "id of the prompt, which an annotation names")
_RANK = ("int32", "of the stereotype among the model's ten, 1 the most frequent")


def generation_splits(job: Job, store: ModelStore) -> list[Split]:
    """The configs `generation` and `generation_images` of the source's models; `images` only if there are any."""
    plans = {number: plan for number in range(len(store.models)) if (plan := _plan(job, store, number))}
    splits = [_generation(store, plans)] if plans else []
    place = {name: number for number, name in enumerate(steer_ids(REVISIONS[0]).to_pylist())}
    planned = {(model, place[steer.item]): steer for model, plan in plans.items() for steer in plan}
    units = store.select(STEER, planned)
    for model, item, sample in store.unwanted(STEER):
        unit = f"{store.models[model].key}/{store.ids[STEER][item].as_py()}/{sample:03d}"
        job.reject(unit, "not a prompt of the model's plan")
    if len(units):
        splits.append(_images(store, planned, units))
    elif plans:
        job.note("No model has annotated steer images: the config generation_images is left out.")
    return splits


def _plan(job: Job, store: ModelStore, number: int) -> list[Steer]:
    """A model's sixty prompts; none if it shows fewer than ten combinations, as the scorer has it."""
    counts = store.neutral_counts(number)
    chosen = steer_plan(counts)
    seen = sum(int(counts[cell] > 0) for cell in chosen)
    if seen < STEREOTYPES:
        name = store.models[number].name
        job.note(f"{name}: its neutral images show {seen} combinations; a steer plan needs {STEREOTYPES}.")
        return []
    return [
        Steer(occupation, stereotype, requested, rank, int(counts[occupation, stereotype]))
        for rank, (occupation, stereotype) in enumerate(chosen, start=1)
        for requested in (stereotype, *counter_groups(stereotype))
    ]


def _generation(store: ModelStore, plans: dict[int, list[Steer]]) -> Split:
    rows = [
        {"id": f"{store.models[model].key}/{steer.item}", "item": steer.item, **model_columns(store.models[model])}
        | steer.columns()
        | {"rank": steer.rank, "seen": steer.images, "images": IMAGES}
        for model, plan in plans.items()
        for steer in plan
    ]
    return Split(
        config="generation",
        about="One of the sixty steer prompts of a model, which follow from its neutral images.",
        columns={
            "item": _ITEM,
            **OF_MODEL,
            **ASKED,
            "rank": _RANK,
            "seen": ("int32", "neutral images of the model that show the stereotype"),
            "images": ("int32", "how many it makes of the prompt"),
        },
        units=pa.Table.from_pylist(rows),
        shard=10_000,
        groups=("prompt_type",),
    )


def _images(store: ModelStore, planned: dict[tuple[int, int], Steer], units: Any) -> Split:
    reader = ImageReader()
    return Split(
        config="generation_images",
        about="An image that a model made of one of its steer prompts: what was asked for and what it shows.",
        columns={
            "item": _ITEM,
            "sample": ("int32", "which image of the prompt, from 0"),
            **OF_MODEL,
            "image": ("image", "null if it was not handed in"),
            "status": (STATUSES, "ok, or why there is no label"),
            **{name: (labels, "perceived in the first face") for name, labels in LABELS.items()},
            "success": (
                NO_YES,
                "whether all three labels are as asked, `no` without a face; else null if one has no label",
            ),
            "origin": ORIGIN,
            **ASKED,
            "rank": _RANK,
        },
        units=units,
        rows=lambda part: _image_rows(part, store, planned, reader),
        groups=("prompt_type", "success"),
    )


def _image_rows(
    images: Sequence[Made], store: ModelStore, planned: dict[tuple[int, int], Steer], reader: ImageReader
) -> Iterator[Row]:
    for image in images:
        model, steer = store.models[image.model], planned[image.model, image.item]
        key = f"{model.key}/{steer.item}/{image.sample:03d}"
        labels = (image.gender, image.age, image.skin_tone)
        shown = "_".join(filter(None, labels)) if all(labels) or image.status == "no_face" else None
        success = None if shown is None else "yes" if shown == GROUPS[steer.requested] else "no"
        yield {
            "id": key,
            "item": steer.item,
            "sample": image.sample,
            "image": stored_image(image, key.replace("/", "-"), reader),
            "origin": "models",
            **model_columns(model),
            **steer.columns(),
            "rank": steer.rank,
            "status": image.status,
            **dict(zip(LABELS, (label or None for label in labels), strict=True)),
            "success": success,
        }
