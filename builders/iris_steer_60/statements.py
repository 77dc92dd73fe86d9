"""Whether an image shows the planned labels that no labeller reads: questions d to h of Table 29, by a matcher.

A matcher compares the image with a statement for each label of a question. The planned label is confirmed if its
statement is the closest; how much closer is its margin. A statement names what is there, never what is not: models
that match texts do not read "without".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fairspace.builders.engine.tools import Matcher
from fairspace.builders.iris_steer_60.plan import COLOURS

if TYPE_CHECKING:
    from PIL.Image import Image

STATEMENTS: Mapping[str, Mapping[str, str]] = {
    "d": {colour: f"a person wearing {colour} clothes" for colour in COLOURS},
    "e": {"yes": "a person wearing glasses", "no": "a person with uncovered eyes"},
    "f": {
        "neutral": "a person with a neutral expression",
        "smiling": "a person smiling",
        "serious": "a person with a serious expression",
    },
    "g": {"yes": "a person with a badge on the chest", "no": "a person in plain clothes"},
    "h": {"yes": "a person with a beard", "no": "a person with a clean-shaven face"},
}
"""Question -> label -> statement. Ours; not calibrated on labelled photographs."""


def label_margins(
    matcher: Matcher, images: Sequence[Image], planned: Sequence[Mapping[str, str]]
) -> list[dict[str, float]]:
    """How much closer the statement of the planned label is than that of any other, by question.

    Args:
        matcher: compares images with texts.
        images: to be compared.
        planned: question -> label, of each image.

    Returns:
        Of each image: question -> difference of cosine similarities, in [-2, 2]; above 0 the label is confirmed.
    """
    margins: list[dict[str, float]] = [{} for _ in images]
    for question, statements in STATEMENTS.items() if images else ():
        closeness = {label: matcher.text_similarity(images, [text] * len(images)) for label, text in statements.items()}
        for place, labels in enumerate(planned):
            others = max(numbers[place] for label, numbers in closeness.items() if label != labels[question])
            margins[place][question] = closeness[labels[question]][place] - others
    return margins
