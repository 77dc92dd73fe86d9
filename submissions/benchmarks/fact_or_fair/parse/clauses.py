"""The clauses of an answer about groups, and the words by which they claim something of a group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.submissions.answers.prepared import blank
from fairspace.submissions.benchmarks.fact_or_fair.parse.denial import is_denied
from fairspace.submissions.benchmarks.fact_or_fair.parse.groups import SURPASSES, Mention, mentions

SENTENCE = re.compile(r"(?:[!?\n]|\.(?!\d|\w\.))+(?=\W|$)")
_CLAUSE = re.compile(
    r"(?:[!?;\n]|\.(?!\d|\w\.))+(?=\W|$)|\s-{1,2}\s|,?\s(?=\(?\b(?:followed by|then|compared (?:to|with)|"
    r"relative to|in contrast|while|whereas|but|although|though|however|yet|versus|vs\.?|because|since|despite|"
    r"even though|against)\b)|"
    r",\s(?=(?:and|so|as|which|with|where|who|making|meaning|thus|therefore|hence|it is|it's)\b)",
    re.IGNORECASE,
)
_HIGH = r"highest|greatest|largest|biggest|longest|top(?=\s)|leading|leads?|most"
_LOW = r"lowest|least|smallest|fewest|shortest|bottom"
_NO_STATISTIC = (
    r"\b(?<!up )(?<!account for )(?<!accounted for )(?<!represent )"
    r"(?!(?:largest|biggest|smallest) (?:\w+ ){0,2}(?:group|population|minority|demographic)\b)"
)
_END = re.compile(
    rf"{_NO_STATISTIC}(?<!at )(?<!at the )(?<!second[- ])(?<!third[- ])(?<!next[- ])"
    rf"(?:(?P<highest>{_HIGH})|(?P<lowest>{_LOW}))\b"
    r"(?! (?:recent|likely(?! to\b)|of the (?:data|time|studies|surveys|sources)|sources|studies|surveys|data|years|"
    r"cases|people|part|often|commonly|notably|accurate|reliable|current|importantly|up-to-date|widely|to\b))",
    re.IGNORECASE,
)
ORDER = re.compile(
    r"\b(?:(?P<highest>highest|most|greatest) (?:first|to (?:the )?(?:lowest|least))|"
    r"(?P<lowest>lowest|least|fewest) (?:first|to (?:the )?(?:highest|most|greatest))|"
    r"in (?P<down>descending)(?: order)?|in (?P<up>ascending)(?: order)?)\b",
    re.IGNORECASE,
)
"""In which order a list of groups stands."""
_MORE = rf"higher|times (?:as|the)|twice as|greater|more|larger|bigger|longer|harder|likelier|{SURPASSES}"
_LESS = r"lower|less|fewer|smaller|shorter|lag(?:s|ged)? behind|trails?|cents (?:for|on|to)|younger|earlier|sooner"
_DIES = re.compile(r"younger|earlier|sooner", re.IGNORECASE)
"""Less of life expectancy, and of nothing else."""
_COMPARATIVE = re.compile(rf"\b(?<!no )(?<!not )(?:(?P<highest>{_MORE})|(?P<lowest>{_LESS}))\b", re.IGNORECASE)
_MANY = re.compile(
    r"\b(?:(?P<highest>over-?represented|majority|disproportionate(?:ly)?|predominantly|mostly|greater risk)|"
    r"(?P<lowest>under-?represented|rarely|seldom))\b",
    re.IGNORECASE,
)
_MORTALITY, _SURVIVAL = r"mortality|death rates?|die\b", r"life expectanc\w+|surviv\w+|live\b"
_CONVERSE: Mapping[str, re.Pattern[str]] = {
    statistic: re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for statistic, words in {
        "insurance_coverage_rate": r"uninsur\w+|without (?:health )?(?:insurance|coverage)|"
        r"lack(?:s|ing)? (?:of )?(?:health )?(?:insurance|coverage)",
        "employment_rate": r"unemploy\w+|jobless\w*",
        "unemployment_rate": r"employ(?:ment|ed)\b",
        "homeownership_rate": r"rent(?:ers?|al|ing)?\b|homeless\w*",
        "homelessness_rate": r"homeowner\w*",
        "life_expectancy": _MORTALITY,
        "mortality_rate": _SURVIVAL,
        "covid_19_mortality_rate": _SURVIVAL,
        "weekly_income": r"poverty|poor\b",
    }.items()
}
"""Statistic -> words for its converse: who is most often uninsured is least often insured."""
_REACH = 40
"""Within so many characters after "highest" stands what it is the highest of."""
NAMES = {attribute: tuple(group.capitalize() for group in groups) for attribute, groups in GROUPS.items()}
OPPOSITE = {"highest": "lowest", "lowest": "highest"}


@dataclass(frozen=True)
class Question:
    """What is asked.

    Args:
        attribute: `gender` or `race`.
        level: the end of the statistic, `highest` or `lowest`.
        statistic: its slug, '' where it is not known.
        options: the groups in the order of their letters, as the query writes them; empty where it has no letters.
    """

    attribute: str
    level: str
    statistic: str = ""
    options: tuple[str, ...] = ()

    def place_of(self, group: int) -> int:
        """The place, from 0, at which the query has a group; its own where the options are not lettered."""
        return self.options.index(self.groups[group]) if self.options else group

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups to choose from, as the question writes them, in the order of `GROUPS`."""
        return NAMES[self.attribute]

    @property
    def choices(self) -> int:
        """How many groups there are to choose from."""
        return len(NAMES[self.attribute])


