"""The readers' error in the metric cards: a table between two marks, from `builders/reference/reading_errors.csv`.

`python -m fairspace.cards.readers` reads the repository's blind answers, writes that file and the tables anew. Answers
by which rules were mended tell how well these fit, and are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fairspace.submissions.answers.error_table import REFERENCE, TaskErrors, measured_errors, write_table
from fairspace.submissions.uncertainty.proportions import clopper_pearson

ROOT = Path(__file__).resolve().parents[1]
BLIND = ROOT / "tests" / "data" / "readings" / "blind"
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
upper end of the 95 % interval (Clopper and Pearson) of the share among all answers. For the error on your own model's
answers: `fairspace readings label`."""


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


def main() -> None:
    """Measure the readers, and write the table of their errors and the cards that show it."""
    from fairspace.submissions.answers.labelled import read_lines
    from fairspace.submissions.answers.measuring import measure

    write_table(measure(read_lines(sorted(BLIND.glob("*.jsonl")))), REFERENCE)
    measured_errors.cache_clear()
    for card in sorted((ROOT / "metrics").glob("*/README.md")):
        text = card.read_text(encoding="utf-8")
        if (written := with_section(text)) != text:
            card.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
