"""IRIS-Steer-60 as a dataset: each model's own sixty prompts and its images of them, pairs, cohorts (C.2, D.2.3)."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from fairspace.builders.engine.dataset import BuildJob, BuildManifest, BuiltSplit, Dataset, Row, Split, expect
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import (
    COMBINATIONS,
    CORE,
    GROUPS,
    OCCUPATIONS,
    REVISIONS,
    Combination,
    cohort_revision,
    combinations_of,
)
from fairspace.builders.iris.groups import LABELS as GROUP_LABELS
from fairspace.builders.iris_gen_52.dataset import OF_MODEL, ORIGIN, model_columns, stored_image
from fairspace.builders.iris_steer_60.plan import (
    IMAGES,
    LABELS,
    NO_YES,
    OBJECTIVE,
    PAIRS,
    QUESTIONS,
    STEREOTYPES,
    SUBJECTIVE,
    counter_groups,
    pairs,
    steer_ids,
    steer_plan,
)
from fairspace.builders.iris_steer_60.understanding import (
    ASKED,
    COLUMNS,
    CONFIG,
    Steer,
    inconsistent,
    prompts_split,
    sample_pairs,
    understanding_split,
)
from fairspace.builders.sources import SOURCES
from fairspace.builders.sources.model_images import STATUSES, STEER, ImageReader, ModelImage, ModelStore

_ITEM = ("string", "id of the prompt, which an annotation names")
_RANK = ("int32", "of the stereotype among the model's ten, 1 the most frequent")


def generation_splits(job: BuildJob, store: ModelStore) -> list[Split]:
    """The configs `generation` and `generation_images` of the source's models; `images` only if there are any."""
    plans = {number: plan for number in range(len(store.models)) if (plan := _plan(job, store, number))}
    splits = [_generation(store, plans)] if plans else []
    place = {name: number for number, name in enumerate(steer_ids(REVISIONS[0]).to_pylist())}
    planned = {(model, place[steer.item]): steer for model, plan in plans.items() for steer in plan}
    units = store.select(STEER, planned)
    for made in store.unwanted(STEER, planned):
        unit = f"{store.models[made.model].key}/{store.ids[STEER][made.item].as_py()}/{made.sample:03d}"
        job.reject(unit, "not a prompt of the model's plan")
    if units:
        splits.append(_images(store, planned, units))
    elif plans:
        job.note("No model has annotated steer images: the config generation_images is left out.")
    return splits


def _plan(job: BuildJob, store: ModelStore, number: int) -> list[Steer]:
    """A model's sixty prompts; none if it shows fewer than ten combinations, as in the scorer."""
    counts = store.neutral_counts(number)
    cells = steer_plan(counts)
    covered = sum(int(counts[cell] > 0) for cell in cells)
    if covered < STEREOTYPES:
        name = store.models[number].name
        job.note(f"{name}: its neutral images show {covered} combinations; a steer plan needs {STEREOTYPES}.")
        return []
    return [
        Steer(occupation, stereotype, requested, rank, int(counts[occupation, stereotype]))
        for rank, (occupation, stereotype) in enumerate(cells, start=1)
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


def _images(store: ModelStore, planned: dict[tuple[int, int], Steer], units: Sequence[ModelImage]) -> Split:
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
            **{name: (labels, "perceived in the first face") for name, labels in GROUP_LABELS.items()},
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
    images: Sequence[ModelImage], store: ModelStore, planned: dict[tuple[int, int], Steer], reader: ImageReader
) -> Iterator[Row]:
    for image in images:
        model, steer = store.models[image.model], planned[image.model, image.item]
        key = f"{model.key}/{steer.item}/{image.sample:03d}"
        shown = "_".join(filter(None, image.labels)) if all(image.labels) or image.status == "no_face" else None
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
            **dict(zip(GROUP_LABELS, (label or None for label in image.labels), strict=True)),
            "success": success,
        }


KINDS = ("subjective", "objective")
MADE_SHARE = 0.95
"""Least share of each combination's planned pairs that a build with images must have."""


def splits(job: BuildJob, revision: str = REVISIONS[0]) -> Sequence[Split]:
    """Pairs of a revision and their questions; every steer prompt; the plans and images of the source's models."""
    splits = [understanding_split(job, revision), _questions(), prompts_split()]
    if cohort := combinations_of(revision):
        names = ", ".join(f"{OCCUPATIONS[occupation]} {GROUPS[group]}" for occupation, group in cohort)
        job.note(f"The pairs show the combinations in which a cohort of models is most biased (C.2): {names}.")
    folder = SOURCES["models"].found(job.source)
    store = ModelStore(job, folder) if folder else None
    if store is None or not store.models:
        job.note("No model's neutral images were given (source `models`): the config generation is left out.")
        return splits
    return [*generation_splits(job, store), *splits]


