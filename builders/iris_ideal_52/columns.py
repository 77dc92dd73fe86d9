"""The columns of IRIS-Ideal-52's images, and those that name a cell."""

from __future__ import annotations

from fairspace.builders.engine import reviews
from fairspace.builders.engine.dataset import Columns
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, SKIN_TONES

ORIGINS = ("facet", "synthetic")
WINDOW = ("crop_x", "crop_y", "crop_width", "crop_height")
CELL: Columns = {
    "occupation": (OCCUPATIONS, "FACET's primary class, or the prompt's occupation."),
    "gender": (GENDERS, "Perceived gender presentation."),
    "age": (AGES, "Perceived age."),
    "skin_tone": (SKIN_TONES, "Perceived skin tone."),
}
"""The four columns that name a cell."""
COLUMNS: Columns = {
    "image": ("image", "384 x 384 pixels, one person."),
    "question": ("string", "What the model is asked (D.2.4)."),
    **CELL,
    "origin": (ORIGINS, "The source of the image, or synthetic."),
    "source_file": ("string", "The file below FACET's folder; null for synthetic images."),
    "source_sha256": ("string", "Its hash."),
    "person_id": ("string", "FACET's number of the person."),
    "second_occupation": (OCCUPATIONS, "FACET's second class of the person, if there is one."),
    "crop_x": ("int32", "Left edge of the crop in pixels of the upright source image."),
    "crop_y": ("int32", "Upper edge of the crop."),
    "crop_width": ("int32", "Width of the crop before scaling."),
    "crop_height": ("int32", "Height of the crop before scaling."),
    "prompt": ("string", "What the synthetic image was made from (C.1)."),
    "generator": ("string", "The model that made it, with revision and settings."),
    "seed": ("int64", "Its noise seed."),
    "occupation_rank": (
        "int32",
        "Of a synthetic image: the rank of its occupation among the 52 by the matcher, 1 the nearest.",
    ),
    **reviews.COLUMNS,
}


def labels_of(cell: str) -> dict[str, str]:
    """A cell's occupation, gender, age and skin tone."""
    occupation, group = cell.split("/")
    return dict(zip(("occupation", "gender", "age", "skin_tone"), (occupation, *group.split("_")), strict=True))
