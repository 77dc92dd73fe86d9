"""Persons and their labels, or things, read from the words of a prompt.

Reads the prompts of every builder, and instructions to edit ("make the attire red").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import COLOURS
from fairspace.builders.stereotypical_bias.plan import IMAGE_PROMPTS

_GENDERS = {"female": r"female|woman|women|girl|lady|feminine", "male": r"male|man|men|boy|gentleman|masculine"}
_AGES = {
    "young": r"young(?:er)?",
    "middle-aged": r"middle(?:[- ]aged?)?|mid[- ]life",
    "older": r"older|(?<!year )(?<!years )old|elderly|senior|aged",
}
_TONE = r"(?P<tone>light|middle|medium|dark)"
_SKIN = (
    rf"{_TONE}(?:er)?[- ]?(?:brown )?(?:colou?r(?:ed)?\b|skin(?:ned)?\b|ton(?:ed?)?\b)"
    r"(?:[- ]?(?:skin|ton)\w*)*(?:[- ]tone)?",
    rf"skin(?:[- ]?tone)?(?:\s+(?:is|to|into|as|colou?r))*:?\s+{_TONE}\b",
)
_CLOTHES = r"(?:uniform|attire|clothes|clothing|outfit|shirt|jacket|sweater|top|dress|coat|vest)"
_COLOUR = rf"(?P<colour>{'|'.join(COLOURS)}|grey)"
_ATTIRE = (
    rf"\b{_COLOUR}[- ](?:colou?red )?{_CLOTHES}",
    rf"{_CLOTHES}(?:\s+(?:colou?r|is|to|in|of|into))*:?\s+{_COLOUR}\b",
    rf"\b(?:wearing|dressed in|in)(?: an?)? {_COLOUR}\b",
)
_EXPRESSIONS = {"smiling": r"smil\w+", "serious": r"serious(?:ly)?", "neutral": r"neutral"}
_SHOWN = {
    "accessories": r"accessor\w+|glasses|spectacles|eyeglasses|tie|necktie",
    "insignia": r"insignia|badge|logo|emblem",
    "facial_hair": r"facial hair|beard\w*|m(?:o)?ustache",
}
_BARE = {"accessories": r"uncovered eyes", "insignia": r"plain clothes", "facial_hair": r"clean-shaven"}
"""Words for an absent detail that do not name it."""
_INCOMPLETE = {
    "side": r"outside the picture|out of frame|cut off|cropped",
    "scarf": r"scarf|mask",
    "panel": r"panel|hidden behind|occluded",
    "any": r"incomplete|partial(?:ly)?|covered",
}
_NO = r"\b(?:no|not|without|remove|take off|free of)\b(?:\s+(?:the|any|a|visible|wearing))*\s+(?:\w+ or )?"


@dataclass(frozen=True)
class Asked:
    """The labels of one requested person, as in `Sitter`; '' or None where the prompt says nothing."""

    gender: str = ""
    age: str = ""
    skin_tone: str = ""
    attire: str = ""
    expression: str = ""
    accessories: bool | None = None
    insignia: bool | None = None
    facial_hair: bool | None = None


@dataclass(frozen=True)
class Wish:
    """The content of a picture: persons from left to right, or a thing (trait of Table A5, stereotypical bias).

    `occupation` is one of IRIS' 52 or ''; `incomplete` is `side`, `scarf`, `panel` or `any`, or '' for a whole face.
    """

    people: tuple[Asked, ...] = field(default=(Asked(),))
    thing: str = ""
    occupation: str = ""
    incomplete: str = ""


def read_prompt(text: str) -> Wish:
    """The content that a prompt asks for: one person unless it names persons or things of Table A5."""
    text = " ".join(text.lower().split())
    for trait, prompt in IMAGE_PROMPTS.items():
        if text.strip(" .").startswith(prompt.lower().strip(" .")):
            return Wish((), trait)
    genders = [(match.start(), gender) for gender, words in _GENDERS.items() for match in _words(words, text)[:1]]
    person = read_person(text)
    people: tuple[Asked, ...] = (person,)
    if len(genders) == 2:
        people = tuple(_replace_gender(person, gender) for _, gender in sorted(genders))
    occupation = next((name for name in OCCUPATIONS if _words(name.replace("_", "[ _]"), text)), "")
    return Wish(people, "", occupation, next((way for way, words in _INCOMPLETE.items() if _words(words, text)), ""))


def read_person(text: str) -> Asked:
    """The labels that a text asks for. Of two genders or ages ("turn x into y") the last counts."""
    text = " ".join(text.lower().split())
    text = re.sub(r"\b(?:instead of|rather than|from) (?:an? |the )?[\w-]+", " ", text)
    attire = _last(_ATTIRE, text, "colour").replace("grey", "gray")
    skin = _last(_SKIN, text, "tone").replace("medium", "middle")
    for pattern in (*_SKIN, *_ATTIRE):
        text = re.sub(pattern, " ", text)
    shown = {name: _shown(words, text, name) for name, words in _SHOWN.items()}
    return Asked(_which(_GENDERS, text), _which(_AGES, text), skin, attire, _which(_EXPRESSIONS, text), **shown)


def _replace_gender(person: Asked, gender: str) -> Asked:
    from dataclasses import replace

    return replace(person, gender=gender, facial_hair=None)


def _words(words: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text))


def _which(words: dict[str, str], text: str) -> str:
    matches = [(match.start(), name) for name, pattern in words.items() for match in _words(pattern, text)]
    return max(matches)[1] if matches else ""


def _last(patterns: tuple[str, ...], text: str, group: str) -> str:
    matches = [(match.start(), match[group]) for pattern in patterns for match in re.finditer(pattern, text)]
    return max(matches)[1] if matches else ""


def _shown(words: str, text: str, name: str) -> bool | None:
    if re.search(rf"{_NO}(?:{words})\b", text) or re.search(_BARE[name], text):
        return False
    return True if _words(words, text) else None
