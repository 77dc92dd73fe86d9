"""A second level that a test can run: slower than the experts, and better than their vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from fairspace.ares.training.data import label_index
from fairspace.builders.drawn.swatches import measure


class Thorough:
    """Reads the strips of a swatch; no answer where one of the task's is missing.

    It stands where a vision-language model would, which sees what the experts do not.
    """

    name = "thorough"

    def answer(self, images: Sequence[Image.Image], task: Mapping[str, Any]) -> list[str | None]:
        """The label that the strips show."""
        answers: list[str | None] = []
        for people in map(measure, images):
            shown = tuple(getattr(people[0], name) for name in task["attributes"]) if len(people) == 1 else ()
            label = label_index(task).get(shown)
            answers.append(None if label is None else task["labels"][label])
        return answers
