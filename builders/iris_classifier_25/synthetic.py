"""What each synthetic image of IRIS-Classifier-25 shall show, and which ones are adversarial (C.4).

"Approximately 10% of the synthetic data was generated with prompts explicitly requesting incomplete faces": here every
tenth image of a config, exactly. Of each ten in a row it is a later one, so that these images are spread evenly over
classes and over the attributes that are balanced in turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import accumulate

from fairspace.builders.iris.groups import OCCUPATIONS, SKIN_TONES, combination_names
from fairspace.builders.iris_classifier_25.plan import ADVERSARIAL
from fairspace.builders.iris_ideal_52.images import Place, prompt

INCOMPLETE = (
    "half of it outside the picture",
    "mouth and chin covered by a scarf",
    "one side hidden behind a panel",
)
"""What an adversarial prompt adds. C.4 prints no such prompt; these words are ours."""


class Plan:
    """What every place of one config is.

    Args:
        config: of `CLASSES`.
        real: cell -> real faces that enter, in the order of the splits and classes.
        gap: cell -> images to generate.
    """

    def __init__(self, config: str, real: Mapping[str, int], gap: Mapping[str, int]) -> None:
        self.config, self.real, self.gap = config, real, gap
        self.synthetic = sum(gap.values())
        starts = accumulate(gap.values(), initial=0)
        self._before = {cell: start - real[cell] for cell, start in zip(gap, starts, strict=False)}

    def number(self, place: Place) -> int:
        """The place's number among the synthetic ones of the config."""
        return self._before[place.cell] + place.place

    def adversarial(self, place: Place) -> bool:
        """Whether it asks for an incomplete face: one of ten in a row, a later one each time."""
        block, position = divmod(self.number(place), ADVERSARIAL)
        return block < self.synthetic // ADVERSARIAL and position == block % ADVERSARIAL

    def labels(self, place: Place) -> dict[str, str]:
        """Gender, age and skin tone: the class's own, and the others in turn."""
        name, number = place.cell.rpartition("/")[2], self.number(place)
        pairs = combination_names("gender_age")
        group, tone = (
            (name, SKIN_TONES[number % len(SKIN_TONES)])
            if self.config == "age_gender"
            else (pairs[number % len(pairs)], name)
        )
        gender, age = group.split("_")
        return {"gender": gender, "age": age, "skin_tone": tone}

    def prompt(self, place: Place, seed: int) -> str:
        """C.1's prompt, or one for an incomplete face; the occupation is drawn."""
        draw = hashlib.sha256(f"{seed}/prompt/{item(place)}".encode()).digest()
        occupation = OCCUPATIONS[int.from_bytes(draw[:8], "big") % len(OCCUPATIONS)]
        text = prompt(f"{occupation}/{'_'.join(self.labels(place).values())}")
        if not self.adversarial(place):
            return text
        who = text.partition(" the face of ")[2].partition(",")[0]
        way = INCOMPLETE[draw[8] % len(INCOMPLETE)]
        return f"A hyper-realistic close-up photo of the incomplete face of {who}, {way}, sharp details, soft lighting"


def item(place: Place) -> str:
    """The id of a synthetic image."""
    config, split, name = place.cell.split("/")
    return f"{config}/synthetic/{split}/{name}/{place.place:06d}"
