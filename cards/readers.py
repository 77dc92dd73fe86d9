"""The readers' error in the metric cards: a table between two marks, from `builders/reference/reading_errors.csv`.

`python -m tests.readings --write` reads the repository's blind answers, writes that file and the tables anew. Answers
by which rules were mended tell how well these fit, and are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairspace.submissions.answers.misreading import TaskErrors, measured_errors
from fairspace.submissions.uncertainty.proportions import clopper_pearson

_BEGIN, _END = "<!-- readers of {} -->", "<!-- end of readers -->"
_PLACE = re.compile(r"(<!-- readers of (\w+) -->).*?(<!-- end of readers -->)", re.DOTALL)
_ABOUT = """\
## How right answers are read
Raw answers are read by fixed rules. On the blind answers of the repository (`tests/data/readings/blind/`: written in
the manner of many models, labelled before they were read, by somebody who knew no rule; hard ones are more frequent
than in the field; no rule was mended on them):
"""
_LEGEND = """\
*False*: read as a choice that the answer is not. *Lost*: the answer makes a choice, and none was read. In brackets the
upper end of the 95 % interval (Clopper and Pearson) of the share among all answers."""


def section(benchmark: str) -> str:
    """The section of a card on the readers of a benchmark, Markdown between its marks."""
    header = "| task | answers | right | false | lost | families read alike |\n|---|---:|---:|---:|---:|---:|"
    rows = "\n".join(_row(errors) for errors in of_benchmark(benchmark))
    return f"{_BEGIN.format(benchmark)}\n{_ABOUT}\n{header}\n{rows}\n\n{_LEGEND}\n{_END}"


def of_benchmark(benchmark: str) -> Iterator[TaskErrors]:
    """The measured errors of a benchmark's tasks."""
    for name, errors in measured_errors().items():
        if name.partition("/")[0] == benchmark:
            yield errors


def _row(errors: TaskErrors) -> str:
    wrong = errors.false + errors.invented
    cells = (
        f"`{errors.task.partition('/')[2]}`",
        f"{errors.answers:,}",
        f"{errors.right / errors.answers:.1%}",
        *(f"{count} (≤ {clopper_pearson(count, errors.answers)[1]:.1%})" for count in (wrong, errors.lost)),
        f"{errors.families_alike} of {errors.families}",
    )
    return f"| {' | '.join(cells)} |"


def with_section(card: str) -> str:
    """A card with the section as it should be; a card without the marks as it is."""
    return _PLACE.sub(lambda place: section(place[2]), card)
