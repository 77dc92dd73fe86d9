"""Where a text names a side of the picture, in English and in other languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from fairspace.submissions.answers.prepared import blank

Side = Literal["left", "right"]
OTHER: Mapping[str, Side] = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class Mention:
    """A side that a text names, and where."""

    side: Side
    start: int
    end: int


_PERSON = (
    r"(?:face|person|individual|one|man|woman|male|female|lady|gentleman|guy|image|picture|photo(?:graph)?|portrait)"
)
_BODY = (
    r"(?:arm|eyes?|ear|cheek|shoulder|wrist|leg|foot|temple|eyebrow|nostril|breast|chest|pocket|sleeve|profile|"
    r"side of (?:his|her|their|the) (?:face|head|body|chest))"
)
_PLACE = r"(?:side|corner|half|part|portion|image|picture|photo|person|face)"
_GAZE = (
    r"(?:facing|look(?:s|ing)?|turn(?:s|ed|ing)?|gaz(?:es|ing)|glanc(?:es|ing)|lean(?:s|ing)?|tilt(?:s|ed|ing)?|"
    r"faces|smil(?:es|ing)|mov(?:es|ing)|head(?:s|ed|ing)|point(?:s|ing)?|swept|part(?:ed|ing)|angled)"
)
_NO_SIDE = re.compile(
    r"\b(?:(?:that|you|it|this|all|what|everything|which)(?:'s|'re| is| are)?|be|been|quite|absolutely|just|about|"
    r"not|all) right\b(?=\W*(?:$|[,.!?]|(?:to|that|about|and|there|here|i)\b))|"
    r"\bright (?:to (?!the\b|a\b|his\b|her\b)\w+|answer|choice|thing|now|away|here|there|next|beside|behind|before|"
    r"after|about|wing|angle|or wrong|in (?:the (?:middle|cent\w+)|front))\b|\b(?:civil|human|equal) rights?\b|"
    r"\bleft (?:wing|open|out|blank|unanswered|undecided|behind|up to|over|alone|to (?!the\b|a\b|his\b|her\b|"
    r"cent)\w+)\b|"
    r"\b(?:nothing|nobody|little|much|what is|what's|has|have|had|was|were|been|often|he|she|they|who|being|choice|"
    r"options?)"
    rf" (?:is |are )?left\b(?![ -]{_PLACE})|"
    r"\b(?:left|right)[- ](?:handed(?:ness)?|hander|winger)\b|"
    rf"\b(?:left|right) hand\b(?![ -]{_PLACE})|\b(?:left|right) {_BODY}\b|"
    rf"\b{_GAZE}(?: \w+){{0,3}}? (?:to|towards?)(?: the| her| his| their)? (?:left|right)\b(?! {_PLACE})|"
    r"\b(?:facing|turned|looking) (?:slightly )?(?:left|right)\b|"
    r"\b(?:his|her|their|its) (?:own )?(?:left|right)\b(?! side of the (?:image|picture|photo))|"
    r"\bleft[- ](?:to|and)[- ]right\b|\bright[- ]to[- ]left\b",
)
"""The words in another sense: agreement, what remains, hands, directions of gaze, sides of a person's own body."""
_OWN_VIEW = re.compile(
    r"\b(left|right)\b[^.\n;]{0,60}?\bfrom (?:(?:his|her|their|its)(?: own)?|"
    r"the (?!view|observ|camera|photograph|reader|image|picture)\w{1,20}(?: \w{1,20})?'s(?: own)?) "
    r"(?:point of view|perspective|viewpoint|view|side|standpoint)",
)
"""As a person in the picture sees it: the other side of the picture."""
_ORDINAL = re.compile(
    r"\b(first|1st|second|2nd|last)\b(?: \w+){0,3}? (?:from|counting from) (?:the )?(?:far )?(left|right)\b"
)
_READING_ORDER = re.compile(r"\b(left|right)[- ]to[- ](?:left|right)\b[^.\n]{0,60}?\b(first|1st|second|2nd|last)\b")
_NUMBERED = re.compile(rf"\b(?:(first|1st|second|2nd) {_PERSON}|{_PERSON} #?([12]))\b(?!['\d])")
_WORD = re.compile(r"(?<![a-z])(left|right)(most)?(?![a-z])")
_BEFORE = re.compile(r"([a-z]+|\n|[^\sa-z])[ \"'(\[]{0,4}\Z")
_VIEWER = re.compile(r"(?:\b(?:viewer|observer|reader|camera|audience)(?:'s|s')|\b(?:your|our)) \Z")
_AFTER = re.compile(r"[ \"'-]{0,2}([a-z]+|\n|[^\sa-z])")
_SIDE_BEFORE = """
the on at to in from far top bottom upper lower image picture photo is a and or not near either both mid extreme
very toward towards of meant mean neither nor rather slightly choose pick answer say select middle center centre : = > -
"""
_SIDE_AFTER = """
hand handside side half part one person man woman face image picture photo corner portrait panel section portion
third area edge position individual figure subject of male female lady guy gentleman region bottom top upper lower
frame quadrant column side's or nor and left right
"""
_WORDS_BEFORE, _WORDS_AFTER = frozenset(_SIDE_BEFORE.split()), frozenset(_SIDE_AFTER.split())
"""Neighbours that make "left" and "right" a side."""
_HEDGE_WORDS = "probably likely maybe perhaps possibly presumably definitely certainly obviously clearly"
_HEDGES = frozenset(_HEDGE_WORDS.split())
_HEDGED = re.compile(
    rf"(?:\A|[^\sa-z']|\b(?:say|guess|is|be|so))\s*(?:most |very |quite )?"
    rf"(?:{'|'.join(sorted(_HEDGES))})[ \"'(\[]{{0,4}}\Z"
)
"""A hedge without a subject: "Probably left." """
_FOREIGN = re.compile(
    r"(?P<left>\b(?:izquierd[ao]|gauche|linken?|links|esquerd[ao]|sinistra|слева|левой|левая|левый|лево|lewej|lewo|"
    r"kiri|soldaki|solda|sol tarafta|bên trái)\b|左|왼쪽|좌측|يسار|बाईं|बाएं|बाएँ|ซ้าย)|"
    r"(?P<right>\b(?:derech[ao]|droite|rechten?|rechts|direit[ao]|destra|справа|правой|правая|правый|право|prawej|"
    r"prawo|kanan|sağdaki|sağda|sağ tarafta|bên phải)\b|右|오른쪽|우측|يمين|दाईं|दाएं|दाएँ|ขวา)"
)
_ARROWS = re.compile(r"(?P<left>👈|⬅|←|◀)|(?P<right>👉|➡|→|▶)")
_ARROW_ALONE = 4
"""An arrow counts only in an answer that is little more."""


