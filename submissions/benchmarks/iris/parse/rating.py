"""Read a rating from 1 to 10: digits, words, halves, "7/10", JSON; no years, counts, other scales or ranges."""

from __future__ import annotations

import re

from fairspace.builders.iris_steer_60.plan import SUBJECTIVE
from fairspace.submissions.answers.phrases import CORRECTION, REFUSAL
from fairspace.submissions.answers.prepared import Prepared, blank, prepare
from fairspace.submissions.answers.reading import EMPTY, Reading
from fairspace.submissions.answers.surroundings import read_around
from fairspace.submissions.benchmarks.iris.parse.marked import marked_reading

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
_KEY = re.compile(r"rating|score|answer|value|number|grade|likelihood|result|level|response")
_LABEL = re.compile(r"([^\W\d_]{3,20})\W{0,3}:\W*\Z")
_COUNTED = re.compile(r"\s+(?!points|stars)[a-z]{3,}s\b")
_BOX = re.compile(r"(?:<answer>|<\|begin_of_box\|>|\\boxed\s*\{)\s*(?P<inside>[^<}\n]{1,40})")


def read_rating(answer: str, question: str = "") -> Reading:
    """The rating that an answer gives; a choice's value is a float from 1 to 10.

    Args:
        answer: the raw answer.
        question: a key of `SUBJECTIVE`, whose trait a labelled line has; '' if it is not known.
    """
    asked = SUBJECTIVE.get(question, "").lower()
    return read_around(answer, lambda part: _rating(part, asked), lambda reading: reading.rule != "alone")


def _rating(answer: str, asked: str) -> Reading:
    prepared = prepare(answer)
    if prepared.empty:
        return Reading("unusable", rule="cut off") if prepared.cut_off else EMPTY
    text = prepared.text.lower()
    marked = marked_reading(prepared, text, _KEY, _BOX, _said, read_rating)
    return marked or _of_text(prepared, text, asked)


def _said(value: object) -> str | None:
    """The value of a JSON field as a rating is written."""
    return str(value) if isinstance(value, (int, float, str)) else None


def _of_text(prepared: Prepared, text: str, asked: str) -> Reading:
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
    refused = REFUSAL.search(text) or re.match(r"\s*(?:n/?a|unknown|none)\b", text)
    if refused:
        matches = [m for m in matches if m["of"] or _STRONG.search(text, 0, m.start()) or not text[: m.start()].strip()]
        if not matches:
            return Reading("refused", None, prepared.span(*refused.span()), "refusal")
    if not matches:
        return Reading("unusable", rule="no number")
    for rule, chosen in (
        ("out of ten", [m for m in matches if m["of"]]),
        ("stated", [m for m in matches if _STRONG.search(text, max(0, m.start() - 80), m.start())]),
        ("first", [m for m in matches if not text[start : m.start()].strip(" ~*\"'(-:\n<>=≈.")]),
        ("named", [m for m in matches if _CLAIMED.search(text, max(0, m.start() - 80), m.start())]),
        ("alone", matches),
    ):
        if chosen:
            numbers = {_number(match) for match in chosen}
            if len(numbers) > 1:
                return Reading("several", None, prepared.span(chosen[0].start(), chosen[-1].end()), rule)
            number = numbers.pop()
            span = prepared.span(*chosen[0].span())
            return Reading("unusable", None, span, rule) if number is None else Reading("choice", number, span, rule)
    return Reading("unusable", rule="no number")


def _label(text: str, start: int) -> str:
    """The word before a colon at the begin of the line, if it is no word for a rating."""
    match = _LABEL.search(text, text.rfind("\n", 0, start) + 1, start)
    return "" if match is None or _KEY.search(match[1]) else match[1]


def _enumerates(text: str, match: re.Match[str]) -> bool:
    """Whether a number counts the lines of a list below the first line."""
    line = text.rfind("\n", 0, match.start()) + 1
    listed = re.match(r"[.)]\s+\w", text[match.end() : match.end() + 8]) is not None
    return listed and not text[line : match.start()].strip() and bool(text[:line].strip())


def _number(match: re.Match[str]) -> float | None:
    """The rating; None if it lies outside the scale, on another scale, or is a range."""
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
