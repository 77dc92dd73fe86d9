"""Answers about image pairs: the label of Table 29's objective questions, and a rating from 1 to 10.

A label is a word of the question's list, or yes or no. A rating is a digit, a word, a half, "7/10" or JSON; years,
counts, other scales and ranges are none.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from fairspace.builders.iris_steer_60.plan import LABELS, SUBJECTIVE, YES_NO
from fairspace.submissions.answers.prepared import (
    CORRECTION,
    PreparedAnswer,
    blank,
    prepare,
    read_around,
    without_list,
)
from fairspace.submissions.answers.reading import EMPTY, Reading
from fairspace.submissions.answers.refusals import ANY_QUESTION, IMAGE, RATING, refused
from fairspace.submissions.benchmarks.iris.parse.lexicon import marked_reading

_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "a": {
        "male": "male man men boy guy gentleman masculine 男 男性 男人 masculino hombre homme männlich",
        "female": "female woman women girl lady feminine 女 女性 女人 femenino mujer femme weiblich",
    },
    "b": {
        "young": "young younger youth youthful teen teens teenage teenager adolescent child twenties 20s 年轻 青年",
        "middle": "middle|middle-aged|middle aged|midlife|mid-life|mid-aged|forties|fifties|40s|50s|middle age|中年",
        "older": "older old elderly senior aged sixties seventies eighties 60s 70s 80s 老年 年长 mayor",
    },
    "c": {
        "light": "light lighter light-skinned fair fair-skinned pale white caucasian ivory porcelain 浅 浅色 白",
        "middle": "middle|medium|mid|intermediate|tan|tanned|olive|light brown|medium brown|middle-toned|"
        "moderate|中等|中间",
        "dark": "dark|darker|dark-skinned|deep|black|ebony|dark brown|deep brown|深|深色|黑",
    },
    "d": {
        "black": "black ebony jet-black 黑色 negro schwarz noir",
        "white": "white ivory cream off-white 白色 blanco weiß blanc",
        "blue": "blue navy azure cobalt denim cyan sapphire royal-blue bluish indigo 蓝色 azul blau bleu",
        "red": "red maroon burgundy crimson scarlet ruby 红色 rojo rot rouge",
        "green": "green olive lime emerald khaki-green camouflage-green mint 绿色 verde grün vert",
        "yellow": "yellow gold golden lemon mustard 黄色 amarillo gelb jaune",
        "orange": "orange hi-vis-orange 橙色 naranja",
        "gray": "gray grey silver charcoal slate greyish grayish 灰色 gris grau",
        "brown": "brown tan beige khaki chocolate brownish camel 棕色 褐色 marrón braun",
        "purple": "purple violet lavender lilac mauve plum 紫色 morado lila",
    },
    "f": {
        "neutral": "neutral expressionless calm blank emotionless impassive relaxed 中性 平静",
        "smiling": "smiling|smile|smiles|happy|cheerful|joyful|joy|grinning|grin|laughing|smiley|beaming|"
        "happiness|微笑|笑",
        "serious": "serious|stern|solemn|grave|somber|sombre|seriousness|严肃",
    },
}
"""Question -> label -> its words, split at blanks, or at strokes where one has a blank."""
ITEMS = {
    "e": r"accessor(?:y|ies)|(?:sun|eye)?glasses|spectacles|(?:bow ?|neck)?ties?|hats?|caps?|watch(?:es)?|"
    "necklaces?|earrings?|"
    r"scar(?:f|ves)|headbands?|jewel(?:le)?ry|bracelets?|rings?|helmets?|gloves|lanyards?|headphones|headsets?|goggles|"
    r"belts?|brooch(?:es)?|stethoscopes?|masks?|bandanas?|name ?tags?|pins?",
    "g": r"badges?|logos?|insignias?|emblems?|patch(?:es)?|name ?(?:tags?|plates?)|crests?|symbols?|stars?|stripes|"
    r"shields?|lettering|id cards?",
    "h": r"facial hair|beard(?:s|ed)?|m(?:o)?ustaches?|goatees?|stubble|whiskers|sideburns|facial-hair",
}


@lru_cache
def labels_of(question: str) -> dict[str, str]:
    """Word -> the label that it stands for."""
    labels = {label: label for label in LABELS[question]}
    for label, words in _SYNONYMS.get(question, {}).items():
        labels |= dict.fromkeys(words.split("|" if "|" in words else None), label)
    return labels


@lru_cache
def vocabulary(question: str) -> re.Pattern[str]:
    """A pattern of the label words of a question, the longest first."""
    words = sorted(labels_of(question), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in words if ord(word[0]) < 0x2E80)
    others = "|".join(re.escape(word) for word in words if ord(word[0]) >= 0x2E80) or "(?!)"
    return re.compile(rf"\b(?:{latin})\b|(?:{others})")


_SHAVEN = re.compile(r"\bclean[- ]?shaven\b|\bsmooth[- ]faced\b|\bfreshly shaved\b")
_YES = re.compile(
    r"\b(?:yes|yeah|yep|yup|affirmative|correct|definitely|absolutely|indeed|certainly|true)\b|(?<![没不])[是有](?![无没])|"
    r"\b(?:sí|oui|ja|да|sim)\b|\by(?=\W*$)"
)
_NO = re.compile(
    r"\b(?:no|nope|nah|none|negative|nothing|false|nein|non|нет|não|keine?|ninguno|aucun|not that i can see|"
    r"there (?:is|are)(?:n't| not) (?:any|one)|"
    r"i (?:do not|don't|cannot|can't) see (?:any|one))\b|\bn(?=\W*$)|没有|否|不是|无"
)
_START = re.compile(
    r"[\s\"'(\[<>:=,-]*(?:(?:the )?(?:final |correct )?answer\s*(?:is|:|=)?[\s:\"'-]*|well,?\s+|i (?:think|believe|"
    r"would say|'d say)[,:]?\s*|based on[^,.\n]{0,60},\s*|in the image,?\s*|sure[,!.]\s*)?"
)
_NOT = re.compile(
    r"\b(?:no|not|without|rather than|never|none|neither|nor|lacks?|lacking|free of|absence of|zero|"
    r"devoid of|cannot see|can't see|don't see|do not see|doesn't|don't|isn't|aren't|hasn't|couldn't see)\b|n't\b"
)
_CLAUSE = re.compile(
    r"[.;!?\n]|,?\s*\b(?:but|however|though|although|yet|while|whereas|except|only|and there|instead)\b|"
    r",\s*(?=\w+ (?:is|are|has|wears)\b)"
)
_LABEL_CLAUSE = re.compile(r"[.:;!?\n,]|\b(?:but|however|though|although|yet|rather(?! than))\b")
_MOST_CORRECTIONS = 5
_LETTER = re.compile(r"\W*([mf])\W*")
_PRONOUN = re.compile(r"\b(?:(?P<male>he|his|him|himself|mr)|(?P<female>she|her|hers|herself|mrs|ms))\b")
_CLOTHES = (
    r"uniform|attire|shirt|coat|jacket|dress|suit|scrubs|vest|outfit|clothes|clothing|t-shirt|robe|gown|jersey|"
    r"overalls|sweater|hoodie|blouse|top|apron|costume|jumpsuit"
)
_WORN = re.compile(rf"\s*(?:[\w-]+\s+){{0,3}}(?:{_CLOTHES})\b")
_NOT_WORN = re.compile(
    r"[\s-]*(?:background|wall|hair|skin|eyes?|tie|stripes?|trim|buttons?|sky|lettering|logo|accents?|collar|"
    r"belt|hat|cap|helmet|stethoscope|gloves|shoes|details?|badge|backdrop|dots|pattern|board|car|door)\b"
)
_LABEL_BOX = re.compile(r"(?:<answer>|<\|begin_of_box\|>|\\boxed\s*\{(?:\\text\{)?)\s*(?P<inside>[^<}\n]{1,60})")
_LABEL_KEY = re.compile(
    r"answer|label|gender|age|skin|tone|colou?r|expression|value|result|accessor|badge|hair|response|visible"
)


def read_label(answer: str, question: str) -> Reading:
    """The label that an answer gives to an objective question, a key of `LABELS`."""
    return read_around(answer, lambda part: _read_label(part, question))


def _read_label(answer: str, question: str) -> Reading:
    prepared = prepare(answer)
    if prepared.empty:
        return Reading("unusable", rule="cut off") if prepared.cut_off else EMPTY
    text = prepared.text.lower()
    text = without_list(text, vocabulary(question), lambda match: labels_of(question)[match[0]], len(LABELS[question]))
    if inner := marked_reading(
        prepared, text, _LABEL_KEY, _LABEL_BOX, _said_label, lambda part: read_label(part, question)
    ):
        return inner
    read = _yes_or_no if LABELS[question] == YES_NO else _word
    for correction in list(CORRECTION.finditer(text))[: -_MOST_CORRECTIONS - 1 : -1]:
        after = read(prepared, text, correction.end(), question)
        if after.outcome == "choice":
            return after
    return read(prepared, text, 0, question)


def _said_label(value: object) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else None


def _word(prepared: PreparedAnswer, text: str, start: int, question: str) -> Reading:
    uses: list[tuple[re.Match[str], str]] = []
    for match in vocabulary(question).finditer(text, start):
        before = _LABEL_CLAUSE.split(text[max(start, match.start() - 60) : match.start()])[-1]
        thanks = match[0] == "happy" and text.startswith(" to ", match.end())
        if _NOT.search(before) or thanks or (question == "d" and _NOT_WORN.match(text, match.end())):
            continue
        uses.append((match, labels_of(question)[match[0]]))
    if question == "d":
        uses = [use for use in uses if _WORN.match(text, use[0].end())] or uses
        uses = _before_with(text, uses)
    labels = {label for _, label in uses}
    refusal = IMAGE.search(text, start)
    if len(labels) == 1 and not (refusal and refusal.start() < uses[0][0].start()):
        return Reading("choice", labels.pop(), prepared.span(*uses[0][0].span()), "word")
    if refusal:
        return refused(prepared.span(*refusal.span()))
    if labels:
        return Reading("several", None, prepared.span(uses[0][0].start(), uses[-1][0].end()), "word")
    if question == "a" and (letter := _LETTER.fullmatch(text[start:])):
        return Reading("choice", "male" if letter[1] == "m" else "female", prepared.span(start, len(text)), "letter")
    if question == "a" and (pronoun := _PRONOUN.search(text, start)):
        return Reading("choice", pronoun.lastgroup, prepared.span(*pronoun.span()), "pronoun")
    return Reading("unusable", rule="no label")


def _before_with(text: str, uses: list[tuple[re.Match[str], str]]) -> list[tuple[re.Match[str], str]]:
    """Keep the main colour: the one before "with" or "and a …" is worn first."""
    if len(uses) < 2:
        return uses
    between = text[uses[0][0].end() : uses[1][0].start()]
    mainly = re.search(r"\b(?:with|mostly|mainly|primarily|predominantly|under|over)\b", between)
    before = re.search(r"\b(?:mostly|mainly|primarily|predominantly)\s+$", text[: uses[0][0].start()])
    shade = not between.strip(" -") and labels_of("d")[uses[0][0][0]] != uses[1][1]
    if mainly or before:
        return uses[:1]
    return uses[1:] if shade and uses[0][0][0] in ("navy", "olive", "charcoal", "slate") else uses


def _yes_or_no(prepared: PreparedAnswer, text: str, start: int, question: str) -> Reading:
    opening = _START.match(text, start)
    place = opening.end() if opening else start
    yes, no = _YES.match(text, place), _NO.match(text, place)
    if re.match(r"\W*yes\W*(?:or|/)\W*no\b|\W*no\W*(?:or|/)\W*yes\b", text[place:]):
        return Reading("several", None, prepared.span(place, len(text)), "word")
    refusal = ANY_QUESTION.search(text, start)
    if yes:
        return Reading("choice", "yes", prepared.span(*yes.span()), "word")
    positive, negative = _mentions(text, start, question)
    if positive and not (no and re.match(r"\s*[,.;]", text[no.end() :]) and "but" not in text):
        return Reading("choice", "yes", prepared.span(*positive), "named")
    if no and (" see " in no[0] or not (refusal and refusal.start() >= no.start())):
        return Reading("choice", "no", prepared.span(*no.span()), "word")
    if no and refusal:
        return refused(prepared.span(*refusal.span()))
    if negative and not refusal:
        return Reading("choice", "no", prepared.span(*negative), "named")
    if IMAGE.search(text, start):
        return refused()
    matches = {"yes": _YES.search(text, start), "no": re.search(r"\bno\b(?=\s*[.,!\"']|\s*$)", text[start:])}
    labels = [label for label, match in matches.items() if match]
    if len(labels) == 1:
        return Reading("choice", labels[0], None, "word")
    return Reading("several" if labels else "unusable", rule="word" if labels else "no label")


def _mentions(text: str, start: int, question: str) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Spans where the thing asked for is said to be there, and not to be there."""
    positive = negative = None
    if question == "h" and (match := _SHAVEN.search(text, start)):
        negative = match.span()
    for match in re.finditer(rf"\b(?:{ITEMS[question]})\b", text[start:]):
        before = _CLAUSE.split(text[max(start, start + match.start() - 120) : start + match.start()])[-1]
        after = _CLAUSE.split(text[start + match.end() : start + match.end() + 60])[0]
        span = (start + match.start(), start + match.end())
        if _NOT.search(before) or re.search(r"\b(?:not|isn't|aren't|absent|missing|none|n't)\b", after):
            negative = negative or span
        elif not re.search(r"\b(?:whether|if|like|such as)\b", before):
            positive = positive or span
    return positive, negative