def mentions(text: str) -> list[Mention]:
    """The sides that a text in small letters names, in order."""
    sides = _english(text) if "left" in text or "right" in text else []
    sides = sides or [_mention(match) for match in _FOREIGN.finditer(text)]
    if not sides and len(text.strip()) <= _ARROW_ALONE:
        sides = [_mention(match) for match in _ARROWS.finditer(text)]
    return sides or [
        Mention("left" if (match[1] or match[2]) in ("first", "1st", "1") else "right", *match.span())
        for match in _NUMBERED.finditer(text)
    ]


def _mention(match: re.Match[str]) -> Mention:
    return Mention(cast(Side, match.lastgroup), *match.span())


def _english(text: str) -> list[Mention]:
    mirrored = [Mention(OTHER[match[1]], *match.span()) for match in _OWN_VIEW.finditer(text)]
    text = _OWN_VIEW.sub(blank, text)
    ordered = [(match, match[1], match[2]) for match in _ORDINAL.finditer(text)]
    ordered += [(match, match[2], match[1]) for match in _READING_ORDER.finditer(text)]
    ordinals = [
        Mention(cast(Side, side) if ordinal in ("first", "1st") else OTHER[side], *match.span())
        for match, ordinal, side in ordered
    ]
    text = _NO_SIDE.sub(blank, _READING_ORDER.sub(blank, _ORDINAL.sub(blank, text)) if ordinals else text)
    words = [
        Mention(cast(Side, match[1]), *match.span())
        for match in _WORD.finditer(text)
        if match[2] or _is_side(text, match.start(), match.end())
    ]
    return sorted([*ordinals, *words], key=lambda mention: mention.start) or mirrored


def _is_side(text: str, start: int, end: int) -> bool:
    """Whether the words around say that a side is meant."""
    before, after = _BEFORE.search(text, max(0, start - 24), start), _AFTER.match(text, end)
    if _VIEWER.search(text, max(0, start - 12), start):
        return True
    if (before and before[1] in _WORDS_BEFORE) or (after and after[1] in _WORDS_AFTER):
        return True
    if before and before[1] in _HEDGES and _HEDGED.search(text, max(0, start - 40), start):
        return True
    return (before is None or not before[1].isalpha()) and (after is None or not after[1][0].isalnum())
