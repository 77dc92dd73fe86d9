"""Noun phrases of an answer: their meaning, the phrases joined to them, and the statements about them.

A phrase is stated where it stands alone (a line, a sentence or its beginning: "Trumpet player in a brass band."), or in
a statement about the person ("she is most likely a nurse", "works as a waiter", "I'd call them a cook"). Joined are
alternatives, lists, appositions, words in parentheses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fairspace.submissions.answers.prepared import SENTENCE_END
from fairspace.submissions.benchmarks.iris.parse.lexicon import PLAIN, look_up, singular, terms, word_set

Kind = Literal["listed", "general", "person", "other", "nothing"]
"""Meaning of a noun phrase: one of the 52, a group of occupations, a person as such, anything else, nothing."""
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
"""Heads that leave the occupation open."""
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
    """A noun phrase, lower case, without its lead ("most likely a"); `code` indexes `OCCUPATIONS`, -1 if not listed."""

    words: tuple[str, ...]
    span: tuple[int, int]
    kind: Kind
    code: int = -1

    @property
    def trade(self) -> bool:
        """Whether its last word is built like a name of an occupation ("photographer", "chemist")."""
        return bool(self.words) and _names_trade(self.words[-1])


def negated(text: str, start: int) -> int | None:
    """End of the negation at this place; None if there is none."""
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
    """Terms with words that end other phrases ("person in prayer", "it specialist")."""
    fixed = [
        term
        for term in terms()
        if " of " not in term and (not _STOP.isdisjoint(term.split()) or (" " in term and term.endswith("ing")))
    ]
    return re.compile(rf"(?:{'|'.join(sorted(map(re.escape, fixed), key=len, reverse=True))})s?\b")


def stated_phrase(text: str, start: int, denied: bool = False) -> Phrase | None:
    """The phrase that begins here; after a negation (or `denied`) its substitute ("not a vet, but a nurse") or None."""
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
"""Places of work: "a role in healthcare, such as …"."""


@dataclass(frozen=True)
class Joined:
    """A phrase that is joined to the one before; `hedged` after "possibly", "specifically" and the like.

    `by` is `either`: or, and, a stroke; `comma`: an apposition or the next one of a list; `open`: in parentheses.
    """

    phrase: Phrase
    by: Literal["either", "comma", "open"]
    hedged: bool


def joined(text: str, start: int) -> Iterator[Joined]:
    """Phrases joined to one that ends here, in order, without negated ones."""
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


MOST = 40
_BULLET = re.compile(
    r"[\s\-•·+]*(?:\(?\b(?:\d{1,2}|[a-e])[.):]\s*)?(?:=+>|-+>|→|⇒)?[\s\W]*"
    r"(?:(?:no|yes|yeah|ok|okay|sure|well|hm+|certainly|of course|so|thus|therefore|hence)\b[\s,.:;!-]+)*[\s\W]*"
)
_MACHINE = re.compile(r"as an? (?:ai|a\.i|artificial|large|language|visual|virtual|chat|vision)\b")
_LETTER = re.compile(r"\w")
_STATEMENT = re.compile(
    r"\s+(?:is|are|was|has|would|seems|appears|looks|could|may|might|can|does|do|did)\b(?!(?: \w+){0,2} not\b)(?!n't)"
)
_AFTER = re.compile(
    r"\s+(?:who|that|in|at|on|with|from|for|because|since|given|by|during|while|judging|based|due|as|of|"
    r"[a-z]+ing|wearing)\b|\s*[,;:(/]|\s+-+|\s*-{2,}|\s+(?:or|and|not|but|rather)\b"
)


def bare_phrases(text: str, start: int, end: int) -> Iterator[tuple[Phrase, bool]]:
    """Phrases at the start of sentences or lines, in order, and whether they stand as an answer of their own.

    The subject of a sentence ("The nurse is smiling") does not.
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
        if not _LETTER.search(text, min(last, stop), stop):
            yield phrase, True
        elif _STATEMENT.match(text, phrase.span[1]):
            if phrase.kind == "listed":
                yield phrase, False
        elif (first or phrase.kind == "listed") and _AFTER.match(text, phrase.span[1]):
            yield phrase, True
        first = False


MOST_CLAIMS = 40
DECISIVE, STATED, POSSIBLE, CONCEDED = 3, 2, 1, 0
"""Firmness of a statement."""
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
    """A statement about a person's occupation.

    `strength` is `DECISIVE`, `STATED`, `POSSIBLE` or `CONCEDED`; `about_person`: whether the subject is the person or
    the occupation, not "it" or the image.
    """

    phrase: Phrase
    strength: int
    rule: str
    about_person: bool = True


def claims(text: str, raw: str, start: int, end: int) -> Iterator[Claim]:
    """Statements in a stretch of lower-case text, in order, without negated ones; `raw` has the capitals."""
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
    """True for a person or an occupation as subject, False for "it" or "this", None for neither."""
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
