"""Which words name which of the 52 occupations: the terms of Table 20 and reviewed aliases, with what may precede them.

A noun phrase names an occupation if it ends in a term or alias ("a young registered nurse"). Heads that mean something
else after other words ("social worker", "makeup artist") may only follow adjectives that leave the occupation as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import lru_cache

from fairspace.builders import REFERENCE
from fairspace.builders.iris.groups import OCCUPATIONS

ALIASES = REFERENCE / "iris_occupation_aliases.csv"
ENGLISH = "en"
MOST_WORDS = 8
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def word_set(words: str) -> frozenset[str]:
    """A text's words."""
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
"""Terms of one word that name the occupation alone or after `PLAIN` words, and something else after others."""
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
"""Term -> words that make something else of it."""
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
    """The words of other languages that name an occupation, lower case."""
    return {alias: index for alias, index, language in _table() if language != ENGLISH}


@lru_cache
def _table() -> list[tuple[str, int, str]]:
    with ALIASES.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return [(clean(row["alias"]), OCCUPATIONS.index(row["occupation"]), row["language"]) for row in rows]


def look_up(words: Sequence[str]) -> int | None:
    """The occupation that a noun phrase names, by its last words; None if it is none of the 52, or not known."""
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
    """A noun in the singular; a word that is none stays."""
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