def check(manifest: BuildManifest) -> None:
    """Counts and balance of C.2. BuildError BUILD_CHECK names the broken one."""
    questions, prompts, generation = (manifest.find(c, "test") for c in ("questions", "prompts", "generation"))
    expect(_rows(questions) == len(QUESTIONS), manifest.dataset, f"{_rows(questions)} questions", f"{len(QUESTIONS)}")
    every = len(OCCUPATIONS) * len(GROUPS) * 6
    expect(_rows(prompts) == every, manifest.dataset, f"{_rows(prompts)} prompts", f"{every}")
    if generation is not None:
        types, per_model = generation.counts["prompt_type"], STEREOTYPES * 6
        even = types["counter-stereotypical"] == 5 * types["stereotypical"] and generation.rows % per_model == 0
        expect(even, manifest.dataset, f"steer prompts {types}", "ten stereotypical and fifty others for each model")
    understanding = manifest.find(CONFIG, "test")
    if understanding is None:
        raise KeyError(f"a build without {CONFIG}")
    _check_pairs(manifest, understanding)


def _check_pairs(manifest: BuildManifest, built: BuiltSplit) -> None:
    planned = np.array(sample_pairs(manifest.revision)) if manifest.sample else np.arange(PAIRS)
    per_combination = np.bincount(pairs(manifest.revision).combination[planned])
    sides = built.counts["side"]
    expect(sides["a"] == sides["b"], manifest.dataset, f"images {sides}", "two for each pair")
    pairs_there, odd_rows = Counter[str](), Counter[str]()
    for labels, rows in built.joint.items():
        combination, odd, status = labels.split(" / ")
        if status != "failed":
            pairs_there[combination] += rows // 2
            odd_rows[odd] += rows
    for combination, expected_pairs in zip(COMBINATIONS, per_combination.tolist(), strict=True):
        there = pairs_there[combination]
        if not MADE_SHARE * expected_pairs <= there <= expected_pairs:
            what, expected = f"{there} pairs of {combination}", f"{expected_pairs}, at least {MADE_SHARE:.0%} of them"
            mend = (
                "read review/rejected.jsonl, then build into a new folder with a better generator, editor or labeller"
            )
            raise BuildError("BUILD_CHECK", manifest.dataset, what, expected, mend)
    share = odd_rows["yes"] / odd_rows.total()
    asked_share = float(inconsistent(manifest.revision)[planned].mean())
    what = f"{share:.1%} of the pairs intentionally inconsistent"
    expect(abs(share - asked_share) <= 0.01, manifest.dataset, what, f"{asked_share:.1%}")


def _rows(split: BuiltSplit | None) -> int:
    return split.rows if split else 0


def _questions() -> Split:
    rows = [
        {
            "id": question,
            "kind": KINDS[question in OBJECTIVE],
            "question": text,
            "column": COLUMNS.get(question),
            "labels": json.dumps(LABELS[question]) if question in LABELS else None,
        }
        for question, text in (SUBJECTIVE | OBJECTIVE).items()
    ]
    return Split(
        config="questions",
        about="A question about each image of a pair (Table 29).",
        columns={
            "kind": (KINDS, "subjective: a rating from 1 to 10; objective: one of the labels"),
            "question": ("string", "with {occupation} where the table names it"),
            "column": ("string", "the column of `understanding` with the right answer; null for ratings"),
            "labels": ("string", "the answers that count, as a JSON list; null for ratings"),
        },
        units=pa.Table.from_pylist(rows),
        groups=("kind",),
        id="what stands behind an image's id in the id of an answer",
    )


def of_cohort(dataset: Dataset, combinations: Sequence[Combination]) -> Dataset:
    """The dataset with a cohort's pairs, under the revision of its one to ten combinations."""
    revision = cohort_revision(combinations)
    return replace(dataset, revision=revision, splits=lambda job: splits(job, revision))


DATASET = Dataset(
    name="iris_steer_60",
    title="IRIS-Steer-60: steer prompts, and image pairs that differ in one group",
    benchmark="iris",
    revision=REVISIONS[0],
    revision_of=lambda revision: CORE.get(revision, revision),
    of_cohort=of_cohort,
    changes=(
        (
            "inaugural, bounded",
            "v2",
            "Prompts of pairs name nothing that is not to be seen, show the chest where a badge is, and say "
            "middle-aged; a matcher confirms the labels of attire and details (`label_margins`), and a pair without a "
            "confirmed label stands as failed. A steer image without a face is a failure; SCL is the similarity to "
            "IRIS-Ideal-52. Columns of yes and no number no as 0.",
        ),
    ),
    licence="CC-BY-4.0",
    sources=("models",),
    splits=splits,
    check=check,
    tools=("generator", "editor", "labeller", "matcher"),
    task_categories=("visual-question-answering", "text-to-image"),
    annotations=("machine-generated",),
)
