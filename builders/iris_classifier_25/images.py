"""The images of IRIS-Classifier-25: which real faces enter, what is generated, and what is checked (C.4).

A cell is a config, a split and a class. A generated image enters if a labeller sees one face with the gender, the age
and the skin tone that the prompt asks for. Of an adversarial image, whose face is meant to be incomplete, less can be
checked: the labeller may give no label or find no face, but what it does give must be what was asked for, and there
must not be several faces. Its labels are then the prompt's word, and `adversarial` says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.dataset import Columns, Job, Row, Split, expect
from fairspace.builders.engine.making import Verdict, Wanted, jpeg, make
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS, LABELS, SKIN_TONES
from fairspace.builders.iris_classifier_25.faces import SOURCES_READ, candidates, given, read
from fairspace.builders.iris_classifier_25.plan import CLASSES, SHARES, TARGETS, quotas
from fairspace.builders.iris_classifier_25.synthetic import Plan, item
from fairspace.builders.iris_ideal_52.images import Place, Places

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.builders.engine.plan_store import Chosen, PlanStore

ATTEMPTS = 10
"""Seeds that are tried for a synthetic image."""
SIZE = 384
"""Width and height of a synthetic image; real ones keep their size and bytes."""
SAMPLE_REAL = 2
"""In a sample real faces fill at most one place in this many, so that it shows synthetic ones too."""


def splits(job: Job) -> list[Split]:
    """The splits that can be built from the sources and tools there are."""
    include = job.options.get("include", "")
    if include not in ("", "mst_e"):
        raise BuildError("SOURCE_MISSING", "--include", repr(include), "mst_e", "leave the option out, or correct it")
    store = candidates(job)
    counts = store.counts()
    splits = [split for config in TARGETS for split in _balanced(job, config, store, counts)]
    return splits + list(_race(job, store, counts))


def _balanced(job: Job, config: str, store: PlanStore, counts: Mapping[str, int]) -> Iterator[Split]:
    """A config whose classes are filled with synthetic images."""
    wanted = {
        f"{config}/{split}/{name}": quota
        for split, names in quotas(config, sample=job.sample).items()
        for name, quota in names.items()
    }
    most = {cell: quota // SAMPLE_REAL if job.sample else quota for cell, quota in wanted.items()}
    real = {cell: min(limit, counts.get(cell, 0)) for cell, limit in most.items()}
    gap = {cell: quota - real[cell] for cell, quota in wanted.items()}
    missing = [role for role in ("generator", "labeller") if getattr(job.tools, role) is None]
    if missing and sum(gap.values()):
        lack = f"no {' and no '.join(missing)} was named, so {sum(gap.values())} of {sum(wanted.values())} images"
        job.note(f"{config}: {lack} that balance its classes are missing.")
    plan = Plan(config, real, dict.fromkeys(gap, 0) if missing else gap)
    yield from _by_split(job, plan, store)


def _race(job: Job, store: PlanStore, counts: Mapping[str, int]) -> Iterator[Split]:
    """FairFace's faces by race: each class as large as the smallest one of its split."""
    if not given(job, "fairface"):
        return
    real: dict[str, int] = {}
    for split in SHARES:
        cells = [f"race/{split}/{name}" for name in CLASSES["race"]]
        real |= dict.fromkeys(cells, min(counts.get(cell, 0) for cell in cells))
        if none := [cell for cell in cells if not counts.get(cell)]:
            job.note(f"race/{split}: FairFace has no face for {', '.join(none)}.")
    yield from _by_split(job, Plan("race", real, dict.fromkeys(real, 0)), store)


def _by_split(job: Job, plan: Plan, store: PlanStore) -> Iterator[Split]:
    for split in SHARES:
        cells = [f"{plan.config}/{split}/{name}" for name in CLASSES[plan.config]]
        chosen = store.select({cell: plan.real[cell] for cell in cells}, order=cells)
        units = Places(chosen, {cell: plan.gap[cell] for cell in cells}, cells)
        if len(units):
            yield Split(
                config=plan.config,
                split=split,
                about=f"A face and its {plan.config.replace('_', ' ')}.",
                columns=columns(plan.config),
                units=units,
                rows=partial(rows, job=job, plan=plan),
                groups=(plan.config, "origin"),
                id="of the row",
            )


