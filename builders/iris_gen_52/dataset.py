"""IRIS-Gen-52 as a dataset: prompts, and what each model of the source made of them (C.3, D.2.1).

Counts are those that the scorer takes: an image counts for a group if its first face has all three labels; all other
images are counted by the reason why they have none, and images that were not handed in as `missing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from fairspace.builders.engine.dataset import Dataset, Job, Manifest, Row, Split, expect
from fairspace.builders.engine.headline import Headline
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris.labour_split import labour_split
from fairspace.builders.iris.revisions import base_revision
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_gen_52.images import OF_MODEL, PERCEIVED, images_split, model_columns
from fairspace.builders.published import published_split
from fairspace.builders.sources import SOURCES
from fairspace.builders.sources.model_images import STATUSES
from fairspace.builders.sources.model_store import ModelStore

MISSING = "missing"
_COUNTED = (*STATUSES, MISSING)


def splits(job: Job) -> Sequence[Split]:
    """Prompts, counts and images of the source's models, labour statistics, published figures."""
    splits = [
        Split(
            config="prompts",
            about="A neutral prompt that names an occupation and nothing else.",
            columns={
                "occupation": (OCCUPATIONS, "one of the 52 of Table 20"),
                "prompt": ("string", "what the model is asked"),
                "images": ("int32", "how many images a model makes of it (D.2.1)"),
            },
            units=iris_gen_52.rows(iris_gen_52.REVISIONS[0]),
        )
    ]
    folder = SOURCES["models"].found(job.source)
    store = ModelStore(job, folder) if folder else None
    if store is None or not store.models:
        job.note("No model's images were given (source `models`): the configs counts and images are left out.")
    else:
        splits += [_counts(store), images_split(store)]
    return [*splits, labour_split(), published_split("iris")]


def check(manifest: Manifest) -> None:
    """52 prompts; 24 counts for each model and occupation; reference figures of both regions. BUILD_CHECK if not."""
    prompts = manifest.find("prompts", "test")
    count = prompts.rows if prompts else 0
    expect(count == len(OCCUPATIONS), manifest.dataset, f"{count} prompts", f"{len(OCCUPATIONS)}")
    counts = manifest.find("counts", "test")
    if counts is not None:
        uneven = set(counts.counts["occupation"].values())
        expect(len(uneven) == 1, manifest.dataset, f"rows per occupation {sorted(uneven)}", "as many for each")
        per_model = len(OCCUPATIONS) * (len(GROUPS) + len(_COUNTED))
        expect(counts.rows % per_model == 0, manifest.dataset, f"{counts.rows} counts", f"{per_model} for each model")
    labour = manifest.find("labour", "test")
    regions = dict(labour.counts["region"]) if labour else {}
    expect(bool(regions) and min(regions.values()) > 0, manifest.dataset, f"labour rows {regions}", "some per region")


def _counts(store: ModelStore) -> Split:
    return Split(
        config="counts",
        about="How many of a model's images of an occupation show a group, or lack a label for a reason.",
        columns={
            **OF_MODEL,
            "occupation": (OCCUPATIONS, "that the prompts name"),
            "status": (_COUNTED, "ok, or why there is no label; missing: not handed in"),
            "group": (GROUPS, "gender, age and skin tone of the first face; null for images without all three labels"),
            **PERCEIVED,
            "images": ("int32", f"of the {iris_gen_52.IMAGES} of the occupation"),
        },
        units=pa.Table.from_pylist(list(_count_rows(store))),
        shard=100_000,
    )


def _count_rows(store: ModelStore) -> Iterator[Row]:
    for number, model in enumerate(store.models):
        counts, unlabelled = store.neutral_counts(number), store.unlabelled(number)
        for place, occupation in enumerate(OCCUPATIONS):
            common = model_columns(model) | {"occupation": occupation}
            without = dict.fromkeys(_COUNTED, 0) | unlabelled[place]
            without[MISSING] = iris_gen_52.IMAGES - int(counts[place].sum()) - sum(without.values())
            for group, images in zip(GROUPS, counts[place].tolist(), strict=True):
                gender, age, skin = group.split("_")
                labels = {"status": "ok", "group": group, "gender": gender, "age": age, "skin_tone": skin}
                yield {"id": f"{model.key}/{occupation}/{group}", **common, **labels, "images": images}
            for status, images in without.items():
                nothing = dict.fromkeys(("group", "gender", "age", "skin_tone"))
                key = {"id": f"{model.key}/{occupation}/{status}", "status": status}
                yield {**key, **common, **nothing, "images": images}


DATASET = Dataset(
    name="iris_gen_52",
    title="IRIS-Gen-52: neutral prompts, and what models make of them",
    benchmark="iris",
    revision=iris_gen_52.REVISIONS[0],
    changes=(
        (
            "inaugural, bounded",
            "v2",
            "As v1.",
        ),
    ),
    revision_of=base_revision,
    headlines=(
        Headline("iris_score", "prompts", "the IRIS score, of the six sectors of all three datasets"),
        Headline("IFS_Gen", "prompts", "ideal fairness: images of neutral prompts show all groups alike"),
        Headline("RFS_Gen", "prompts", "real-world fidelity: images show groups as labour statistics have them"),
    ),
    licence="CC-BY-4.0",
    sources=("models",),
    splits=splits,
    check=check,
    task_categories=("text-to-image",),
)
