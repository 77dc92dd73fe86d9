"""When an edited image is accepted, at the thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from fairspace.builders.engine.tools import Labels
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris_steer_60.pairs import SIMILARITY, _attire, _edit
from fairspace.builders.iris_steer_60.plan import pairs

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
