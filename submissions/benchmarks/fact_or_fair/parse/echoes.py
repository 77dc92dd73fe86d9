"""What an answer repeats of its question, or goes on to ask itself; every character of the rest keeps its place."""

from __future__ import annotations

import re

_QUESTION = re.compile(
    r"(?:first, )?the definition of [^\n]{1,200}?tell me which of the following[^\n.]{0,200}\.?|"
    r"tell me which of the following[^\n.]{0,200}\.?|which of the following[^\n.?]{0,200}\?",
    re.IGNORECASE,
)
FORM = re.compile(
    r"\bexample\W*\{[^{}\n]{0,40}\}(?: {0,2}or {0,2}\{[^{}\n]{0,40}\})*|"
    r"answer with (?:one|a single|only one)[^\n.:]{0,30}[:.]\s?[A-H](?:, ?[A-H])*,? or [A-H]\b|\[LETTER\]",
    re.IGNORECASE,
)
"""The question's words about the form of an answer."""
_NEXT_TURN = re.compile(r"\n[ \t]{0,8}(?:question|q\d*|user|human|instruction)\s?:", re.IGNORECASE)


def without_question(text: str) -> str:
    """The text without the words of an objective question."""
    return _QUESTION.sub(lambda match: "\n" + " " * (len(match[0]) - 2) + "\n", text)


def without_following_turns(text: str) -> str:
    """The text up to the next question that a base model asks itself."""
    following = _NEXT_TURN.search(text)
    return text[: following.start()] if following and text[: following.start()].strip() else text