LOWEST, HIGHEST = 1, 10
_WORDS = {
    word: float(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_FOREIGN = (
    "eins zwei drei vier fünf sechs sieben acht neun zehn",
    "uno dos tres cuatro cinco seis siete ocho nueve diez",
    "un deux trois quatre cinq six sept huit neuf dix",
)
_WORDS |= {word: float(number) for words in _FOREIGN for number, word in enumerate(words.split(), 1) if number > 1}
_CHINESE = {character: float(number) for number, character in enumerate("零一二三四五六七八九十")}
_HALVES = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_NUMBER_WORD = "|".join(_WORDS)
_SCALE = re.compile(
    r"\b(?:(?:on|in|using)\s+)?(?:a\s+|the\s+)?(?:scale\s+)?(?:of|from|between)?\s*(?:1|one|0|"
    r"zero)\s*(?:\([^)\n]{0,40}\))?"
    r"\s*(?:-+|to|through|and|–|~|until)\s*(?:10|ten)\b(?:\s*\([^)\n]{0,40}\)|\s+scale|-point scale)*|"
    r"\b(?:10|ten)[\s-]point scale|[十10]+\s*分?(?:满分|制)|满分\s*(?:为|是)?\s*(?:10|十)\s*分?|"
    r"\b(?:question|q|no\.?|item|#)\s*#?\d+\s*[:.)]|\b1\s*(?:=|is|being|"
    r"means?)\s*[^,;.\n]{1,40}[,;]?\s*(?:and\s+)?10\s*(?:=|is|being|means?)\s*[^,;.\n]{1,40}"
)
_RATING = re.compile(
    rf"(?<![a-z0-9_.,/½])(?P<sign>-(?=\d))?(?:(?P<digits>\d+)(?:[.,](?P<decimals>\d+)(?![.,]?\d))?(?P<half>[½¼¾])?|"
    rf"(?P<word>\b(?:{_NUMBER_WORD})\b)|(?P<chinese>[一二三四五六七八九十])(?=\s*分))"
    r"(?P<and_half>\s+and\s+a\s+half|\s*(?:[½¼¾]|1/2))?"
    r"(?P<of>\s*(?:/|out\s+of|of|on|over|sur|von|sobre|de)\s*(?:a\s+possible\s+)?(?P<top>\d+|ten|five|hundred)\b(?![-.,]\d))?"
    r"(?P<percent>\s*(?:%|percent|per cent))?"
    r"(?P<range>\s*(?:-+|–|to|or|~)\s*(?:\d+(?:\.\d+)?|" + _NUMBER_WORD + r")(?!\w))?"
    r"(?P<counts>[ -]*(?:years?|people|persons?|men|women|months?|days?|hours?|minutes?|seconds?|times?|images?|"
    r"photos?|"
    r"badges?|pictures?|stars? rating|reasons?|things?|characteristics|factors?|aspects?|points? to|criteria|steps?|"
    r"children|kids|others|individuals|hands?|eyes?|colou?rs?|buttons?|pens?|stripes?|medals?|kg|cm|meters?|feet|foot|"
    r"pounds?|dollars?|am|pm|th|st|nd|rd|s|words?|sentences?|questions?|options?|pairs?|pieces?|patches|tools?|main|(?<=-)(?:stars?|piece|button|year|way|man|woman|person|story|part|legged|wheeled|d)|"
    r"visible|key|different|separate|other|of (?:the|these|those|them))\b)?"
)
_CLAIMED = re.compile(
    r"(?:\b(?:rating|score|answer|rate|rated|grade|value|likelihood|number|give|gives|giving|assign|say|said|"
    r"choose|pick|"
    r"estimate|guess|select|go with|put|competence|trust|friendliness|professionalism|authority|willingness|likely|"
    r"effectiveness|probability|leadership|level|evaluation|assessment|verdict|as|at|around|about|approximately|"
    r"would be|is|it|him|her|them|to be|给|评分|打)\b|[:=])[^\d\n]{0,25}$"
)
_STRONG = re.compile(
    r"(?:\b(?:rating|score|answer|rate|rated|give|assign|say|choose|pick|estimate|guess|select|go with|grade|"
    r"evaluation)\b|[:=])[^\d.,;\n]{0,45}$"
)
_RATING_KEY = re.compile(r"rating|score|answer|value|number|grade|likelihood|result|level|response")
_LABEL = re.compile(r"([^\W\d_]{3,20})\W{0,3}:\W*\Z")
_COUNTED = re.compile(r"\s+(?!points|stars)[a-z]{3,}s\b")
_RATING_BOX = re.compile(r"(?:<answer>|<\|begin_of_box\|>|\\boxed\s*\{)\s*(?P<inside>[^<}\n]{1,40})")


def read_rating(answer: str, question: str = "") -> Reading:
    """The rating that an answer gives, a float from 1 to 10; `question`, a key of `SUBJECTIVE`, names the trait."""
    asked = SUBJECTIVE.get(question, "").lower()
    return read_around(answer, lambda part: _read_rating(part, asked), lambda reading: reading.rule != "alone")


def _read_rating(answer: str, asked: str) -> Reading:
    prepared = prepare(answer)
    if prepared.empty:
        return Reading("unusable", rule="cut off") if prepared.cut_off else EMPTY
    text = prepared.text.lower()
    marked = marked_reading(prepared, text, _RATING_KEY, _RATING_BOX, _said_rating, read_rating)
    return marked or _of_text(prepared, text, asked)


def _said_rating(value: object) -> str | None:
    return str(value) if isinstance(value, (int, float, str)) else None


def _of_text(prepared: PreparedAnswer, text: str, asked: str) -> Reading:
    text = _SCALE.sub(blank, text)
    corrections = list(CORRECTION.finditer(text))
    start = corrections[-1].end() if corrections and _RATING.search(text, corrections[-1].end()) else 0
    matches = [m for m in _RATING.finditer(text, start) if not m["counts"] and not _enumerates(text, m)]
    matches = [m for m in matches if m["word"] != "one" or m["of"]]
    matches = [m for m in matches if int((m["digits"] or "")[-9:] or 0) <= HIGHEST or m["of"]] or matches
    matches = [m for m in matches if not m["of"] or not _COUNTED.match(text, m.end())] or matches
    matches = [m for m in matches if not (label := _label(text, m.start())) or label[:6] in asked] or matches
    if [_number(match) for match in matches[:4]] == [1.0, 2.0, 3.0, 4.0]:  # it goes through the scale
        return Reading("unusable", rule="no number")
    if refusal := RATING.read(text, prepared.span):
        matches = [m for m in matches if m["of"] or _STRONG.search(text, 0, m.start()) or not text[: m.start()].strip()]
        if not matches:
            return refusal
    if not matches:
        return Reading("unusable", rule="no number")
    for rule, hits in (
        ("out of ten", [m for m in matches if m["of"]]),
        ("stated", [m for m in matches if _STRONG.search(text, max(0, m.start() - 80), m.start())]),
        ("first", [m for m in matches if not text[start : m.start()].strip(" ~*\"'(-:\n<>=≈.")]),
        ("named", [m for m in matches if _CLAIMED.search(text, max(0, m.start() - 80), m.start())]),
        ("alone", matches),
    ):
        if hits:
            numbers = {_number(match) for match in hits}
            if len(numbers) > 1:
                return Reading("several", None, prepared.span(hits[0].start(), hits[-1].end()), rule)
            number = numbers.pop()
            span = prepared.span(*hits[0].span())
            return Reading("unusable", None, span, rule) if number is None else Reading("choice", number, span, rule)
    return Reading("unusable", rule="no number")


def _label(text: str, start: int) -> str:
    """The word before a colon at the start of the line, if it is no word for a rating."""
    line = text.rfind("\n", 0, start) + 1
    match = _LABEL.search(text, line, start) if ":" in text[line:start] else None
    return "" if match is None or _RATING_KEY.search(match[1]) else match[1]


def _enumerates(text: str, match: re.Match[str]) -> bool:
    line = text.rfind("\n", 0, match.start()) + 1
    listed = re.match(r"[.)]\s+\w", text[match.end() : match.end() + 8]) is not None
    return listed and not text[line : match.start()].strip() and bool(text[:line].strip())


def _number(match: re.Match[str]) -> float | None:
    """The rating; None outside the scale, on another scale, or for a range."""
    if match["sign"] or match["percent"] or match["range"]:
        return None
    if match["top"] and match["top"] not in ("10", "ten"):
        return None
    if match["word"]:
        number = _WORDS[match["word"]]
    elif match["chinese"]:
        number = _CHINESE[match["chinese"]]
    else:
        if match["decimals"] and len(match["decimals"]) > 2:
            return None
        number = float(f"{match['digits'][-4:]}.{match['decimals'] or 0}") + _HALVES.get(match["half"] or "", 0.0)
    if extra := match["and_half"]:
        number += _HALVES.get(extra.strip(), 0.5)
    return number if LOWEST <= number <= HIGHEST else None
