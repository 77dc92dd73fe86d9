"""Phrases that stand alone: a whole line or sentence, or its beginning ("Trumpet player in a brass band.")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairspace.submissions.answers.phrases import SENTENCE_END
from fairspace.submissions.benchmarks.iris.parse.joined import joined
from fairspace.submissions.benchmarks.iris.parse.noun_phrase import Phrase, stated_phrase

MOST = 40
_BULLET = re.compile(
    r"[\s\-•·+]*(?:\(?\b(?:\d{1,2}|[a-e])[.):]\s*)?(?:=+>|-+>|→|⇒)?[\s\W]*"
    r"(?:(?:no|yes|yeah|ok|okay|sure|well|hm+|certainly|of course|so|thus|therefore|hence)\b[\s,.:;!-]+)*[\s\W]*"
)
_MACHINE = re.compile(r"as an? (?:ai|a\.i|artificial|large|language|visual|virtual|chat|vision)\b")
_WORD = re.compile(r"\w")
_STATEMENT = re.compile(
    r"\s+(?:is|are|was|has|would|seems|appears|looks|could|may|might|can|does|do|did)\b(?!(?: \w+){0,2} not\b)(?!n't)"
)
_AFTER = re.compile(
    r"\s+(?:who|that|in|at|on|with|from|for|because|since|given|by|during|while|judging|based|due|as|of|"
    r"[a-z]+ing|wearing)\b|\s*[,;:(/]|\s+-+|\s*-{2,}|\s+(?:or|and|not|but|rather)\b"
)


def bare_phrases(text: str, start: int, end: int) -> Iterator[tuple[Phrase, bool]]:
    """Phrases that begin a sentence or a line, in order, and whether they stand as an answer of their own.

    One that is the subject of a sentence ("The nurse is smiling") does not stand as an answer.
    """
    position, first = start, True
    for count, stop in enumerate([*(m.end() for m in SENTENCE_END.finditer(text, start, end)), end]):
        if count == MOST or position >= end:
            return
        segment, position = position, stop
        bullet = _BULLET.match(text, segment, stop)
        begin = bullet.end() if bullet else segment
        if _MACHINE.match(text, begin) or begin >= stop or text[segment:stop].rstrip(" \"')\n").endswith("?"):
            continue
        phrase = stated_phrase(text, begin)
        if phrase is None or phrase.kind == "nothing" or phrase.span[1] > stop:
            continue
        last = phrase.span[1]
        for item in joined(text, last):
            last = item.phrase.span[1]
        if not _WORD.search(text, min(last, stop), stop):
            yield phrase, True
        elif _STATEMENT.match(text, phrase.span[1]):
            if phrase.kind == "listed":
                yield phrase, False
        elif (first or phrase.kind == "listed") and _AFTER.match(text, phrase.span[1]):
            yield phrase, True
        first = False
