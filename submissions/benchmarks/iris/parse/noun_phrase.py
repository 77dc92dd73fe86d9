"""Noun phrases: where one begins and ends, what it names, and which others are joined to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fairspace.submissions.benchmarks.iris.parse.lexicon import PLAIN, look_up, singular, terms, word_set

Kind = Literal["listed", "general", "person", "other", "nothing"]
"""What a noun phrase names: one of the 52; a group of occupations; a person as such; anything else; nothing at all."""
MOST_ITEMS, MOST_WORDS, LONGEST_WORD = 12, 9, 30
_LEAD = re.compile(
    r"(?:[ \-]*(?:\b(?:a|an|the|some|one|another|her|his|their|most|more|very|quite|highly|likely|probably|possibly|"
    r"perhaps|maybe|presumably|apparently|seemingly|evidently|clearly|certainly|definitely|almost|indeed|actually|"
    r"currently|simply|just|also|either|both|even|still|now|rather|instead|in fact|no doubt|to be|being|be|as|"
    r"what (?:appears|seems) to be|what looks like|that of|those of|called|named|known as|employed as|"
    r"(?:some |a |another |one )?(?:kind|type|sort|form) of|potentially|arguably|generally|typically|"
    r"first and foremost|"
    r"specifically|more specifically|(?:more|most) (?:precisely|exactly|accurately)|to be (?:more )?(?:precise|exact|"
    r"specific)|in other words|namely|e\.g\.|i\.e\.|such as|for example|including|at least|surely|plausibly|"
    r"someone who is|somebody who is|a person who is|person who is|who is|working as|best described as|"
    r"categorized as|classified as|something like)\b(?!['-]\w)|[\"'\[(<:=~]))*[ \-]*",
)
_NEGATED = re.compile(
    r"[\s,;\-]*\b(?:and |but |so |likely |probably |certainly |definitely |clearly |necessarily )*"
    r"(?:not|neither|never|nor|rather than|instead of|unlike|as opposed to|hardly|no longer|unlikely to be|"
    r"other than)\b"
)
_WORD = re.compile(r"(?:[ _]{1,3}|-)?([^\W_]+(?:'[^\W_]+)?)")
_STOP = word_set(
    "who that which whose whom where when while as in at on with from for because since given by during after "
    "before under near behind next to and or but nor so although though based judging due wearing into onto "
    "over through is are was were be been being has have had can could may might would will shall should must "
    "does do did appears appear seems seem looks look works work stands stand sits sit holds hold wears wear "
    "he she they it i we you there here than if whether rather instead not if about until unless per via "
    "within without around along across against between among inside outside out up down off dressed seen "
    "shown standing sitting holding known like however therefore then also too well plays play riding using "
    "captured engaged preparing performing posing giving taking making conducting possibly probably perhaps "
    "likely maybe specifically particularly especially employed named called responsible tasked seated "
    "surrounded specializing specialising right now currently today again alone herself himself themselves of"
)
_GERUNDS = word_set("nursing performing recording praying climbing manufacturing building engineering")
_ARTICLES = word_set("a an the his her their its this these those some my your our")
_PERSON = word_set(
    "person man woman boy girl lady gentleman guy individual human adult child teenager teen someone somebody "
    "figure subject people male female one youth kid baby couple group member character parent mother father "
    "friend customer client thing image photo picture photograph portrait scene view close-up shot role "
    "occupation profession job career field answer setting uniform outfit hat coat background question option "
    "choice fact way place hint clue sign indication indicator description example part result kind type sort "
    "variety number lot pair use work time moment case guess possibility conclusion"
)
_GENERAL = word_set(
    "musician athlete sportsperson sportsman sportswoman sportspeople player performer entertainer "
    "professional practitioner specialist expert employee staff worker tradesperson tradesman tradeswoman "
    "craftsperson artist instrumentalist competitor participant enthusiast traveler traveller adventurer "
    "responder personnel hobbyist team fan provider star celebrity operator technician contractor creative "
    "talent hero personality caregiver owner mother father parent wife husband family"
)
"""Heads that leave open which occupation it is."""
_TRADES = re.compile(
    r"(?:er|or|ist|ian|man|woman|person|ant|ent|ress|eer|ier|yst|ster|(?:lock|gun)smith|maid|chef|cook|pilot|"
    r"monk|nun|coach|guide|"
    r"host|aide|clerk|agent|model|king|queen|spy|thief|vet|priest|bishop|imam|rabbi|ceo|mechanic|midwife|barista|"
    r"architect|diplomat|nanny|cadet|apprentice|intern|captain|general|colonel|sergeant|scout|cleric|nomad)$"
)
_NOT_TRADES = word_set(
    "other never consistent however over under whether another together member person paper water "
    "environment equipment moment "
    "statement department restaurant giant counter poster letter center computer order number matter manner character "
    "corner container layer helicopter weather leather flower tower power shower summer winter door floor color "
    "colour mirror interior exterior motor sensor monitor error indoor outdoor decor corridor sector factor list "
    "waist wrist plant pant element document instrument garment talent event content tent elegant important relevant "
    "significant different excellent apparent evident beer deer career pier asian caucasian indian italian brazilian "
    "russian egyptian canadian australian persian young older younger taller similar"
)


@dataclass(frozen=True)
class Phrase:
    """A noun phrase.

    Args:
        words: lower case, without what leads to it ("most likely a").
        span: (start, end) of the words.
        kind: what it names.
        code: index into `OCCUPATIONS` of a listed one, else -1.
    """

    words: tuple[str, ...]
    span: tuple[int, int]
    kind: Kind
    code: int = -1

    @property
    def trade(self) -> bool:
        """Whether its last word is built as names of occupations are ("photographer", "chemist")."""
        return bool(self.words) and _names_trade(self.words[-1])


def negated(text: str, start: int) -> int | None:
    """Where a negation at this place ends; None if there is none."""
    match = _NEGATED.match(text, start)
    return match.end() if match else None


def read_phrase(text: str, start: int) -> Phrase:
    """The noun phrase that begins here, at most to the next punctuation, verb or preposition."""
    lead = _LEAD.match(text, start)
    begin = position = lead.end() if lead else start
    if (fixed := _fixed_terms().match(text, begin)) and (code := look_up(fixed[0].split())) is not None:
        return Phrase(tuple(fixed[0].split()), fixed.span(), "listed", code)
    words: list[str] = []
    ends: list[int] = []
    while len(words) < MOST_WORDS and (match := _WORD.match(text, position)):
        word = match[1]
        if word in _STOP or len(word) > LONGEST_WORD or (words and word in _ARTICLES):
            break
        verb_may_begin = words and (words[-1] in _PERSON or not PLAIN.issuperset(words))
        if word.endswith("ing") and word not in _GERUNDS and verb_may_begin:
            break
        words.append(word)
        ends.append(match.end())
        position = match.end()
    return _joined_by_of(text, begin, words, ends)


def _joined_by_of(text: str, begin: int, words: list[str], ends: list[int]) -> Phrase:
    """The phrase, with "of …" where its head needs it ("member of the police force", "owner of a shop")."""
    end = ends[-1] if ends else begin
    code = look_up(words)
    if code is not None:
        return Phrase(tuple(words), (begin, end), "listed", code)
    following = _OF.match(text, end) if words and words[-1] in _HEADS else None
    if following:
        longer = [*words, "of"]
        position = following.end()
        last = None
        while len(longer) < MOST_WORDS + 3 and (match := _WORD.match(text, position)) and match[1] not in _STOP:
            longer.append(match[1])
            position = match.end()
            if (code := look_up(longer)) is not None:
                last = (tuple(longer), position, code)
        if last:
            return Phrase(last[0], (begin, last[1]), "listed", last[2])
    return Phrase(tuple(words), (begin, end), _kind(words))


_OF = re.compile(r"\s+of\s+(?:(?:a|an|the|his|her|their|some|this|that)\s+)?")
_HEADS = word_set("member owner player officer rider operator user doctor staff part")


def _kind(words: list[str]) -> Kind:
    if not words or (len(words) == 1 and words[0].endswith("ing")):
        return "nothing"
    head = singular(words[-1])
    if head in _GENERAL:
        return "general"
    if head in _PERSON:
        return "person"
    return "other"


def _names_trade(word: str) -> bool:
    word = singular(word)
    return word not in _NOT_TRADES and word not in _GENERAL and _TRADES.search(word) is not None


@lru_cache
def _fixed_terms() -> re.Pattern[str]:
    """The terms that hold words at which other phrases end ("person in prayer", "it specialist")."""
    fixed = [
        term
        for term in terms()
        if " of " not in term and (not _STOP.isdisjoint(term.split()) or (" " in term and term.endswith("ing")))
    ]
    return re.compile(rf"(?:{'|'.join(sorted(map(re.escape, fixed), key=len, reverse=True))})s?\b")


def stated_phrase(text: str, start: int, denied: bool = False) -> Phrase | None:
    """The phrase that begins here; after a negation what is stated in its place ("not a vet, but a nurse"), else None.

    Args:
        text: lower-case text.
        start: where it begins.
        denied: a negation stands before.
    """
    negation = negated(text, start)
    phrase = read_phrase(text, start if negation is None else negation)
    if negation is None and not denied:
        return phrase
    for _ in range(MOST_ITEMS):
        if match := _BUT.match(text, phrase.span[1]):
            return None if negated(text, match.end()) is not None else read_phrase(text, match.end())
        following = _CAN_FOLLOW.match(text, phrase.span[1])
        if not following:
            return None
        phrase = read_phrase(text, following.end())
    return None


_BUT = re.compile(r"\s*,?\s*but\s+(?:rather\s+|instead\s+|is\s+|are\s+|as\s+|more likely\s+|probably\s+|actually\s+)*")
_CAN_FOLLOW = re.compile(r"\s*[,;]?\s*(?:or|nor|and)\b")
