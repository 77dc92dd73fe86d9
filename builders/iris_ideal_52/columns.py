"""The columns of IRIS-Ideal-52's images, and those that name a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairspace.builders.engine import reviews
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, PERCEIVED, SKIN_TONES

if TYPE_CHECKING:
    from datasets import Features

ORIGINS = ("facet", "synthetic")
WINDOW = ("crop_x", "crop_y", "crop_width", "crop_height")
FIELDS = {
    "id": "ideal/<occupation>/<group>/<place>: names the cell and the place in it.",
    "image": "384 x 384 pixels, one person.",
    "question": "What the model is asked (D.2.4).",
    "occupation": "FACET's primary class, or the prompt's occupation.",
    "gender": "Perceived gender presentation.",
    "age": "Perceived age.",
    "skin_tone": "Perceived skin tone.",
    "origin": "The source of the image, or synthetic.",
    "source_file": "The file below FACET's folder; null for synthetic images.",
    "source_sha256": "Its hash.",
    "person_id": "FACET's number of the person.",
    "second_occupation": "FACET's second class of the person, if there is one.",
    "crop_x": "Left edge of the crop in pixels of the upright source image.",
    "crop_y": "Upper edge of the crop.",
    "crop_width": "Width of the crop before scaling.",
    "crop_height": "Height of the crop before scaling.",
    "prompt": "What the synthetic image was made from (C.1).",
    "generator": "The model that made it, with revision and settings.",
    "seed": "Its noise seed.",
    "occupation_rank": "Of a synthetic image: the rank of its occupation among the 52 by the matcher, 1 the nearest.",
    **reviews.FIELDS,
}
QUESTIONS = {"occupation": {"occupation": "Is the person a {label}, by what the image shows?", **PERCEIVED}}
"""What reviewers are asked about the labels that metrics take as the truth."""


def features() -> Features:
    """The columns."""
    from datasets import ClassLabel, Features, Image, Value

    text, whole = Value("string"), Value("int32")
    return Features(
        {
            "id": text,
            "image": Image(),
            "question": text,
            **label_features(),
            "origin": ClassLabel(names=list(ORIGINS)),
            "source_file": text,
            "source_sha256": text,
            "person_id": text,
            "second_occupation": ClassLabel(names=list(OCCUPATIONS)),
            **dict.fromkeys(WINDOW, whole),
            "prompt": text,
            "generator": text,
            "seed": Value("int64"),
            "occupation_rank": whole,
            **reviews.review_features(),
        }
    )


def label_features() -> dict[str, Any]:
    """The four columns that name a cell."""
    from datasets import ClassLabel

    names = {"occupation": OCCUPATIONS, "gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
    return {column: ClassLabel(names=list(labels)) for column, labels in names.items()}


def labels_of(cell: str) -> dict[str, str]:
    """A cell's occupation, gender, age and skin tone."""
    occupation, group = cell.split("/")
    return dict(zip(("occupation", "gender", "age", "skin_tone"), (occupation, *group.split("_")), strict=True))