def columns(config: str) -> Columns:
    """The columns of a config, its class first."""
    classes = {
        "age_gender": "the class: perceived gender and age",
        "race": "the class: perceived race",
        "skin_tone": "perceived skin tone; null where the source does not say",
    }
    labels: Columns = {
        "gender": (GENDERS, "perceived gender; null where the source does not say"),
        "age": (AGES, "perceived age: to 39, to 64, from 65; null where the source does not say"),
        "skin_tone": (SKIN_TONES, classes["skin_tone"]),
    }
    return {
        "image": ("image", "the source's own file, or a synthetic image of 384 x 384 pixels"),
        config: (CLASSES[config], classes[config]),
        **labels,
        "origin": ([*SOURCES_READ, "synthetic"], "the source of the image, or synthetic"),
        "adversarial": ("bool", "whether an incomplete face was asked for; its labels are the prompt's word"),
        "source_file": ("string", "file below the source's folder; null for synthetic images"),
        "source_sha256": ("string", "of that file"),
        "prompt": ("string", "what a synthetic image was made from"),
        "generator": ("string", "the model that made it"),
        "seed": ("int64", "of its noise"),
    }


def rows(part: Sequence[Chosen | Place], job: Job, plan: Plan) -> Iterator[Row]:
    """The rows of some places; one for which no synthetic image passed gives none, and the log says so."""
    places = {item(place): place for place in part if isinstance(place, Place)}
    wanted = [Wanted(key, plan.prompt(place, job.seed)) for key, place in places.items()]
    results = make(job, wanted, partial(_verdicts, job, plan, places), attempts=ATTEMPTS, config=plan.config)
    empty = dict.fromkeys(columns(plan.config))
    for place in part:
        name = place.cell.rpartition("/")[2]
        if not isinstance(place, Place):
            yield {**empty, **_real(place, job), plan.config: name, "adversarial": False}
            continue
        wanted_item, image = next(results)
        expect(wanted_item.key == item(place), "iris_classifier_25", f"an image for {wanted_item.key}", item(place))
        if image is not None:
            known = {**plan.labels(place), plan.config: name, "adversarial": plan.adversarial(place)}
            yield {**empty, **_synthetic(wanted_item, image, job), **known}


def _real(chosen: Chosen, job: Job) -> dict[str, Any]:
    face = json.loads(chosen.data)
    data = read(job.need(face["source"]) / face["file"], face["sha256"])
    return {
        "id": chosen.key,
        "image": {"bytes": data, "path": chosen.key.replace("/", "-")},
        **{name: face[name] or None for name in LABELS},
        "origin": face["source"],
        "source_file": face["file"],
        "source_sha256": face["sha256"],
    }


def _synthetic(item: Wanted, image: Image, job: Job) -> dict[str, Any]:
    from PIL.Image import Resampling

    scaled = image if image.size == (SIZE, SIZE) else image.resize((SIZE, SIZE), Resampling.LANCZOS)
    return {
        "id": item.key,
        "image": {"bytes": jpeg(scaled), "path": f"{item.key.replace('/', '-')}.jpg"},
        "origin": "synthetic",
        "prompt": item.prompt,
        "generator": job.tools.generator.name if job.tools.generator else None,
        "seed": image.info["seed"],
    }


def _verdicts(
    job: Job, plan: Plan, places: Mapping[str, Place], images: Sequence[Image], items: Sequence[Wanted]
) -> list[Verdict]:
    """Whether each image shows one face with the labels of its place, as far as an adversarial one can."""
    if job.tools.labeller is None:
        raise BuildError("TOOL_MISSING", items[0].key, "no labeller", "a model that checks it", "--tool labeller=ares")
    verdicts = []
    for wanted, labels in zip(items, job.tools.labeller.label(images), strict=True):
        place = places[wanted.key]
        known = plan.labels(place)
        labelled = {name: getattr(labels, name) for name in known}
        lenient = plan.adversarial(place)
        other = [name for name, label in labelled.items() if label != known[name] and (label or not lenient)]
        reason = "" if lenient and labels.reason != "several faces" else labels.reason
        reason = reason or (f"other {other[0].replace('_', ' ')} than asked" if other else "")
        verdicts.append(Verdict(reason, labelled) if reason else Verdict())
    return verdicts
