"""Which planned labels an image shows as far as a matcher can tell: questions d to h of Table 29, which nobody labels.

A matcher compares the image with a statement for each label of a question. The planned label is *confirmed* if its
statement is the closest, and *contradicted* if another's is closer by more than `MARGIN`; between the two nothing is
known. A statement names what is there, never what is not: models that match texts do not read "without".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fairspace.builders.engine.tools import Matcher
from fairspace.builders.iris_steer_60.plan import COLOURS

if TYPE_CHECKING:
    from PIL.Image import Image

MARGIN = 0.01
"""Of cosine similarity. Ours: statements that differ in a word lie about so far apart by CLIP; not calibrated."""
STATEMENTS: Mapping[str, Mapping[str, str]] = {
    "d": {colour: f"a person wearing {colour} clothes" for colour in COLOURS},
    "e": {"yes": "a person wearing glasses", "no": "a person"},
    "f": {
        "neutral": "a person with a neutral expression",
        "smiling": "a person smiling",
        "serious": "a person with a serious expression",
    },
    "g": {"yes": "a person with a badge on the chest", "no": "a person"},
    "h": {"yes": "a person with a beard", "no": "a person"},
}
"""Question -> label -> statement."""


class Matched(NamedTuple):
    """What a matcher says of the planned labels of an image: questions, in the order of `STATEMENTS`."""

    confirmed: tuple[str, ...]
    contradicted: tuple[str, ...]


def match_labels(matcher: Matcher, images: Sequence[Image], planned: Sequence[Mapping[str, str]]) -> list[Matched]:
    """What a matcher says of images.

    Args:
        matcher: compares images with texts.
        images: to be compared.
        planned: question -> label, of each image.
    """
    if not images:
        return []
    confirmed: list[list[str]] = [[] for _ in images]
    contradicted: list[list[str]] = [[] for _ in images]
    for question, statements in STATEMENTS.items():
        closeness = {label: matcher.text_similarity(images, [text] * len(images)) for label, text in statements.items()}
        for place, labels in enumerate(planned):
            planned_label = closeness[labels[question]][place]
            others = max(numbers[place] for label, numbers in closeness.items() if label != labels[question])
            if planned_label > others:
                confirmed[place].append(question)
            elif others - planned_label > MARGIN:
                contradicted[place].append(question)
    return [Matched(tuple(yes), tuple(no)) for yes, no in zip(confirmed, contradicted, strict=True)]