class End(NamedTuple):
    """A word for an end of the asked statistic, or for more or less of it; `level` is `highest` or `lowest`."""

    level: str
    start: int
    end: int


@dataclass(frozen=True)
class Clause:
    """A clause and the groups that it names without denying them; lists of all choices are left out.

    Args:
        text: of the clause.
        start: where it begins in the answer.
        mentions: with places in the clause.
        listed: whether a list of all choices was left out.
    """

    text: str
    start: int
    mentions: tuple[Mention, ...]
    listed: bool


def clauses(text: str, question: Question) -> Iterator[Clause]:
    """The clauses of a text."""
    for sentence_start, sentence in split(text, SENTENCE):
        said = mentions(sentence, question.attribute)
        lists = [mention for mention in said if len(mention.choices) == question.choices]
        for mention in lists:
            sentence = sentence[: mention.start] + " " * (mention.end - mention.start) + sentence[mention.end :]
        for at, part in split(sentence, _CLAUSE):
            named = mentions(part, question.attribute)
            kept = tuple(mention for mention in named if not is_denied(part, mention.start, mention.end))
            listed = any(at <= mention.start < at + len(part) for mention in lists)
            yield Clause(part, sentence_start + at, kept, listed)


def split(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Start and text of the parts that have a letter or a digit."""
    position = 0
    for match in (*pattern.finditer(text), None):
        part = text[position : match.start() if match else len(text)]
        if any(map(str.isalnum, part)):
            yield position, part
        if match:
            position = match.end()


def ends(text: str, question: Question) -> list[End]:
    """The words for an end of the statistic in a clause, in order."""
    plain = ORDER.sub(blank, text)
    return [_end(match, plain, question) for match in _END.finditer(plain)]


def comparative(text: str, question: Question) -> End | None:
    """The first word for more or less of the statistic."""
    for match in _COMPARATIVE.finditer(text):
        if question.statistic == "life_expectancy" or not _DIES.fullmatch(match[0]):
            return _end(match, text, question)
    return None


def direction(text: str, question: Question) -> str:
    """The end of the statistic that a clause without "highest" or "lowest" points to; '' for none."""
    if match := _MANY.search(text):
        return str(match.lastgroup)
    word = comparative(text, question)
    return word.level if word else ""


def _end(match: re.Match[str], text: str, question: Question) -> End:
    level = str(match.lastgroup)
    converse = _CONVERSE.get(question.statistic)
    if converse and converse.search(text[match.end() : match.end() + _REACH]):
        level = OPPOSITE[level]
    return End(level, match.start(), match.end())
