"""How right the readers are on labelled answers: right, false and lost readings, and families that are read alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from fairspace.submissions.answers.labelled import NO_CHOICE, Line
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.reading.limits import LIMITS

Verdict = Literal["right", "false", "lost"]
Split = Literal["style", "gender", "family"]
SPLITS: tuple[Split, ...] = get_args(Split)
"""By what the counts of a task can be split: manner of writing, gender words of the answer, family of like answers."""
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
    """The counts of one task, or of a part of it.

    Args:
        n: answers.
        right: read right.
        false: read as a choice that they are not.
        lost: that make a choice, and none was read.
        readable: that make a choice.
        invented: that make none and were read as one; they are among `false`.
        right_male: of `n_male`, read right.
        n_male: that make a choice and use male words alone.
        right_female: of `n_female`, read right.
        n_female: as `n_male`.
        families: of answers that say the same.
        families_alike: of these, with one verdict for all.
    """

    n: int = 0
    right: int = 0
    false: int = 0
    lost: int = 0
    readable: int = 0
    invented: int = 0
    right_male: int = 0
    n_male: int = 0
    right_female: int = 0
    n_female: int = 0
    families: int = 0
    families_alike: int = 0

    def add(self, compared: Compared, gender: str) -> None:
        """Count a comparison. Gender words are counted of readable answers that use those of one gender alone."""
        self.n += 1
        setattr(self, compared.verdict, getattr(self, compared.verdict) + 1)
        if isinstance(compared.gold, str) and compared.gold in NO_CHOICE:
            self.invented += compared.verdict == "false"
            return
        self.readable += 1
        if gender in ("male", "female"):
            setattr(self, f"n_{gender}", getattr(self, f"n_{gender}") + 1)
            setattr(self, f"right_{gender}", getattr(self, f"right_{gender}") + (compared.verdict == "right"))


def gender_words(answer: str) -> str:
    """The gender whose words an answer uses: `male`, `female`, or `neither` for none and for those of both."""
    male, female = _MALE.search(answer) is not None, _FEMALE.search(answer) is not None
    return "neither" if male == female else "male" if male else "female"


@dataclass
class Report:
    """What a measurement shows.

    Args:
        tasks: `benchmark/task` -> its counts; of GENRES' judge the parts of an answer.
        errors: id, gold and reading of each line that is not read right.
        splits: by what -> `benchmark/task` -> style, gender words or family -> counts.
        weights: `benchmark/task` -> verdict and weight of each line that states one.
    """

    tasks: dict[str, Tally] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    splits: dict[Split, dict[str, dict[str, Tally]]] = field(default_factory=lambda: {by: {} for by in SPLITS})
    weights: dict[str, list[tuple[Verdict, float]]] = field(default_factory=dict)

    @property
    def estimates(self) -> dict[str, dict[str, tuple[float, float, float]]]:
        """`benchmark/task` -> verdict -> its share of all answers of a submission, and the ends of its 95 % interval.

        Of lines that were drawn by `fairspace readings label`, which say for how many answers each one stands. The
        interval is that of Clopper and Pearson at the effective number of answers, (sum of w)² / sum of w² (Kish).
        """
        return {name: weighted_shares(drawn) for name, drawn in sorted(self.weights.items())}

    def to_json(self, by: Split | None = None) -> dict[str, Any]:
        """The report as `fairspace readings --json` prints it, with the counts of one split if it is named."""
        data: dict[str, Any] = {"tasks": {name: vars(tally) for name, tally in sorted(self.tasks.items())}}
        if by is not None:
            split = sorted(self.splits[by].items())
            data["by"] = {name: {part: vars(tally) for part, tally in sorted(parts.items())} for name, parts in split}
        if self.weights:
            data["estimates"] = {
                name: {v: list(e) for v, e in shares.items()} for name, shares in self.estimates.items()
            }
        return data | {"errors": self.errors}


def weighted_shares(drawn: Sequence[tuple[Verdict, float]]) -> dict[str, tuple[float, float, float]]:
    """Verdict -> its weighted share and the ends of its 95 % interval."""
    from fairspace.submissions.uncertainty.proportions import clopper_pearson

    total, squares = sum(weight for _, weight in drawn), sum(weight * weight for _, weight in drawn)
    effective = total * total / squares
    shares: dict[str, tuple[float, float, float]] = {}
    for verdict in get_args(Verdict):
        share = sum(weight for given, weight in drawn if given == verdict) / total
        shares[verdict] = (share, *clopper_pearson(min(share, 1.0) * effective, effective))
    return shares


def measure(lines: Iterable[Line]) -> Report:
    """Read labelled answers and hold the readings against their golds. SubmissionError: faults of the lines."""
    report, faults = Report(), Collector(LIMITS.faults)
    families: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for line in lines:
        try:
            compared_parts = _compared(line.fields)
        except RefusedError as refused:
            faults.add(refused.code, line.place[0], refused.what, expected=refused.expected, place=line.place[1])
            continue
        for compared in compared_parts:
            name = f"{line.fields['benchmark']}/{compared.entry}"
            _count(report, name, compared, line.fields)
            if line.fields.get("family"):
                families[name, line.fields["family"]].append(compared.verdict)
    if not report.tasks and not faults.all():
        what = "no answer of a task that is answered with text"
        faults.add("NO_ANSWERS", "the labelled answers", what, expected="answers of such tasks")
    if faults.all():
        raise SubmissionError(list(faults.all()))
    for (name, family), verdicts in families.items():
        if len(verdicts) > 1:
            for tally in (report.tasks[name], report.splits["family"][name][family]):
                tally.families += 1
                tally.families_alike += len(set(verdicts)) == 1
    return report


def _compared(fields: Mapping[str, Any]) -> list[Compared]:
    """The readings of a line. RefusedError: its task is not known, or it lacks what the task's reader needs."""
    from fairspace.submissions.benchmarks.registry import benchmark

    try:
        return list(benchmark(fields["benchmark"]).compare_reading(fields))
    except KeyError as error:
        missing = error.args[0]
        if missing == fields["task"]:
            raise RefusedError("UNKNOWN_TASK", f"task {show(missing)}", "a task whose answers are text") from error
        raise RefusedError("MISSING_FIELD", f"no {show(missing)}", "what the task's reader needs") from error
    except RefusedError:
        raise
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        expected = f"the fields of {fields['benchmark']}/{show(fields['task'])} as FORMAT.md shows them"
        raise RefusedError("WRONG_TYPE", f"a field of another type ({error})", expected) from error


def _count(report: Report, name: str, compared: Compared, fields: Mapping[str, Any]) -> None:
    gender = gender_words(fields["answer"])
    report.tasks.setdefault(name, Tally()).add(compared, gender)
    parts: dict[Split, str] = {"style": fields.get("style", ""), "gender": gender, "family": fields.get("family", "")}
    for by, part in parts.items():
        report.splits[by].setdefault(name, {}).setdefault(part, Tally()).add(compared, gender)
    weight = fields.get("weight")
    if isinstance(weight, int | float) and weight > 0:
        report.weights.setdefault(name, []).append((compared.verdict, float(weight)))
    if compared.verdict != "right":
        wrong = {"id": fields.get("id", ""), "task": name, "gold": compared.gold, "read": compared.read}
        report.errors.append(wrong | {"verdict": compared.verdict, "rule": compared.rule})
