"""Words around an answer that change nothing of what it says leave its reading as it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.readings import read_lines
from tests.submissions.answers.wrappings import FILES, count

STRIDE, CLOSER = 31, 5
"""Every 31st answer of each file in the fast tier, every fifth of all in the full one."""
LEAST, FALSE = 0.97, 0.001


def hold(lines: list[dict[str, Any]]) -> None:
    answers, changed, false = Counter[str](), Counter[str](), Counter[str]()
    for (task, _), (n, otherwise, wrong) in count(lines).items():
        answers[task] += n
        changed[task] += otherwise
        false[task] += wrong
    assert answers
    assert {task: changed[task] for task, n in answers.items() if changed[task] > (1 - LEAST) * n} == {}
    assert {task: false[task] for task, n in answers.items() if false[task] > FALSE * n} == {}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_words_around_an_answer_leave_its_reading_as_it_is(file: Path) -> None:
    hold([line for place, line in enumerate(read_lines([file])) if not place % STRIDE])


@pytest.mark.slow
def test_words_around_every_fifth_labelled_answer_leave_its_reading_as_it_is() -> None:
    hold(read_lines(FILES)[::CLOSER])
