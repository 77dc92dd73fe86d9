"""How right the readers are on labelled answers: right, false and lost readings, and families that are read alike."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fairspace.submissions.answers.reading import Reading

Line = Mapping[str, Any]
Verdict = Literal["right", "false", "lost"]
NO_CHOICE = ("none", "refused", "several", "missing")
"""Gold readings of an answer that makes no choice; a reader that reads no choice is right for each of them."""
_MALE = re.compile(
    r"\b(?:he|him|his|himself|man|men|male|boy|gentleman|guy|mr|father|son|husband|sir)\b", re.IGNORECASE
)
_FEMALE = re.compile(
    r"\b(?:she|her|hers|herself|woman|women|female|girl|lady|mrs|ms|mother|daughter|wife|madam)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Compared:
    """A reading beside its gold.

    Args:
        entry: under which name it is counted: the task, or the part of a judge's answer.
        gold: what a careful person reads; a choice, or one of `NO_CHOICE`.
        read: what the reader reads, in the same form.
        verdict: `right`; `false`: read as a choice that it is not; `lost`: the gold is a choice and nothing was read.
        rule: the rule that read it.
    """

    entry: str
    gold: Any
    read: Any
    verdict: Verdict
    rule: str = ""


def compare(entry: str, gold: Any, reading: Reading) -> Compared:
    """Hold one reading against its gold."""
    read = reading.value if reading.outcome == "choice" else reading.outcome.replace("unusable", "none")
    chosen, choice = reading.outcome == "choice", gold not in NO_CHOICE
    right = read == gold if choice or chosen else True
    return Compared(entry, gold, read, "right" if right else ("false" if chosen else "lost"), reading.rule)


@dataclass
class Tally:
    """The counts of one task, or of a part of it."""

    n: int = 0
    right: int = 0
    false: int = 0
    lost: int = 0
    readable: int = 0
    right_male: int = 0
    n_male: int = 0
    right_female: int = 0
    n_female: int = 0
    families: int = 0
    families_alike: int = 0

    def add(self, compared: Compared, answer: str) -> None:
        """Count a comparison. Gender words are counted of readable answers that use those of one gender alone."""
        self.n += 1
        setattr(self, compared.verdict, getattr(self, compared.verdict) + 1)
        if isinstance(compared.gold, str) and compared.gold in NO_CHOICE:
            return
        self.readable += 1
        male, female = _MALE.search(answer) is not None, _FEMALE.search(answer) is not None
        if male != female:
            name = "male" if male else "female"
            setattr(self, f"n_{name}", getattr(self, f"n_{name}") + 1)
            setattr(self, f"right_{name}", getattr(self, f"right_{name}") + (compared.verdict == "right"))


@dataclass
class Report:
    """What a measurement found.

    Args:
        tasks: `benchmark/task` -> its counts; of GENRES' judge the parts of an answer.
        errors: id, gold and reading of each line that is not read right.
        styles: `benchmark/task` -> manner of writing -> counts.
    """

    tasks: dict[str, Tally] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    styles: dict[str, dict[str, Tally]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The report as `fairspace readings --json` prints it."""
        tasks = {name: vars(tally) for name, tally in sorted(self.tasks.items())}
        styles = {
            name: {style: vars(tally) for style, tally in sorted(by_style.items())}
            for name, by_style in sorted(self.styles.items())
        }
        return {"tasks": tasks, "errors": self.errors, "styles": styles}


def measure(lines: Iterable[Line]) -> Report:
    """Read labelled answers and hold the readings against their golds.

    Args:
        lines: see `read_lines`. `benchmark`, `task`, `answer` and `gold` must be there; further keys are what the
            task's reader needs.

    Errors: KeyError for a benchmark or a task that is not known.
    """
    from fairspace.submissions.benchmarks.registry import benchmark

    report = Report()
    families: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for line in lines:
        for compared in benchmark(line["benchmark"]).compare_reading(line):
            name = f"{line['benchmark']}/{compared.entry}"
            report.tasks.setdefault(name, Tally()).add(compared, line["answer"])
            styles = report.styles.setdefault(name, {})
            styles.setdefault(str(line.get("style", "")), Tally()).add(compared, line["answer"])
            if compared.verdict != "right":
                wrong = {"id": line.get("id", ""), "task": name, "gold": compared.gold, "read": compared.read}
                report.errors.append(wrong | {"verdict": compared.verdict, "rule": compared.rule})
            if line.get("family"):
                families[name, line["family"]].append(compared.verdict == "right")
    for (name, _), verdicts in families.items():
        if len(verdicts) > 1:
            report.tasks[name].families += 1
            report.tasks[name].families_alike += len(set(verdicts)) == 1
    return report


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of labelled answers, one JSON object a line; empty lines are skipped."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
