"""IRIS-Gen-52 as a dataset: prompts, models' images of them (C.3, D.2.1), official labour statistics (C.5).

Counts are the scorer's: an image counts for a group if its first face has all three labels; others are counted by the
reason why not, and absent images as `missing`.
"""

import csv
from collections.abc import Iterator, Sequence

import pyarrow as pa

from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Columns, Dataset, Row, Split, expect
from fairspace.builders.iris.groups import (
    AGES,
    GENDERS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    SKIN_TONES,
    Region,
    base_revision,
    shares,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.registry import published_split
from fairspace.builders.sources import SOURCES, model_images


def labour_split() -> Split:
    """Every share of every region, with its figure."""
    return Split(
        config="labour",
        about="The share of a group among those who work in an occupation, by official statistics.",
        columns={
            "region": (
                [region.code for region in REGIONS],
                "whose statistics: `US` (Current Population Survey), `EU` (Labour Force Survey)",
            ),
            "occupation": (OCCUPATIONS, "one of the 52 of Table 20"),
            "attribute": (list(GROUP_NAMES), "gender, age or skin tone; skin tone is a proxy from race and ethnicity"),
            "group": (
                [group for groups in GROUP_NAMES.values() for group in groups],
                "female, male; young, middle-aged, older; light, middle, dark",
            ),
            "percent": ("float64", "as the source gives it"),
            "share": ("float64", "in [0, 1]; the groups of an attribute sum to 1"),
            "official": ("string", "category of the statistics that stands for the occupation"),
            "source": ("string", "who published the figures"),
            "year": ("string", "of the figures"),
        },
        units=[row for region in REGIONS for row in _rows(region)],
        shard=10_000,
        groups=("region", "attribute"),
    )


def _rows(region: Region) -> Iterator[Row]:
    with region.file.open(encoding="utf-8", newline="") as lines:
        official = list(csv.DictReader(lines))
    for attribute, table in shares(region).items():
        for row in official:
            for place, group in enumerate(GROUP_NAMES[attribute]):
                yield {
                    "id": f"labour/{region.code}/{row['occupation']}/{group}",
                    "region": region.code,
                    "occupation": row["occupation"],
                    "official": row["official"],
                    "attribute": attribute,
                    "group": group,
                    "percent": float(row[group]),
                    "share": float(table[OCCUPATIONS.index(row["occupation"]), place]),
                    "source": region.source,
                    "year": region.year,
                }


PERCEIVED: Columns = {
    "gender": (GENDERS, "perceived gender presentation"),
    "age": (AGES, "perceived age: young 0-39, middle-aged 40-64, older from 65"),
    "skin_tone": (SKIN_TONES, "perceived skin tone: light Monk 1-3, middle 4-7, dark 8-10"),
}
OF_MODEL: Columns = {
    "model": ("string", "name of the model"),
    "revision": ("string", "of the model"),
    "licence": ("string", "of the model's images, as its submission states it"),
    "labeller": ("string", "what labelled them, with its version"),
}
ORIGIN = (("models", "synthetic"), "models: made by the model of the row")


def images_split(store: model_images.ModelStore) -> Split:
    """The config `images`: one row per annotated image, also without a usable label."""
    every = {(model, item) for model in range(len(store.models)) for item in range(len(OCCUPATIONS))}
    reader = model_images.ImageReader()
    return Split(
        config="images",
        about="An image that a model made of a neutral prompt, with the labels of its first face.",
        columns={
            "image": ("image", "null if it was not handed in"),
            "origin": ORIGIN,
            "item": ("string", "id of the prompt"),
            "sample": ("int32", "which image of the prompt, from 0"),
            **OF_MODEL,
            "occupation": (OCCUPATIONS, "that the prompt names"),
            "prompt": ("string", "what the model was asked"),
            "status": (model_images.STATUSES, "ok, or why there is no label"),
            **PERCEIVED,
            "faces": ("int32", "annotated faces; the labels are those of the first"),
        },
        units=store.select(model_images.NEUTRAL, every),
        rows=lambda part: image_rows(part, store, reader),
        groups=("gender", "age", "skin_tone"),
    )


def image_rows(
    images: Sequence[model_images.ModelImage], store: model_images.ModelStore, reader: model_images.ImageReader
) -> Iterator[Row]:
    """The rows of the config `images`."""
    for image in images:
        model, occupation = store.models[image.model], OCCUPATIONS[image.item]
        item = store.ids[model_images.NEUTRAL][image.item].as_py()
        yield {
            "id": f"{model.key}/{item}/{image.sample:03d}",
            "image": stored_image(image, f"{model.key}-{occupation}-{image.sample:03d}", reader),
            "origin": "models",
            "item": item,
            "sample": image.sample,
            **model_columns(model),
            "occupation": occupation,
            "prompt": iris_gen_52.prompt(occupation),
            "status": image.status,
            "gender": image.gender or None,
            "age": image.age or None,
            "skin_tone": image.skin_tone or None,
            "faces": image.faces,
        }


def model_columns(model: model_images.PictureModel) -> dict[str, str]:
    """The columns that describe an image's model."""
    return {
        "model": model.name,
        "revision": model.revision,
        "licence": model.licence,
        "labeller": model.labeller,
    }


def stored_image(
    image: model_images.ModelImage, name: str, reader: model_images.ImageReader
) -> dict[str, bytes | str] | None:
    """The image as a cell of an Image column; None if it is absent, or unreadable as its status says."""
    if image.image is None or image.status in model_images.IMAGELESS:
        return None
    data, suffix = reader.read(image.image)
    return {"bytes": data, "path": f"{name}.{suffix}"}


MISSING = "missing"
_COUNTED = (*model_images.STATUSES, MISSING)


def splits(job: BuildJob) -> Sequence[Split]:
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
    store = model_images.ModelStore(job, folder) if folder else None
    if store is None or not store.models:
        job.note("No model's images were given (source `models`): the configs counts and images are left out.")
    else:
        splits += [_counts(store), images_split(store)]
    return [*splits, labour_split(), published_split("iris")]


def check(manifest: BuildManifest) -> None:
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


def _counts(store: model_images.ModelStore) -> Split:
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


def _count_rows(store: model_images.ModelStore) -> Iterator[Row]:
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
    licence="CC-BY-4.0",
    sources=("models",),
    splits=splits,
    check=check,
    task_categories=("text-to-image",),
    annotations=("machine-generated",),
)
