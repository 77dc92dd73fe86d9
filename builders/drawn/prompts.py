"""Persons and their labels, or things, read from the words of the builders' prompts and instructions to edit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fairspace.builders.drawn.swatches import Person
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import COLOURS
from fairspace.builders.stereotypical_bias.plan import IMAGE_PROMPTS

_WORDS: Mapping[str, Mapping[str, str]] = {
    "gender": {"female": "female", "male": "male"},
    "age": {"young": "young", "middle-aged": "middle(?:-aged)?", "older": "older|old age"},
    "expression": {"smiling": r"smil\w+", "serious": "serious", "neutral": "neutral"},
}
"""Field -> label -> its words; of several the last one counts."""
_SKIN = re.compile(r"\b(light|medium brown|middle|dark)[- ](?:skin|colou?r)\w*(?: skin\w*)?")
_ATTIRE = re.compile(rf"\b({'|'.join(COLOURS)}) clothes")
_CLOTHES = re.compile(rf"make the clothes ({'|'.join(COLOURS)})")
_SHOWN = {"accessories": "glasses", "insignia": "badge", "facial_hair": "beard"}
_BARE = {"accessories": "uncovered eyes", "insignia": "plain clothes", "facial_hair": "clean-shaven"}
"""Words for an absent detail that do not name it."""


@dataclass(frozen=True)
class Wish:
    """The content of a picture: persons from left to right, or a thing (trait of Table A5, stereotypical bias).

    `incomplete`: whether the one person is to lack something.
    """

    people: tuple[Person, ...] = field(default=(Person(),))
    thing: str = ""
    incomplete: bool = False


def read_prompt(text: str) -> Wish:
    """The content that a prompt asks for: one person unless it names both genders or a thing of Table A5."""
    text = text.lower()
    for trait, prompt in IMAGE_PROMPTS.items():
        if text.startswith(prompt.lower().strip(".")):
            return Wish((), trait)
    who = read_person(text)
    genders = list(dict.fromkeys(re.findall(r"(?<![\w-])(?:fe)?male\b", text)))
    if len(genders) == 2:
        return Wish(tuple(replace(who, gender=gender) for gender in genders))
    occupation = next((name for name in OCCUPATIONS if re.search(rf"\b{name.replace('_', ' ')}\b", text)), "")
    return Wish((replace(who, occupation=occupation),), incomplete="incomplete face" in text)


def read_person(text: str) -> Person:
    """The labels that a text asks for."""
    text = text.lower()
    skin, attire = _SKIN.search(text), _ATTIRE.search(text) or _CLOTHES.search(text)
    text = _SKIN.sub(" ", text)
    labels: dict[str, str | bool] = {"skin_tone": skin[1].replace("medium brown", "middle") if skin else ""}
    labels["attire"] = attire[1] if attire else ""
    for name, words in _WORDS.items():
        places = {m.start(): label for label, word in words.items() for m in re.finditer(rf"\b(?:{word})\b", text)}
        labels[name] = places[max(places)] if places else ""
    labels |= {name: True for name, word in _SHOWN.items() if word in text}
    labels |= {name: False for name, words in _BARE.items() if words in text}
    return Person(**labels)  # type: ignore[arg-type]
