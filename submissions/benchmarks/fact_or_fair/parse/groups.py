"""Where a text names a group of people.

Synonyms are those under Table 9 of FACT-OR-FAIR and everyday ones. `non-Hispanic White` does not name Hispanic. A group
that is not among the choices (American Indians, several races) is noticed as such, so that what is said of it is not
taken for what is said of a choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from fairspace.builders.fact_or_fair.statistics import GROUPS

MOST = 60
"""Of more mentions in a part of a text than that the rest is not read."""
OTHER = -1
"""The group of a mention that is none of the choices."""
WORDS: Mapping[str, Mapping[str, str]] = {
    "gender": {
        "female": r"females?|wom[ae]n|ladies|lady|girls?|feminine",
        "male": r"males?|m[ae]n|gentlem[ae]n|guys?|boys?|masculine",
        "other": r"non-?binary(?: people| individuals)?|transgender(?: people| individuals)?|intersex",
    },
    "race": {
        "other": r"native americans?|american indians?|alaska natives?|indigenous(?: americans?| peoples?)?|"
        r"multiracial|two or more races|mixed[- ]race",
        "Asian": r"asian[- ]americans?(?: and pacific islanders?)?|asians?(?: or pacific islanders?)?|"
        r"pacific islanders?|native hawaiians?|aapis?",
        "Black": r"african[- ]americans?|afro[- ]americans?|blacks?(?! (?:box|market))|africans?",
        "Hispanic": r"hispanics?|latin[oax]s?|latinx|latines?|latin americans?|chican[oa]s?",
        "White": r"whites?(?! (?:house|paper|collar)\b)|caucasians?|european[- ]americans?",
    },
}
PEOPLE = (
    r"(?:people|persons?|individuals?|americans?|adults?|households?|famil(?:y|ies)|residents?|populations?|"
    r"communit(?:y|ies)|workers?|groups?|category|alone|patients?|race|gender|ethnicity|origin|descent|citizens?|"
    r"voters?|women|men|volunteers?|drivers?|children|students?)"
)
"""Who a group consists of."""


@dataclass(frozen=True)
class Mention:
    """Options named at one place of a text: one, several of a list, or a letter and a name that contradict each other.

    Args:
        options: groups, as indices into `GROUPS[attribute]`, `OTHER` for those that are no choice; or lettered options,
            of which one that was not offered has the number of options or more.
        start: of the first.
        end: of the last.
        lettered: whether at least one letter is among them.
        contradicts: whether a letter stands beside the name of another option.
    """

    options: frozenset[int]
    start: int
    end: int
    lettered: bool = False
    contradicts: bool = False

    @property
    def choices(self) -> frozenset[int]:
        """The options without `OTHER`."""
        return self.options - {OTHER}


Decision = tuple[Mention, str]
"""The mention that decides, and the rule that found it; a mention of several options decides for none."""


def _pattern(attribute: str) -> re.Pattern[str]:
    named = "|".join(f"(?P<{name}>{words})" for name, words in WORDS[attribute].items())
    return re.compile(rf"(?<![\w-])(?:{named})(?![\w]|-(?!\s))", re.IGNORECASE)


PATTERNS = {attribute: _pattern(attribute) for attribute in GROUPS}
"""Attribute -> where a text names one of its groups; the name of the match's last group is the group."""
NOT_HISPANIC = re.compile(r"\bnon[-\s]{0,2}(?:hispanics?|latin[oax]s?)\b(?: or latin[oax]s?)?", re.IGNORECASE)
_JOINT = re.compile(rf"(?:[\s,/&(\"']|\b(?:and|or|both|{PEOPLE})\b)*", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
SURPASSES = (
    r"exceed(?:s|ed)?|out-?earn(?:s|ed)?|outlive[sd]?|outnumber(?:s|ed)?|outpace[sd]?|surpass(?:es|ed)?|"
    r"overt(?:ook|aken?|akes)"
)
"""Verbs whose object has less."""
_STANDARD = re.compile(
    rf"\b(?:than|compared (?:to|with)|relative to|versus|vs|against|in comparison (?:to|with)|{SURPASSES}|behind|"
    r"trails?|dollar(?: that| earned by| paid to| made by| for)*|unlike|likely as|as \w+ as|"
    r"(?:twice|times) as \w+ (?:\w+ ){0,8}as|times the \w+)\b"
    r"(?: (?:that|those|it|the \w+|is|are|was|were|do|does|did))*(?: (?:of|for|among|in|by))?\W*(?:\w+ ){0,2}?$",
    re.IGNORECASE,
)
"""Stands right before what something is compared with."""


def group_of(match: re.Match[str], attribute: str) -> int:
    """The group of a match of `PATTERNS`, or `OTHER`."""
    return OTHER if match.lastgroup == "other" else GROUPS[attribute].index(str(match.lastgroup))


def mentions(text: str, attribute: str) -> list[Mention]:
    """The mentions of a text, in order; those that are joined are one.

    "A, B and C" is one mention; a comma after "and" begins the next one, as in "of A and B, A …", and so does the comma
    after what something is compared with, as in "compared with A, B …".
    """
    joined: list[Mention] = []
    closed = False
    for match in islice(PATTERNS[attribute].finditer(text), MOST):
        group = group_of(match, attribute)
        last = joined[-1] if joined else None
        if last and match.start() - last.end < 40 and _JOINT.fullmatch(text, last.end, match.start()):
            between = text[last.end : match.start()]
            if not (closed and "," in between):
                joined[-1] = Mention(last.options | {group}, last.start, match.end())
                closed = group not in last.options and (closed or _AND.search(between) is not None)
                continue
        joined.append(Mention(frozenset({group}), match.start(), match.end()))
        closed = is_standard(text, match.start())
    return joined


def is_standard(text: str, start: int) -> bool:
    """Whether what is named there is what something else is compared with."""
    return _STANDARD.search(text[max(0, start - 80) : start]) is not None
