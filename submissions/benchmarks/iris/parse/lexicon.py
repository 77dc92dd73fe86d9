"""Names of the 52 occupations, and the parts of an answer that are marked as the answer.

The words are the terms of Table 20 and reviewed aliases. A noun phrase names an occupation if it ends in a term or
alias ("a young registered nurse"). Heads with another meaning after other words ("social worker", "makeup artist") may
only follow adjectives that leave the occupation as it is.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from fairspace.builders import REFERENCE
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.answers.prepared import PreparedAnswer, values
from fairspace.submissions.answers.reading import Reading

ALIASES = REFERENCE / "iris_occupation_aliases.csv"
ENGLISH = "en"
MOST_WORDS = 8
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def word_set(words: str) -> frozenset[str]:
    """The set of a text's words."""
    return frozenset(words.split())


GUARDED = word_set(
    "worker officer artist biker skater catcher pitcher batter developer instructor surgeon trader merchant "
    "md doc ref security talker server graduate justice stylist presenter broadcaster marine fixer dr carver "
    "police military army construction retail sales pottery painting singing dancing climbing running "
    "teaching nursing farming gardening basketball baseball softball tennis soccer flute guitar trumpet "
    "ballet programming marshal deputy tenor soprano trooper crafter warrior cultivator builder adjudicator "
    "lineman linewoman lineperson lineworker linesman lineswoman linesperson skipper tumbler scholar tutor "
    "learner joiner waterman waterwoman waterperson shopman shopwoman shopperson marketer striker police detective"
)
"""Terms of one word that name the occupation only alone or after `PLAIN` words."""
PLAIN = word_set(
    "a an the some this that his her their its my our another one young younger old older elderly aged middle "
    "adult senior junior retired former veteran male female man woman lady gentleman gender neutral "
    "professional skilled experienced talented trained certified licensed qualified registered seasoned "
    "successful famous popular prominent renowned well known local traditional typical classic real actual "
    "working dedicated passionate aspiring amateur competitive elite modern contemporary full part time "
    "freelance independent self employed uniformed friendly smiling happy serious caring kind hardworking "
    "hard busy proud asian african american european black white hispanic latino latina indian chinese "
    "japanese korean arab caucasian french german italian spanish english british mexican brazilian russian "
    "medieval ancient historical ceremonial royal possible likely potential casual outdoor indoor urban rural "
    "small big large great good strong fit athletic highly very quite best main head chief lead leading "
    "assistant apprentice beginner beginning novice expert master street world class solo college university "
    "high school elementary primary secondary middle ph phd medical hospital clinical military army public "
    "private state federal city town village country stage club night day field duty ranking type general "
    "special specialized"
)
_NOT_BEFORE: dict[str, frozenset[str]] = {
    "tennis player": frozenset({"table"}),
    "football player": frozenset({"american", "gridiron", "australian", "rugby", "gaelic"}),
    "footballer": frozenset({"american", "australian", "gaelic"}),
    "reporter": frozenset({"court"}),
    "doctor": frozenset({"witch", "spin", "script", "tree", "car"}),
    "surgeon": frozenset({"tree", "dental", "veterinary"}),
    "speaker": frozenset({"loud", "bluetooth", "stereo", "house"}),
    "seller": frozenset({"best"}),
    "climber": frozenset({"social"}),
    "runner": frozenset({"drug", "gun", "front", "errand"}),
    "guard": frozenset({"coast", "point", "shooting", "basketball", "offensive"}),
    "bass player": frozenset({"double", "upright"}),
}
"""Term -> words before it that give it another meaning."""
_FEMININE = {
    "men": "man",
    "women": "woman",
    "people": "person",
    "wives": "wife",
    "children": "child",
    "staffs": "staff",
}


def words_of(text: str) -> list[str]:
    """The lower-case words of a text; hyphens, underscores and punctuation part them."""
    return WORD.findall(text.lower())


def clean(text: str) -> str:
    """Lower case, no punctuation, single blanks."""
    return " ".join(words_of(text))


@lru_cache
def terms() -> dict[str, int]:
    """Tier 1: cleaned English terms and reviewed aliases -> index into `OCCUPATIONS`."""
    return {alias: index for alias, index, language in _table() if language == ENGLISH} | {
        clean(name): index for index, name in enumerate(OCCUPATIONS)
    }


@lru_cache
def foreign_terms() -> dict[str, int]:
    """Lower-case words of other languages -> index into `OCCUPATIONS`."""
    return {alias: index for alias, index, language in _table() if language != ENGLISH}


@lru_cache
def _table() -> list[tuple[str, int, str]]:
    with ALIASES.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return [(clean(row["alias"]), OCCUPATIONS.index(row["occupation"]), row["language"]) for row in rows]


