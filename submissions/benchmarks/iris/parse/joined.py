"""Noun phrases that are joined to another: alternatives, lists, appositions, words in parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fairspace.submissions.benchmarks.iris.parse.noun_phrase import MOST_ITEMS, Phrase, negated, read_phrase

_JOIN = re.compile(
    r" *(?:(?P<either>,? *(?:and/or|or(?: else)?|and|as well as|&|along with|and also) +| ?/ ?|"
    r"(?:(?:in|at|for|from|on|of|with) [^,.;:()\n]{1,40}?)?,? +or +(?=(?:maybe |perhaps |possibly |even )?(?:a|an) ))|"
    r"(?P<open>\()|(?P<comma>, *| *-{1,2} +|(?= such as | like )))"
    r" *(?P<hedge>(?:(?:or|more|most|quite|very|also|then|even)\s+)*"
    r"(?:precisely|exactly|accurately|to be (?:more )?(?:precise|exact|specific)|in other words|that is|"
    r"possibly|perhaps|maybe|probably|likely|specifically|namely|i\.e\.|in particular|potentially|presumably|"
    r"particularly|especially|such as|e\.g\.|like|including|a\.k\.a\.|aka)[\s,:]+)?"
)


_CLOSED = re.compile(r"(?: *\))?")
_PLACE = re.compile(r" +(?:in|of|within|from|at|for|on) (?:the |a |an )?\w+(?: \w+){0,2}?(?=,| such as| like| \(| -)")
"""Where somebody works: "a role in healthcare, such as …"."""


@dataclass(frozen=True)
class Joined:
    """A phrase that is joined to the one before.

    Args:
        phrase: the phrase.
        by: `either`: or, and, a stroke. `comma`: an apposition or the next one of a list. `open`: in parentheses.
        hedged: after "possibly", "specifically" and the like.
    """

    phrase: Phrase
    by: Literal["either", "comma", "open"]
    hedged: bool


def joined(text: str, start: int) -> Iterator[Joined]:
    """The phrases that are joined to one that ends here, in order; those that are negated are left out."""
    place_of_work = _PLACE.match(text, start)
    position = place_of_work.end() if place_of_work else start
    for _ in range(MOST_ITEMS):
        match = _JOIN.match(text, position)
        if not match:
            return
        by: Literal["either", "comma", "open"] = "open" if match["open"] else "comma" if match["comma"] else "either"
        place = match.end()
        if negated(text, place) is not None:
            return
        phrase = read_phrase(text, place)
        if phrase.kind == "nothing" or (phrase.kind in ("person", "other") and by != "either" and not phrase.trade):
            return
        yield Joined(phrase, by, bool(match["hedge"]))
        position = _CLOSED.match(text, phrase.span[1]).end()  # type: ignore[union-attr]
