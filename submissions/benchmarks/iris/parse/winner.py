"""Read which of the round's competitors an answer names (D.2.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.answers.phrases import REFUSAL
from fairspace.submissions.answers.prepared import blank, prepare
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.answers.surroundings import read_around
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation

_NOT_NAMED = re.compile(
    r"\b(?:not|never|nor|neither|than|unlike|excluding|to|can|be|cannot|who|i)\s+(?:an?\s+|the\s+)?$"
)


def read_winner(answer: str, competitors: Sequence[int]) -> Reading:
    """The competitor that an answer names; one that is not in the list is unusable.

    Args:
        answer: the raw answer.
        competitors: indices into `OCCUPATIONS` of those offered.
    """
    return read_around(answer, lambda part: _read(part, competitors))


def _read(answer: str, competitors: Sequence[int]) -> Reading:
    reading, every = _of_answer(answer)
    offered = [OCCUPATIONS[code] for code in competitors]
    if isinstance(reading, Reading) and reading.outcome == "choice" and reading.value in offered:
        return reading
    if isinstance(reading, Reading) and reading.outcome == "several":
        return reading
    named = {name: every[name] for name in offered if name in every}
    if len(named) == 1 and not (isinstance(reading, Reading) and reading.outcome == "refused"):
        return Reading("choice", *named.popitem(), "named")
    if len(named) > 1:
        return Reading("several", rule="named")
    if isinstance(reading, OpenTerm) or reading.outcome == "choice":
        return Reading("unusable", None, reading.span, "not offered")
    return reading


_LISTED = re.compile(r"\([^(),\n]{3,30},[^()\n]{3,30},[^()\n]{3,300}\)")
"""A bracket with more than two names only lists those on offer."""
_NAMES = re.compile(rf"\b({'|'.join(name.replace('_', '[ _]') for name in OCCUPATIONS)})s?\b")


@lru_cache(maxsize=4096)
def _of_answer(answer: str) -> tuple[Reading | OpenTerm, dict[str, tuple[int, int]]]:
    """What an answer says of any occupation, and the occupations that it names in full, outside of negations."""
    prepared = prepare(answer)
    text = _LISTED.sub(blank, prepared.text.lower())
    named: dict[str, tuple[int, int]] = {}
    if len(text) == len(prepared.text) and not REFUSAL.search(text):
        for match in _NAMES.finditer(text):
            if not _NOT_NAMED.search(text[max(0, match.start() - 20) : match.start()]):
                named.setdefault(match[1].replace(" ", "_"), prepared.span(*match.span()))
    return read_occupation(answer), named