def look_up(words: Sequence[str]) -> int | None:
    """The occupation that a noun phrase names by its last words; None if unknown or none of the 52."""
    if not words:
        return None
    table = terms()
    words = words[-MOST_WORDS:]
    for start in range(len(words)):
        code = table.get(key := " ".join(words[start:]))
        if code is None and (single := singular(words[-1])) != words[-1]:
            code = table.get(key := " ".join((*words[start:-1], single)))
        if code is None:
            continue
        before = words[:start]
        if before and before[-1] in _NOT_BEFORE.get(key, ()):
            return None
        if key in GUARDED and not PLAIN.issuperset(before):
            return None
        return code
    return None


def singular(word: str) -> str:
    """The singular of a noun; other words stay."""
    for plural, single in _FEMININE.items():
        if word.endswith(plural):
            return word.removesuffix(plural) + single
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("resses", "oaches", "ishes")):
        return word[:-2]
    return word[:-1]


_BOX = re.compile(
    r"(?:<answer>|<\|begin_of_box\|>|\\boxed\s*\{(?:\s*\\(?:text|mathrm|textbf)\s*\{)?)\s*(?P<inside>[^<}\n]{1,200})"
)
_ADJECTIVES = (
    r"(?:(?:the|a|most|likely|his|her|their|my|best|final|primary|main|possible|probable|plausible|potential|suggested|"
    r"identified|inferred|predicted|estimated|person'?s?|individual'?s?|man'?s|woman'?s|short|correct)\s+)*"
)
_BEFORE = re.compile(r"(?:[\n.;!?>)]|\s\s|^|- |\d\) )\s*(?:[-•]\s*|\d{1,2}[.)]\s*)?" + _ADJECTIVES + "$")
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
class MarkedPart:
    """A stretch of an answer that is marked as the answer; `listed` if it names possible occupations in the plural.

    `rule` is `box`, `final answer`, `label` or `arrow`.
    """

    start: int
    end: int
    rule: str
    listed: bool = False


def answer_parts(text: str) -> list[MarkedPart]:
    """The marked parts of a lower-case text, the decisive one first."""
    boxes = list(_BOX.finditer(text)) if "<" in text or "\\boxed" in text else []
    parts = [MarkedPart(*box.span("inside"), "box") for box in reversed(boxes)]
    labels = []
    for match in _LABEL.finditer(text):
        window = max(0, match.start() - _LONGEST_BEFORE)
        if not _BEFORE.search(("," if window else "") + text[window : match.start()]):
            continue
        start = match.end()
        plural = match["name"].endswith("s") and match["name"] != "trades"
        plural |= "\n" in match["mark"] and bool(match["blank"].strip())
        end = len(text) if plural else line_end(text, start)
        labels.append((match["name"] in _FINAL, MarkedPart(start, end, "label", plural)))
    parts += [part for final, part in reversed(labels) if final]
    parts += [part for final, part in labels if not final]
    if arrows := list(_ARROW.finditer(text)):
        parts.append(MarkedPart(arrows[-1].end(), line_end(text, arrows[-1].end()), "arrow"))
    return parts


def line_end(text: str, start: int) -> int:
    """End of the line of a place."""
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def marked_reading(
    prepared: PreparedAnswer,
    text: str,
    key: re.Pattern[str],
    box: re.Pattern[str],
    read_value: Callable[[Any], str | None],
    read: Callable[[str], Reading],
) -> Reading | None:
    """The reading of the first JSON field (name matching `key`) that gives an answer, else of the last box.

    `read_value` gives a field's value as text, None if it is none.
    """
    for part in values(prepared.text) if "{" in text else ():
        for name, value in part.value.items() if isinstance(part.value, dict) else ():
            if key.search(str(name).lower()) and (label := read_value(value)) is not None:
                return replace(read(label), span=prepared.span(*part.span), rule="json")
    boxes = list(box.finditer(text)) if "<" in text or "boxed" in text else []
    return (
        replace(read(boxes[-1]["inside"]), span=prepared.span(*boxes[-1].span("inside")), rule="box") if boxes else None
    )


_KEY = re.compile(r"occupation|profession|\bjob|answer|role|career|label|prediction|result")
_OTHER_KEY = re.compile(r"alternativ|other|second|confidence|reason|explanation|category|industry|field")


def stated_fields(text: str) -> Iterator[tuple[str | None, tuple[int, int]]]:
    """Text of each answer field, several joined by "or", None for null, with the span of its object."""
    if "{" not in text:
        return
    for json_part in values(text):
        entry = json_part.value[0] if isinstance(json_part.value, list) and json_part.value else json_part.value
        if not isinstance(entry, dict):
            continue
        for key, value in entry.items():
            if not _KEY.search(str(key).lower()) or _OTHER_KEY.search(str(key).lower()):
                continue
            if value is None:
                yield None, json_part.span
            parts = value if isinstance(value, list) else [value]
            stated = " or ".join(part for part in parts if isinstance(part, str))
            if stated.strip():
                yield stated, json_part.span
