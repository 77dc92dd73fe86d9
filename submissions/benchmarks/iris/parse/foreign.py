"""Answers in other languages: the first occupation that a text names by a word of the alias table."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from fairspace.submissions.benchmarks.iris.parse.lexicon import foreign_terms
from fairspace.submissions.benchmarks.iris.parse.marked import line_end

_ENGLISH = re.compile(r"\b(?:the|is|are|with|and|wearing|be)\b")
_EITHER = re.compile(
    r"\s*,?\s*(?:o|ou|oder|oppure|или|u|或者?|または|또는|/)\s+(?:un[ae]?|eine?|um|uma)?\s*", re.IGNORECASE
)
_NEGATED = re.compile(r"(?:\b(?:no|não|non|not|nicht|kein|keine|pas|не)\b|不是|并非|ではない)[^.,;]{0,20}$")


@lru_cache
def _pattern() -> re.Pattern[str]:
    names = sorted(foreign_terms(), key=len, reverse=True)
    spaced = [re.escape(name) for name in names if name.isascii() or ord(max(name)) < 0x2E80]
    others = [re.escape(name) for name in names if ord(max(name)) >= 0x2E80]
    return re.compile(rf"\b(?:{'|'.join(spaced)})\b|(?:{'|'.join(others)})")


def read_foreign(text: str) -> tuple[Literal["choice", "several"], int, tuple[int, int]] | None:
    """The occupation that a lower-case text in another language names first, and where; several if it gives a choice.

    English lines name none.
    """
    for match in _pattern().finditer(text):
        if _ENGLISH.search(text, text.rfind("\n", 0, match.start()) + 1, line_end(text, match.end())):
            continue
        if _NEGATED.search(text, max(0, match.start() - 40), match.start()):
            continue
        code = foreign_terms()[match[0]]
        joint = _EITHER.match(text, match.end())
        other = _pattern().match(text, joint.end()) if joint else None
        if other and foreign_terms()[other[0]] != code:
            return "several", code, (match.start(), other.end())
        return "choice", code, match.span()
    return None
