"""Parts of an answer that are marked as what was asked for: fields of JSON, boxes, "Answer: …", "Occupation: …"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from fairspace.submissions.answers.loose_json import values
from fairspace.submissions.answers.prepared import Prepared
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.iris.parse.lexicon import word_set

_BOX = re.compile(
    r"(?:<answer>|<\|begin_of_box\|>|\\boxed\s*\{(?:\s*\\(?:text|mathrm|textbf)\s*\{)?)\s*(?P<inside>[^<}\n]{1,200})"
)
_ADJECTIVES = (
    r"(?:(?:the|a|most|likely|his|her|their|my|best|final|primary|main|possible|probable|plausible|potential|suggested|"
    r"identified|inferred|predicted|estimated|person'?s?|individual'?s?|man'?s|woman'?s|short|correct)\s+)*"
)
_BEFORE = re.compile(r"(?:[\n.;!?>)]|\s\s|^|- |\d\) )\s*(?:[-•]\s*|\d{1,2}[.)]\s*)?" + _ADJECTIVES + "$")
"""Where a label may begin: a line, a sentence, or after a bullet."""
_LONGEST_BEFORE = 80
_LABEL = re.compile(
    r"\b(?P<name>occupations?|professions?|jobs?(?: titles?)?|roles?|careers?|trade|vocation|line of work|answers?|"
    r"conclusion|guess|prediction|verdict|identification|choices?|selection|pick|decision|"
    r"response|output)(?:\s+of (?:the )?(?:person|man|woman|individual)(?: in the (?:image|photo|picture))?)?"
    r"(?P<mark>\s*(?:\([^)\n]{0,20}\)\s*)?(?::|=+>?|-+>|→|\s-+\s)|\s*\n)(?P<blank>[\s\-•]*)"
)
_ARROW = re.compile(r"(?:=+>|-+>|→|⇒)\s*")
_FINAL = word_set(
    "answer answers conclusion verdict prediction guess response output identification choice selection pick decision"
)


@dataclass(frozen=True)
class Part:
    """A stretch of an answer that is marked as what was asked for.

    Args:
        start: its first character.
        end: after its last one.
        rule: `box`, `final answer`, `label` or `arrow`.
        listed: it names possible occupations in the plural.
    """

    start: int
    end: int
    rule: str
    listed: bool = False


def answer_parts(text: str) -> list[Part]:
    """The marked parts of a lower-case text, the decisive one first."""
    boxes = list(_BOX.finditer(text)) if "<" in text or "\\boxed" in text else []
    parts = [Part(*box.span("inside"), "box") for box in reversed(boxes)]
    labels = []
    for match in _LABEL.finditer(text):
        window = max(0, match.start() - _LONGEST_BEFORE)
        if not _BEFORE.search(("," if window else "") + text[window : match.start()]):
            continue
        start = match.end()
        plural = match["name"].endswith("s") and match["name"] != "trades"
        plural |= "\n" in match["mark"] and bool(match["blank"].strip())
        end = len(text) if plural else line_end(text, start)
        labels.append((match["name"] in _FINAL, Part(start, end, "label", plural)))
    parts += [part for final, part in reversed(labels) if final]
    parts += [part for final, part in labels if not final]
    if arrows := list(_ARROW.finditer(text)):
        parts.append(Part(arrows[-1].end(), line_end(text, arrows[-1].end()), "arrow"))
    return parts


def line_end(text: str, start: int) -> int:
    """Where the line of a place ends."""
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def marked_reading(
    prepared: Prepared,
    text: str,
    key: re.Pattern[str],
    box: re.Pattern[str],
    said: Callable[[Any], str | None],
    read: Callable[[str], Reading],
) -> Reading | None:
    """The reading of the first field of a JSON object that gives an answer, else of the last box.

    Args:
        prepared: the answer.
        text: the same in small letters.
        key: in the names of such fields.
        box: a box, its group `inside`.
        said: the value of a field as text; None if it is none.
        read: reads a text.
    """
    for found in values(prepared.text) if "{" in text else ():
        for name, value in found.value.items() if isinstance(found.value, dict) else ():
            if key.search(str(name).lower()) and (given := said(value)) is not None:
                return replace(read(given), span=prepared.span(*found.span), rule="json")
    boxes = list(box.finditer(text)) if "<" in text or "boxed" in text else []
    return (
        replace(read(boxes[-1]["inside"]), span=prepared.span(*boxes[-1].span("inside")), rule="box") if boxes else None
    )


_KEY = re.compile(r"occupation|profession|\bjob|answer|role|career|label|prediction|result")
_OTHER_KEY = re.compile(r"alternativ|other|second|confidence|reason|explanation|category|industry|field")


def stated_fields(text: str) -> Iterator[tuple[str | None, tuple[int, int]]]:
    """The text of each such field, several joined by "or", None of null, with the place of its object."""
    if "{" not in text:
        return
    for found in values(text):
        entry = found.value[0] if isinstance(found.value, list) and found.value else found.value
        if not isinstance(entry, dict):
            continue
        for key, value in entry.items():
            if not _KEY.search(str(key).lower()) or _OTHER_KEY.search(str(key).lower()):
                continue
            if value is None:
                yield None, found.span
            parts = value if isinstance(value, list) else [value]
            stated = " or ".join(part for part in parts if isinstance(part, str))
            if stated.strip():
                yield stated, found.span
