"""When an edited image is accepted, at the thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.making import Verdict, Wanted
from fairspace.builders.engine.tools import Labels
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris_steer_60.pairs import LABELLED, SIMILARITY, _attire, _edit, _match
from fairspace.builders.iris_steer_60.plan import LABELS, pairs
from fairspace.builders.iris_steer_60.statements import MARGIN, STATEMENTS, match_labels
from fairspace.builders.iris_steer_60.wording import base_prompt, planned_labels

CHANGED = next(number for number in range(len(pairs().groups)) if _attire(number, 0) != _attire(number, 1))
KEPT = next(number for number in range(len(pairs().groups)) if _attire(number, 0) == _attire(number, 1))


def planned(number: int) -> Labels:
    """What a labeller reads from image b if it is as planned."""
    return Labels(*GROUPS[pairs().groups[number, 1]].split("_"))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [(0.3, 0.31, ""), (0.3, 0.3, "attire has not its new colour"), (0.3, 0.2, "attire has not its new colour")],
)
def test_the_new_colour_must_be_more_likely_than_the_old_one(old: float, new: float, reason: str) -> None:
    verdict = _edit(planned(CHANGED), CHANGED, SIMILARITY, 0.9, old, new)
    assert verdict.reason == reason
    evidence = {"similarity": 0.9} | ({"old_colour": old, "new_colour": new} if reason else {})
    assert verdict.evidence == evidence
    assert _edit(planned(KEPT), KEPT, SIMILARITY, 0.9, old, new).reason == ""


@pytest.mark.parametrize(("similarity", "reason"), [(0.75, ""), (np.nextafter(0.75, 0), "images are not alike")])
def test_the_least_similarity_itself_suffices(similarity: float, reason: str) -> None:
    assert _edit(planned(KEPT), KEPT, 0.75, similarity, 0.3, 0.3).reason == reason


def test_labels_come_before_likeness() -> None:
    assert _edit(Labels(reason="no face"), KEPT, SIMILARITY, 0.0, 0.3, 0.3).reason == "labels are not as planned"


class Sees:
    """A matcher that is as close to a text as it has words of it."""

    name = "words"

    def __init__(self, **closeness: float) -> None:
        self.closeness = {word.replace("_", " "): number for word, number in closeness.items()}

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        return [max((near for word, near in self.closeness.items() if word in text), default=0.2) for text in texts]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        return [1.0] * len(first)


PLANNED = {"d": "red", "e": "no", "f": "smiling", "g": "yes", "h": "no"}
DRAWN = Images.new("RGB", (8, 8))


def test_a_matcher_confirms_contradicts_or_says_nothing_of_a_planned_label() -> None:
    """Red is the closest colour; glasses are closer than none by .1; smiling and serious differ by less than .01."""
    sees = Sees(red=0.3, blue=0.25, glasses=0.3, smiling=0.3, serious=0.305, badge=0.4)
    (matched,) = match_labels(sees, [DRAWN], [PLANNED])
    assert matched == (("d", "g"), ("e",))
    edge = Sees(serious=0.3 + MARGIN / 2, smiling=0.3)
    assert match_labels(edge, [DRAWN], [PLANNED])[0].contradicted == ()
    assert match_labels(sees, [], []) == []


def test_a_contradicted_label_rejects_an_image_that_passed_all_else() -> None:
    number = next(n for n in range(len(pairs().groups)) if planned_labels(n, 0)["e"] == "no")
    wanted = [Wanted(f"pair/{number:04d}/a", "")] * 2
    verdicts = [Verdict(), Verdict("labels are not as planned")]
    glasses, none = (_match(Sees(glasses=near), [DRAWN] * 2, wanted, 0, verdicts)[0] for near in (0.9, 0.1))
    assert (glasses.reason, glasses.evidence) == ("a label is not as planned", {"questions": "e"})
    assert none.reason == ""
    assert "e" in str(none.evidence["matched"])
    assert _match(Sees(glasses=0.9), [DRAWN] * 2, wanted, 0, verdicts)[1] is verdicts[1]


def test_no_prompt_and_no_statement_names_what_is_not_to_be_seen() -> None:
    texts = [base_prompt(number) for number in range(0, len(pairs().groups), 7)]
    texts += [text for statements in STATEMENTS.values() for text in statements.values()]
    for text in texts:
        assert not {"without", "no", "not"} & set(text.replace(",", "").split())
    assert set(STATEMENTS) | set(LABELLED) == set(LABELS)
    assert all(set(STATEMENTS[question]) == set(LABELS[question]) for question in STATEMENTS)
