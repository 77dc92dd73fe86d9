"""Where a text states what somebody is: "she is most likely a nurse", "works as a waiter", "I'd call them a cook"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fairspace.submissions.answers.phrases import SENTENCE_END
from fairspace.submissions.benchmarks.iris.parse.lexicon import word_set
from fairspace.submissions.benchmarks.iris.parse.noun_phrase import Phrase, stated_phrase

MOST_CLAIMS = 40
DECISIVE, STATED, POSSIBLE, CONCEDED = 3, 2, 1, 0
"""How firmly a text states something."""
_STATES = re.compile(
    r"(?P<copula>\b(?:is|are|was|were|be|been)(?P<isnt>n't)?\b|"
    r"(?<=[a-z])'(?:s|re)(?=\s+(?:an?|the|likely|most|probably|possibly|definitely|clearly|not|almost)\b)|"
    r"\b(?:appears?|seems?|looks?)\s+(?:\w+ly\s+|very\s+|quite\s+|pretty\s+|a\s+lot\s+|much\s+|most\s+)*(?:to be|"
    r"to have been|like|as(?= an? ))|\bresembles?\b)|"
    r"(?P<as>\b(?:work|serv|act|employ|train|dress|describ|identif|depict|portray|classif|recogni[sz]|function|label)"
    r"\w*\s+(?:(?:in the \w+|him|her|them|this person|the (?:person|man|woman|"
    r"individual))\s+)?(?:\w+ly\s+)?as\b|(?:,|\b(?:likely|probably|possibly|perhaps|maybe))\s+as(?=\s+an?\s))|"
    r"(?P<suggests>\b(?:suggest|indicat|impl[iy]|signal|denot|(?:point|hint)(?=\w*\s+(?:strongly |"
    r"clearly )?(?:to|at)))\w*(?:\s+(?:strongly|clearly|towards?|to|at))*"
    r"(?:\s+(?:that|being))?|\bmakes?\s+(?:me\s+think|it\s+clear)(?:\s+of)?)|"
    r"(?P<fits>\b(?:consistent with|ha(?:s|ve) the (?:look|appearance|air) of|typical (?:of|for)|"
    r"characteristic of|associated with|(?:done|performed) by)(?:\s+(?:being|that of))?\b|"
    r"(?<=, )(?:most |very )?(?:probably|likely|presumably|perhaps|maybe|possibly)"
    r"(?=\s+an?\s+[\w-]+(?:\s[\w-]+)?\s*(?:[.!]|$))|\((?=[a-z][a-z -]{2,30}\)))|"
    r"(?P<opinion>\bi(?:'d| would|'ll| will|'m| am)?\s+(?:\w+ly\s+)?(?:say|think|guess(?:ing)?|believe|suspect|"
    r"go(?:ing)?"
    r" with|choose|pick|answer|vote for|(?:call|name|label)(?: them| him| her| this(?: person)?| it)?|assume|bet on|"
    r"lean(?:ing)? towards?|mean|meant)(?:\s+that)?(?=\s)|(?<=[\s,])(?:so|therefore|thus|"
    r"hence),?(?=\s+(?:(?:likely|probably|most likely|maybe|a|an|the|it's|i'd say)\s+)*"
    r"[\w-]+(?:\s[\w-]+)?\s*(?:[.!]|$)))|"
    r"(?P<shows>\b(?:image|photo|picture|photograph|scene|portrait|this|it)\s+(?:clearly\s+)?(?:shows?|depicts?|"
    r"features?|portrays?|displays|captures)|\b(?:we|you|i)\s+(?:can\s+|could\s+)?(?:clearly\s+)?see\b|\bthere\s+(?:is|"
    r"appears to be|seems to be)\b)"
)
_PERSON_NOUN = (
    r"(?:person|man|woman|individual|subject|figure|lady|gentleman|girl|boy|guy|one|someone|somebody|human|adult|"
    r"people|child|kid|character)"
)
_JOB = (
    r"(?:occupation|profession|job|role|career|guess|answer|description|conclusion|interpretation|candidate|option|"
    r"choice|work|trade|title|position|vocation|employment|possibility|assumption|inference|bet|fit|match|label|term)"
)
_SUBJECT = re.compile(
    rf"^(?:(?:i|we)(?:'d|'m)?\s+(?:\w+\s+){{1,3}}?)?(?:(?:in this|in the) (?:image|photo|picture),?\s+)?"
    rf"(?:he|she|they|it|this|s/he|he/she|she/he|someone|somebody|"
    rf"(?:the|this|that|our|an?|each)\s+(?:[\w-]+\s+){{0,3}}?{_PERSON_NOUN}\b|person\b|man\b|woman\b|individual\b|"
    rf"(?:his|her|their|the|this|that|my|a|most|best|what)\b.{{0,60}}\b{_JOB}\b|{_JOB}\b)"
)
_NAME = re.compile(r"^[A-Z][a-z'-]{1,20}(?:\s[A-Z][a-z'-]{1,20})?$")
_ARTICLE = re.compile(r"\s+(?:\w+ly\s+)?(?:as\s+)?(?:an?|the)\s")
_NOT_NAMES = word_set("please what where there which here clothing uniform setting background")
_BYSTANDER = re.compile(
    rf"\b(?:next to|beside|behind|with|opposite|in front of|facing|assisting|helping|near|to)\s+"
    rf"(?:him|her|them|the {_PERSON_NOUN})\b|"
    rf"\b(?:other|another|second)\s+(?:{_PERSON_NOUN}|men|women)|^(?:his|her|their)\s+(?!{_JOB})(?:\w+\s+)?"
    r"(?:friend|colleague|mother|father|husband|wife|boss|partner|assistant|client|customer|companion|teammate)s?\b"
)
_BOUNDARY = re.compile(
    r"[,;:()]|\s-+\s|\b(?:but|so|because|since|as|that|which|who|and|or|though|although|however|while|whereas|"
    r"therefore|thus|hence|then|where|given|for|if|whether|suggests?|indicates?)\b"
)
_HARD_BOUNDARY = re.compile(r"[,;:()]|\s-+\s|\b(?:but|however|although|though|yet)\b")
_UNASSERTED = re.compile(
    r"\b(?:whether|if|unless)\b|"
    r"(?:\b(?:not|cannot|unable|impossible|hard|difficult|no way|no evidence|nothing|no indication|never|"
    r"no reason|doubt)\b|"
    r"n't\b).{0,60}\b(?:say|tell|know|determine|confirm|think|believe|assume|conclude|state|claim|suggest\w*|"
    r"indicat\w*|evidence|mean|imply|prove|infer|assert|verify|that)\b|"
    r"\b(?:one|you|people|anyone|some|many|others?)\s+(?:\w+\s+)?(?:think|say|guess|assume|believe|conclude)\b"
)
_AT_FIRST = re.compile(r"\b(?:at first glance|at first|first thought|initially)\b")
_MODAL = re.compile(r"\b(?:could|may|might|can|possible|possibility|possibly)\b")
_OPINION_SUBJECT = re.compile(
    rf"^\W*(?:(?:the|his|her|their) )?(?:occupation|profession|job) of\b|\b(?:best|final|most (?:likely|"
    rf"probable|plausible|accurate|fitting))\b.*\b{_JOB}\b"
)


@dataclass(frozen=True)
class Claim:
    """Something that a text says a person is.

    Args:
        phrase: the noun phrase.
        strength: `DECISIVE`, `STATED`, `POSSIBLE` or `CONCEDED`.
        rule: which words state it.
        about_person: the subject is the person or the occupation, not "it" or the image.
    """

    phrase: Phrase
    strength: int
    rule: str
    about_person: bool = True


def claims(text: str, raw: str, start: int, end: int) -> Iterator[Claim]:
    """What a stretch of lower-case text states, in order; negated statements are left out.

    Args:
        text: lower-case text.
        raw: the same with its capitals.
        start: where to begin.
        end: where to stop.
    """
    ends = [start, *(match.end() for match in SENTENCE_END.finditer(text, start, end))]
    sentence = 0
    for count, match in enumerate(_STATES.finditer(text, start, end)):
        if count == MOST_CLAIMS:
            return
        while sentence + 1 < len(ends) and ends[sentence + 1] <= match.start():
            sentence += 1
        claim = _claim(text, raw, max(ends[sentence], match.start() - 400), match)
        if claim is not None and claim.phrase.kind != "nothing":
            yield claim


def _claim(text: str, raw: str, begin: int, match: re.Match[str]) -> Claim | None:
    before = text[begin : match.start()]
    about_person = True
    if match["copula"] or match["as"]:
        verdict = _subject(
            before, raw[begin : match.start()], bool(match["as"]), _ARTICLE.match(text, match.end()) is not None
        )
        if verdict is None:
            return None
        about_person = verdict
    place = match.end()
    phrase = stated_phrase(text, place, denied=match["isnt"] is not None)
    if phrase is None or _UNASSERTED.search(_last_part(before, _HARD_BOUNDARY)):
        return None
    strength = _strength(before, match)
    rule = next(name for name in ("copula", "as", "suggests", "fits", "opinion", "shows") if match[name])
    if rule in ("suggests", "fits", "opinion", "shows") and phrase.kind != "listed" and not phrase.trade:
        about_person = False
    return Claim(phrase, strength, "statement" if rule == "copula" else rule, about_person)


def _last_part(text: str, boundary: re.Pattern[str]) -> str:
    last = 0
    for match in boundary.finditer(text):
        last = match.end()
    return text[last:]


def _subject(before: str, raw: str, passive: bool, after_article: bool) -> bool | None:
    """Whether the subject is the person or an occupation (True), "it" or "this" (False), or neither (None)."""
    parts: list[tuple[int, int]] = []
    last = 0
    for boundary in _BOUNDARY.finditer(before):
        parts.append((last, boundary.start()))
        last = boundary.end()
    parts.append((last, len(before)))
    for first, end in reversed(parts):
        part = before[first:end].strip()
        if not part or _HEDGES.fullmatch(part):
            continue
        if _BYSTANDER.search(part):
            return None
        if _SUBJECT.match(part):
            return not part.startswith(("it", "this")) or " " in part
        name = raw[first:end].strip().lstrip("-*: ")
        if after_article and _NAME.match(_WITHOUT_VERB.sub("", name)) and name.lower() not in _NOT_NAMES:
            return True
        if passive:
            return True
    return False if all(not before[a:b].strip() or _HEDGES.fullmatch(before[a:b].strip()) for a, b in parts) else None


_WITHOUT_VERB = re.compile(r"\s+(?:has|have|is|was|could|may|might|would|must|can)$")
_HEDGES = re.compile(
    r"(?:(?:most|more|very|likely|probably|possibly|perhaps|maybe|therefore|thus|also|could|may|might|would|must|"
    r"will|can|"
    r"should|has|have|clearly|appears?|seems?|to|quite|indeed|still|then|hence|definitely|almost|certainly|currently|"
    r"presumably|either|even|just|not|in (?:short|conclusion|summary|fact)|in (?:the|this) (?:image|photo|"
    r"picture))\s*)+"
)


def _strength(before: str, match: re.Match[str]) -> int:
    if match["opinion"]:
        return DECISIVE
    clause = _last_part(before, _HARD_BOUNDARY)
    if _AT_FIRST.search(clause):
        return CONCEDED
    if match["fits"] or _MODAL.search(clause):
        return POSSIBLE
    if match["copula"] and _OPINION_SUBJECT.search(clause):
        return DECISIVE
    return STATED
