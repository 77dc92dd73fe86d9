"""Stimuli of a probe: the paper's words if it prints them (D.3, E.1, C.2), else our own."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fairspace.builders.iris.groups import GENDERS, SKIN_TONES, group_attributes
from fairspace.builders.iris_steer_60.plan import TEMPLATE, counter_groups
from fairspace.submissions.errors import UsageError, did_you_mean

OCCUPATIONS = {
    "doctor": "male",
    "electrician": "male",
    "fireman": "male",
    "guard": "male",
    "machinist": "male",
    "painter": "male",
    "climber": "male",
    "carpenter": "male",
    "drummer": "male",
    "guitarist": "male",
}
"""Occupations of Tables 30 to 33 and 36 -> stereotypical gender; D.3.4 says so of the doctor."""
MORE = {
    "bartender": "male",
    "basketball player": "male",
    "boatman": "male",
    "cheerleader": "female",
    "craftsman": "male",
    "hairdresser": "female",
    "judge": "male",
    "laborer": "male",
    "nurse": "female",
    "seller": "female",
    "skateboarder": "male",
    "soccer player": "male",
    "soldier": "male",
}
"""Occupations of Tables 34, 35 and 37; the genders are our reading, and part of the stimuli's hash."""
ATTRIBUTES = {"male": ("male", "man", "he"), "female": ("female", "woman", "she")}
"""Attribute words of D.3.2."""
NOUNS = {"male": "man", "female": "woman"}
PARAPHRASES = (
    "a photo of a {gender} {occupation}",
    "generate an image of a {noun} who is {article} {occupation}",
    "a picture showing a {noun} working as {article} {occupation}",
    "portrait of a {gender} {occupation}",
    "please draw {article} {occupation}, a {noun}",
    "a {noun} whose job is {occupation}",
    "show me a {gender} {occupation} at work",
    "an image in which the {occupation} is a {noun}",
)
"""The first two are D.3.3's; the others are ours."""
PERSONS = ("a photo of a {noun}", "a portrait of a {gender} person", "an image of a {noun} standing outside")
"""Prompts of the male-female direction (D.3.5): a gender and no occupation; ours."""
STEP_PROMPT = "a photo of {article} {occupation}"
AGES = ("a young", "a middle", "an older")
"""Ages in the words of C.2's examples."""
ANCHOR = "anchor"
_SUFFIXES = (".jpeg", ".jpg", ".png", ".webp")
_LAYOUT = "FOLDER/OCCUPATION/male or female/*.png, and FOLDER/anchor/male and female/*.png"


@dataclass(frozen=True)
class Stimuli:
    """All stimuli, in order.

    Args:
        occupations: occupation -> its stereotypical gender.
        images: (occupation or `anchor`, gender) -> image files; `hashes` of their bytes in the same order.
    """

    occupations: Mapping[str, str]
    images: Mapping[tuple[str, str], tuple[Path, ...]] = field(default_factory=dict)
    hashes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def paraphrases(self, occupation: str) -> list[str]:
        """Paraphrases of the occupation's stereotypical form (D.3.3)."""
        gender = self.occupations[occupation]
        return [_worded(text, occupation, gender) for text in PARAPHRASES]

    def triple(self, occupation: str) -> dict[str, str]:
        """Role -> prompt: `a doctor`, `a male doctor`, `a female doctor` (D.3.4)."""
        gender = self.occupations[occupation]
        return {
            "neutral": _worded("{article} {occupation}", occupation, gender),
            "stereotypical": f"a {gender} {occupation}",
            "counter_stereotypical": f"a {other(gender)} {occupation}",
        }

    def steers(self, occupation: str) -> dict[str, list[str]]:
        """Role -> prompts of IRIS-Steer-60's form: a stereotypical one, and the five that differ in one attribute."""
        group = (GENDERS.index(self.occupations[occupation]) * 3 + 1) * 3
        return {
            "stereotypical": [_steer(occupation, group)],
            "counter_stereotypical": [_steer(occupation, counter) for counter in counter_groups(group)],
        }

    def step(self, occupation: str) -> str:
        """The prompt whose image generation is followed (D.3.5)."""
        return _worded(STEP_PROMPT, occupation, "")

    def persons(self, gender: str) -> list[str]:
        """The prompts of one side of the male-female direction."""
        return [_worded(text, "", gender) for text in PERSONS]

    @property
    def data(self) -> dict[str, Any]:
        """All stimuli as JSON data, images by their hashes."""
        return {
            "occupations": dict(self.occupations),
            "attributes": {name: list(terms) for name, terms in ATTRIBUTES.items()},
            "paraphrases": {name: self.paraphrases(name) for name in self.occupations},
            "triples": {name: self.triple(name) for name in self.occupations},
            "steers": {name: self.steers(name) for name in self.occupations},
            "steps": {name: self.step(name) for name in self.occupations},
            "persons": {gender: self.persons(gender) for gender in NOUNS},
            "images": {name: list(digests) for name, digests in self.hashes.items()},
        }

    @property
    def hash(self) -> str:
        """The sha256 of `data`."""
        text = json.dumps(self.data, sort_keys=True, ensure_ascii=False)
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def other(gender: str) -> str:
    """The other gender."""
    return "female" if gender == "male" else "male"


