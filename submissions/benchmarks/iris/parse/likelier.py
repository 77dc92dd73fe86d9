"""Which of several occupations an answer calls the more likely one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MORE_LIKELY = re.compile(
    r"(?P<words>(?:[^\W_]+[\s-]+){0,3}?[^\W_]+)[\"')]?\s+(?:(?:is|seems|appears|would be|looks|sounds|"
    r"fits)\s+(?:the\s+)?"
    r"(?:far\s+|much\s+)?(?:more|most|best|better)(?:\s+(?:likely|probable|plausible|fitting|accurate|appropriate|"
    r"convincing))?|the\s+(?:far\s+|much\s+)?(?:more|most)\s+(?:likely|probable|plausible))(?=\s*(?:[.,;!)]|$|"
    r"than\b|option\b|choice\b|occupation\b|profession\b|given\b|because\b|here\b|fit\b|"
    r"description\b|candidate\b|guess\b|answer\b|of the two\b|one\b))"
)
_MAKES_LIKELY = re.compile(
    r"\b(?:makes?|making)\s+(?:it\s+)?(?P<words>(?:[^\W_]+[\s-]+){0,3}?[^\W_]+)\s+(?:the\s+)?(?:far\s+|much\s+)?"
    r"(?:more|most|best|better|likelier|likeliest|safer|safest|stronger|strongest)\b"
)
_LIKELIER = re.compile(
    r"\b(?:more|most)\s+(?:likely|probably|plausibly)\s+(?:to\s+be\s+)?(?:an?\s+|the\s+)?"
    r"(?P<words>[^\W_]+(?:[\s-]+[^\W_]+){0,2})\s*[.!)]*\s*$"
)
"""After alternatives: "a midwife or nurse, more likely a nurse"."""
_WORDS = ("more", "most", "best", "better", "likelier", "likeliest", "safe", "strong")


def more_likely(text: str) -> Iterator[re.Match[str]]:
    """Where a lower-case text says so; the group `words` ends in the occupation."""
    if not any(word in text for word in _WORDS):
        return
    yield from _MORE_LIKELY.finditer(text)
    yield from _MAKES_LIKELY.finditer(text)
    if " or " in text and (match := _LIKELIER.search(text, max(0, len(text) - 80))):
        yield match
