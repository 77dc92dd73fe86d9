"""The images of IRIS-Gen-52: what models made of the neutral prompts, with the labels of the first face (C.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairspace.builders.engine.dataset import Columns, Row, Split
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.sources.model_image_reader import ImageReader
from fairspace.builders.sources.model_images import IMAGELESS, STATUSES, Model
from fairspace.builders.sources.model_store import NEUTRAL, ModelStore
from fairspace.builders.sources.model_units import Made, MadeUnits

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


def images_split(store: ModelStore) -> Split:
    """The config `images`: one row per annotated image, also where it has no usable label."""
    wanted = ((model, item) for model in range(len(store.models)) for item in range(len(OCCUPATIONS)))
    units: MadeUnits = store.select(NEUTRAL, wanted)
    reader = ImageReader()
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
            "status": (STATUSES, "ok, or why there is no label"),
            **PERCEIVED,
            "faces": ("int32", "annotated faces; the labels are those of the first"),
        },
        units=units,
        rows=lambda part: image_rows(part, store, reader),
        groups=("gender", "age", "skin_tone"),
    )


def image_rows(images: Sequence[Made], store: ModelStore, reader: ImageReader) -> Iterator[Row]:
    """The rows of the config `images`."""
    for image in images:
        model, occupation = store.models[image.model], OCCUPATIONS[image.item]
        item = store.ids[NEUTRAL][image.item].as_py()
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


def model_columns(model: Model) -> dict[str, str]:
    """The columns that say whose images they are."""
    return {
        "model": model.name,
        "revision": model.revision,
        "licence": model.licence,
        "labeller": model.labeller,
    }


def stored_image(image: Made, name: str, reader: ImageReader) -> dict[str, bytes | str] | None:
    """The image as a cell of an Image column; None if it was not handed in, or cannot be read as its status says."""
    if image.image is None or image.status in IMAGELESS:
        return None
    data, suffix = reader.read(image.image)
    return {"bytes": data, "path": f"{name}.{suffix}"}