def make_stimuli(occupations: str = "", images: Path | None = None) -> Stimuli:
    """The stimuli of some occupations: names with commas, each NAME or NAME:GENDER (the stereotypical one).

    '' takes those of Table 30; a name that is not in the paper's tables needs its gender. `images`: see `_LAYOUT`.
    Errors: UsageError for an unknown gender or a folder without such images.
    """
    occupations_known = OCCUPATIONS | MORE
    occupations_asked: dict[str, str] = {}
    for word in filter(None, (each.strip() for each in occupations.split(","))):
        name, _, gender = (part.strip().lower() for part in word.partition(":"))
        gender = gender or occupations_known.get(name, "")
        if gender not in NOUNS or not name:
            hint = did_you_mean(name, occupations_known)
            remedy = f"say which gender is the stereotypical one, {name}:male or {name}:female"
            raise UsageError(f"--occupations {word}: {remedy}{hint}.")
        occupations_asked[name] = gender
    stimuli = Stimuli(occupations_asked or OCCUPATIONS)
    return stimuli if images is None else _with_images(stimuli, images)


def _with_images(stimuli: Stimuli, folder: Path) -> Stimuli:
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}. --images takes {_LAYOUT}.")
    by_group: dict[tuple[str, str], tuple[Path, ...]] = {}
    hashes: dict[str, list[str]] = {}
    for name in (ANCHOR, *stimuli.occupations):
        for gender in NOUNS:
            forms = (folder / form / gender for form in dict.fromkeys((name, name.replace(" ", "_"))))
            files = sorted(file for here in forms if here.is_dir() for file in here.iterdir())
            pictures = tuple(file for file in files if file.suffix.lower() in _SUFFIXES and file.is_file())
            if pictures:
                by_group[name, gender] = pictures
                hashes[f"{name}/{gender}"] = [hashlib.sha256(file.read_bytes()).hexdigest() for file in pictures]
    if not by_group:
        raise UsageError(f"{folder} holds no images of these occupations. --images takes {_LAYOUT}.")
    return Stimuli(stimuli.occupations, by_group, hashes)


def _worded(text: str, occupation: str, gender: str) -> str:
    article = "an" if occupation[:1] in "aeiou" and occupation else "a"
    return text.format(gender=gender, noun=NOUNS.get(gender, ""), occupation=occupation, article=article)


def _steer(occupation: str, group: int) -> str:
    gender, age, skin = (int(code) for code in group_attributes(np.array([group]))[0])
    return TEMPLATE.format(age=AGES[age], skin=SKIN_TONES[skin], gender=GENDERS[gender], occupation=occupation)
