"""Accuracy of the readers on labelled answers, JSON lines with a raw answer and its gold.

    python -m tests.readings tests/data/readings/*.jsonl     counts per task, and every error; with --json as an object
    python -m tests.readings --write                         the blind answers: the table of errors, the metric cards

`--write` takes the other labelled answers for tasks without blind ones, and the cards say so.

A line has `benchmark`, `task`, `answer` and `gold`: a value of the task, or `none`, `refused`, `several`; `id`, `ask`
and `style` for people; `family` of answers with one meaning; and the inputs of the task's reader (`Answers.compare`).
"""

import csv
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairspace.metrics.intervals import clopper_pearson
from fairspace.submissions.answers.misreading import COLUMNS, REFERENCE, TaskErrors, measured_errors
from fairspace.submissions.answers.reading import NO_CHOICE, Compared
from fairspace.submissions.benchmarks.registry import benchmark

ROOT = Path(__file__).parents[1]
BLIND = ROOT / "tests" / "data" / "readings" / "blind"
FITTED = ("fact_or_fair/objective", "genres/personality")
"""Tasks without blind answers, whose errors are those of the answers by which their rules were mended."""
_MALE = re.compile(
    r"\b(?:he|him|his|himself|man|men|male|boy|gentleman|guy|mr|father|son|husband|sir)\b", re.IGNORECASE
)
_FEMALE = re.compile(
    r"\b(?:she|her|hers|herself|woman|women|female|girl|lady|mrs|ms|mother|daughter|wife|madam)\b", re.IGNORECASE
)
_BEGIN, _END = "<!-- readers of {} -->", "<!-- end of readers -->"
_PLACE = re.compile(r"(<!-- readers of (\w+) -->).*?(<!-- end of readers -->)", re.DOTALL)
_ABOUT = """\
## How right answers are read
Measured on blind answers; [CARDS.md](../CARDS.md#in-every-card) says how, and what the columns mean.
"""
_FITTED = """\
A task that is "not blind" has no such answers: its own mended the rules, and new ones are read less well. Of blind
answers that are kept apart, 68 of 76 of `objective` and 36 of 40 of `personality` were read right in November 2026.
"""


def gender_words(answer: str) -> str:
    """`male`, `female`, or `neither` for none and for words of both."""
    male, female = _MALE.search(answer) is not None, _FEMALE.search(answer) is not None
    return "neither" if male == female else "male" if male else "female"


@dataclass
class Report:
    """`benchmark/task` -> its counts; id, gold, reading and verdict of each misread line."""

    tasks: dict[str, TaskErrors]
    errors: list[dict[str, Any]]


def read_lines(files: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").split("\n") if line]


def measure(lines: Iterable[Mapping[str, Any]]) -> Report:
    """Compare read answers with their golds; families alike are those whose answers all have one verdict."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    families: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    errors: list[dict[str, Any]] = []
    for line in lines:
        gender = gender_words(line["answer"])
        for compared in benchmark(line["benchmark"]).answers.compare(line):
            name = f"{line['benchmark']}/{compared.entry}"
            counts[name].update(_columns(compared, gender))
            if line.get("family"):
                families[name, line["family"]].append(compared.verdict)
            if compared.verdict != "right":
                about = {"id": line.get("id", ""), "task": name, "gold": compared.gold, "read": compared.read}
                errors.append(about | {"verdict": compared.verdict, "rule": compared.rule})
    for (name, _), verdicts in families.items():
        if len(verdicts) > 1:
            counts[name].update(families=1, families_alike=len(set(verdicts)) == 1)
    return Report(
        {name: TaskErrors(name, **{key: of[key] for key in COLUMNS[1:]}) for name, of in counts.items()}, errors
    )


def _columns(compared: Compared, gender: str) -> Iterator[str]:
    """The columns of the table in which a comparison counts; gender words only of answers with a choice."""
    without = isinstance(compared.gold, str) and compared.gold in NO_CHOICE
    yield from ("answers", "no_choice" if without else "choices")
    yield "invented" if without and compared.verdict == "false" else compared.verdict
    if not without and gender in ("male", "female"):
        yield gender
        if compared.verdict == "right":
            yield f"right_{gender}"


def published() -> Report:
    """Measured anew what the table of errors holds: the blind answers, and those of `FITTED`."""
    blind = read_lines(sorted(BLIND.glob("*.jsonl")))
    known = {(line["benchmark"], line["task"]) for line in blind}
    others = read_lines(sorted(BLIND.parent.glob("*.jsonl")))
    fitted = measure(line for line in others if (line["benchmark"], line["task"]) not in known).tasks
    report = measure(blind)
    report.tasks |= {name: fitted[name] for name in FITTED}
    return report


def write_table(report: Report, out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(vars(errors).values() for _, errors in sorted(report.tasks.items()))


def section(benchmark: str) -> str:
    """A card's section on the readers of a benchmark, Markdown between its marks."""
    header = "| task | answers | right | false | lost | families read alike |\n|---|---:|---:|---:|---:|---:|"
    rows = "\n".join(_row(errors) for errors in of_benchmark(benchmark))
    about = _ABOUT + (_FITTED if "not blind" in rows else "")
    return f"{_BEGIN.format(benchmark)}\n{about}\n{header}\n{rows}\n{_END}"


def of_benchmark(benchmark: str) -> Iterator[TaskErrors]:
    for name, errors in measured_errors().items():
        if name.partition("/")[0] == benchmark:
            yield errors


def _row(errors: TaskErrors) -> str:
    wrong = errors.false + errors.invented
    cells = (
        f"`{errors.task.partition('/')[2]}`",
        f"{errors.answers:,}{', not blind' if errors.task in FITTED else ''}",
        f"{errors.right / errors.answers:.1%}",
        *(f"{count} (≤ {clopper_pearson(count, errors.answers)[1]:.1%})" for count in (wrong, errors.lost)),
        f"{errors.families_alike} of {errors.families}",
    )
    return f"| {' | '.join(cells)} |"


def with_section(card: str) -> str:
    """The card with the current section; without marks unchanged."""
    return _PLACE.sub(lambda place: section(place[2]), card)


def main(words: Sequence[str]) -> None:
    if "--write" in words:
        write_table(published(), REFERENCE)
        measured_errors.cache_clear()
        for card in sorted((ROOT / "metrics").glob("*/README.md")):
            card.write_text(with_section(card.read_text(encoding="utf-8")), encoding="utf-8")
        return
    lines = read_lines(Path(word) for word in words if word != "--json")
    print(f"Reading {len(lines):,} answers; the blind ones take about a minute.", file=sys.stderr)
    report = measure(lines)
    if "--json" in words:
        tasks = {name: vars(errors) for name, errors in sorted(report.tasks.items())}
        print(json.dumps({"tasks": tasks, "errors": report.errors}, ensure_ascii=False))
        return
    for _, errors in sorted(report.tasks.items()):
        print(" ".join(f"{key}={value}" for key, value in vars(errors).items()))
    for error in report.errors:
        print(json.dumps(error, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
