"""Raw answers beside what a careful person reads in them: how a reading compares with its gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import RefusedError, show

NO_CHOICE = ("none", "refused", "several", "missing")
"""Gold readings of an answer that makes no choice; a reader that reads no choice is right for each of them."""
Verdict = Literal["right", "false", "lost"]


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


def field(line: Mapping[str, Any], name: str, kind: type | tuple[type, ...], expected: str) -> Any:
    """What a task's reader needs of a line beside the answer. RefusedError: it is not there, or of another type.

    Args:
        line: the fields of the line.
        name: of the field.
        kind: its type.
        expected: the same in words.
    """
    if name not in line:
        raise RefusedError("MISSING_FIELD", f"no {name!r}", f"{expected} in {name!r}")
    if not isinstance(line[name], kind) or (isinstance(line[name], bool) and kind is not bool):
        raise RefusedError("WRONG_TYPE", f"{name!r} is {show(line[name])}", expected)
    return line[name]


def check_gold(gold: Any, choices: Sequence[Any]) -> None:
    """Refuse a gold that is neither one of a task's choices nor one of `NO_CHOICE`. RefusedError UNKNOWN_GOLD."""
    if not any(gold == known and type(gold) is type(known) for known in (*choices, *NO_CHOICE)):
        texts = [choice for choice in choices if isinstance(choice, str)]
        near = did_you_mean(gold[:64].lower(), texts) if isinstance(gold, str) else ""
        listed = ", ".join(map(str, choices[:8])) + (f" and {len(choices) - 8} more" if len(choices) > 8 else "")
        raise RefusedError("UNKNOWN_GOLD", f"gold {show(gold)}{near}", f"{listed}; or {', '.join(NO_CHOICE)}")


def unknown_task(task: str, known: Sequence[str]) -> RefusedError:
    """The error of a labelled line whose task the benchmark does not have."""
    return RefusedError("UNKNOWN_TASK", f"task {show(task)}{did_you_mean(task[:64], known)}", ", ".join(known))
