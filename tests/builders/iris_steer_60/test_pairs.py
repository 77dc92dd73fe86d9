from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.making import Verdict, Wanted, jpeg
from fairspace.builders.engine.tools import Labels
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris_steer_60.plan import LABELS, pairs
from fairspace.builders.iris_steer_60.understanding import (
    STATEMENTS,
    _check,
    base_prompt,
    label_margins,
    planned_labels,
)


class Sees:
    """A matcher whose similarity to a text is the number of one of its words, else 0.2."""

    name = "words"

    def __init__(self, alike: float = 1.0, **closeness: float) -> None:
        self.alike, self.closeness = alike, closeness

    def label(self, images: Sequence[Image]) -> list[Labels]:
        return [Labels(*GROUPS[pairs().groups[0, 1]].split("_"))] * len(images)

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        return [
            max((near for word, near in self.closeness.items() if word in text.split()), default=0.2) for text in texts
        ]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        return [self.alike] * len(first)


@pytest.mark.parametrize(("similarity", "alike"), [(0.75, True), (np.nextafter(0.75, 0), False)])
def test_the_least_similarity_itself_suffices(similarity: float, alike: bool) -> None:
    image = Images.new("RGB", (8, 8))
    sees = Sees(alike=similarity)
    [verdict] = _check(sees, sees, 1, 0.75, "v2")([image], [Wanted("pair/0000/b", "", jpeg(image))])
    assert isinstance(verdict, Verdict)
    assert (verdict.reason != "images are not alike") == alike
    assert verdict.evidence["similarity"] == similarity


PLANNED = {"d": "red", "e": "no", "f": "smiling", "g": "yes", "h": "no"}
DRAWN = Images.new("RGB", (8, 8))


def test_a_margin_says_how_much_closer_the_planned_label_is_than_any_other() -> None:
    """Red is closest of the ten colours by .05, the second; bare eyes and no beard are as close as anything: 0.2."""
    sees = Sees(red=0.3, blue=0.25, glasses=0.3, smiling=0.3, serious=0.305, badge=0.4)
    (margins,) = label_margins(sees, [DRAWN], [PLANNED])
    assert margins == pytest.approx({"d": 0.05, "e": -0.1, "f": -0.005, "g": 0.2, "h": 0.0})
    assert label_margins(sees, [], []) == []


def test_no_prompt_and_no_statement_names_what_is_not_to_be_seen() -> None:
    texts = [base_prompt(number) for number in range(0, len(pairs().groups), 7)]
    texts += [text for statements in STATEMENTS.values() for text in statements.values()]
    for text in texts:
        assert not {"without", "no", "not"} & set(text.replace(",", "").split())
    assert {*STATEMENTS, "a", "b", "c"} == set(LABELS)
    assert all(set(STATEMENTS[question]) == set(LABELS[question]) for question in STATEMENTS)


def test_a_prompt_names_the_age_and_shows_the_chest_where_a_badge_is() -> None:
    for number in range(0, len(pairs().groups), 7):
        prompt, labels = base_prompt(number), planned_labels(number, 0)
        assert {"young": "a young ", "middle": "a middle-aged ", "older": "an older "}[labels["b"]] in prompt
        assert "middle middle" not in prompt
        assert prompt.startswith("a photo of the face and chest of ")
        assert ("badge on the chest" in prompt) == (labels["g"] == "yes")
