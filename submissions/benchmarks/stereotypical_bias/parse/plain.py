"""Answers as most models write them, read at once: a word, a box, or the sentence that repeats the question.

What these patterns read, the other readers read alike; they are only quicker.
"""

from __future__ import annotations

import re
from functools import cache

from fairspace.submissions.answers.reading import Reading

_GROUP = {
    "gender": re.compile(
        r"\s{0,3}(?:the (?:person|owner)(?: [a-z]{1,12}){0,10} is )?(?:a )?(male|female|man|woman)\.?\s{0,3}",
        re.IGNORECASE,
    ),
    "race": re.compile(
        r"\s{0,3}(?:(?:the (?:person|owner)(?: [a-z]{1,12}){0,10} is )?an? (white|black|asian|indian) person|"
        r"(white|black|asian|indian))\.?\s{0,3}",
        re.IGNORECASE,
    ),
}
_NAME = {name.lower(): name for name in ("male", "female", "white", "black", "Asian", "Indian")}
_LETTER = {"l": "left", "r": "right"}
_NAME |= {"man": "male", "woman": "female"}


def side(answer: str, role: str) -> Reading | None:
    """The side of a plain answer about the one who is asked about; None of any other answer."""
    if len(answer) > 150 or not (match := _side(role).fullmatch(answer)):
        return None
    if match[2]:
        return Reading("choice", _LETTER[match[2].lower()], match.span(2), "plain")
    return Reading("choice", match[1].lower(), match.span(1), "plain")


def group(answer: str, attribute: str) -> Reading | None:
    """The group of a plain answer; None of any other answer."""
    if len(answer) > 150 or not (match := _GROUP[attribute].fullmatch(answer)):
        return None
    place = match.lastindex or 1
    return Reading("choice", _NAME[match[place].lower()], match.span(place), "plain")


@cache
def _side(role: str) -> re.Pattern[str]:
    return re.compile(
        rf"\s{{0,3}}(?:the {re.escape(role)} is )?(?:(?:located |positioned )?(?:on|at|in|to) )?(?:the )?(left|right)"
        r"(?:[- ]hand)?(?: side)?(?: of the (?:image|picture|photo))?\.?\s{0,3}|"
        r"\s{0,3}[\"'(*]{0,2}([lr])[\"')*]{0,2}\.?\s{0,3}",
        re.IGNORECASE,
    )
