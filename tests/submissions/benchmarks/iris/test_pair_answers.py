"""What answers about counterfactual pairs and tournament rounds say: ratings, labels and competitors."""

from __future__ import annotations

import pytest

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import LABELS
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.iris.parse.labels import read_label

FIVE = [OCCUPATIONS.index(name) for name in ("nurse", "waiter", "soccer_player", "judge", "patient")]


def shown(reading: Reading) -> object:
    """The value, else the outcome."""
    return reading.value if reading.outcome == "choice" else reading.outcome


@pytest.mark.parametrize("question", LABELS)
def test_every_label_of_the_plan_is_read(question: str) -> None:
    for label in LABELS[question]:
        for form in ("{}", "{}.", "**{}**", "The answer is ‘{}’.", "Answer: {}", '{{"answer": "{}"}}'):
            assert shown(read_label(form.format(label.title()), question)) == label
