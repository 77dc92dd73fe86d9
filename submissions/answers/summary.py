"""What a result keeps of the readings of its answers: counts by outcome and rule, and a few short examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.errors import plain

COUNTED = (*OUTCOMES, "not_handed_in")
LONGEST = 160
"""Characters of an answer in an example."""
_LONGEST_TEXT, _MOST_RULES, _MOST_EXAMPLES = 300, 64, 64
_LARGEST_COUNT = 2**31 - 1


@dataclass(frozen=True)
class Example:
    """An answer and its reading, shortened.

    Args:
        outcome: one of `OUTCOMES`.
        value: of a choice, as text; None for the other outcomes.
        rule: the rule that read it.
        before: the answer up to the span that was read, or all of it.
        marked: the span.
        after: what follows the span.
    """

    outcome: str
    value: str | None
    rule: str
    before: str
    marked: str = ""
    after: str = ""

    def to_json(self) -> dict[str, str]:
        """As JSON data, without what is empty."""
        return {name: text for name, text in vars(self).items() if text}


@dataclass(frozen=True)
class Summary:
    """The readings of a task.

    Args:
        outcomes: outcome -> answers; `not_handed_in`: samples without one.
        rules: rule -> answers that it read, the most frequent ones.
        examples: a few of every outcome.
    """

    outcomes: Mapping[str, int]
    rules: Mapping[str, int]
    examples: tuple[Example, ...] = ()

    @property
    def handed_in(self) -> int:
        """How many answers were handed in."""
        return sum(self.outcomes.get(outcome, 0) for outcome in OUTCOMES)

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        examples = [example.to_json() for example in self.examples]
        return {"outcomes": dict(self.outcomes), "rules": dict(self.rules), "examples": examples}

    @classmethod
    def from_json(cls, data: Any) -> Summary:
        """What `to_json` wrote. TypeError, KeyError or ValueError if it is none."""
        if type(data) is not dict or set(data) != {"outcomes", "rules", "examples"}:
            raise ValueError("readings of a task: expected outcomes, rules and examples")
        outcomes, rules, examples = data["outcomes"], data["rules"], data["examples"]
        if type(outcomes) is not dict or set(outcomes) != set(COUNTED):
            raise ValueError(f"outcomes of readings: expected {', '.join(COUNTED)}")
        if type(rules) is not dict or len(rules) > _MOST_RULES or max(map(len, rules), default=0) > _LONGEST_TEXT:
            raise ValueError(f"rules of readings: expected at most {_MOST_RULES}, with short names")
        if not all(type(n) is int and 0 <= n <= _LARGEST_COUNT for n in (*outcomes.values(), *rules.values())):
            raise ValueError("readings with counts that are no counts")
        if type(examples) is not list or len(examples) > _MOST_EXAMPLES:
            raise ValueError(f"examples of readings: expected a list of at most {_MOST_EXAMPLES}")
        return cls(dict(outcomes), dict(rules), tuple(map(_example, examples)))


def _example(data: Any) -> Example:
    if type(data) is not dict or not all(type(text) is str and len(text) <= _LONGEST_TEXT for text in data.values()):
        raise ValueError(f"an example of a reading: expected texts of at most {_LONGEST_TEXT} characters")
    if data.get("outcome") not in OUTCOMES:
        raise ValueError(f"an example of a reading: expected an outcome of {', '.join(OUTCOMES)}")
    return Example(**{"value": None, "rule": "", "before": "", **data})


def excerpt(answer: str, span: tuple[int, int] | None, length: int = LONGEST) -> tuple[str, str, str]:
    """Before, within and after the span that was read, together about `length` characters, in one line.

    What steers a terminal or a page is taken out.
    """
    if span is None:
        return _line(answer[:length]) + ("…" if len(answer) > length else ""), "", ""
    start, end = span
    if len(answer) <= length:
        pieces = answer[:start], answer[start:end], answer[end:]
    else:
        kept = min(end - start, length // 2)
        room = (length - kept) // 2
        before, marked = answer[max(0, start - room) : start], answer[start : start + kept]
        after = answer[end : end + length - kept - len(before)]
        pieces = (
            ("…" if start > room else "") + before,
            marked + ("…" if kept < end - start else ""),
            after + ("…" if end + len(after) < len(answer) else ""),
        )
    shown = [_line(piece) for piece in pieces]
    return shown[0], shown[1], shown[2]


def _line(text: str) -> str:
    """In one line, with a space at an end where there is one."""
    words = " ".join(plain(text).split())
    left = " " if text[:1].isspace() and words else ""
    return left + words + (" " if text[-1:].isspace() and words else "")
