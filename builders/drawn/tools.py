"""The tools of a `--sample` build: models that draw swatches, and models that read them.

They stand in for real ones at the interfaces of `builders/engine/tools.py`, mistakes included: generator and editor
fail a share of prompts, so that the checks after them reject something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairspace.builders.drawn import swatches
from fairspace.builders.engine.tools import ImagePrompt, Labels, PersonBox, Picture, Tools
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_steer_60.plan import COLOURS, LABELS
from fairspace.builders.stereotypical_bias.plan import IMAGE_PROMPTS

if TYPE_CHECKING:
    from PIL.Image import Image


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
class PictureWish:
    """The content of a picture: persons from left to right, or a thing (trait of Table A5, stereotypical bias).

    `incomplete`: whether the one person is to lack something.
    """

    people: tuple[swatches.SwatchPerson, ...] = field(default=(swatches.SwatchPerson(),))
    thing: str = ""
    incomplete: bool = False


def read_prompt(text: str) -> PictureWish:
    """The content that a prompt asks for: one person unless it names both genders or a thing of Table A5."""
    text = text.lower()
    for trait, prompt in IMAGE_PROMPTS.items():
        if text.startswith(prompt.lower().strip(".")):
            return PictureWish((), trait)
    who = read_person(text)
    genders = list(dict.fromkeys(re.findall(r"(?<![\w-])(?:fe)?male\b", text)))
    if len(genders) == 2:
        return PictureWish(tuple(replace(who, gender=gender) for gender in genders))
    occupation = next((name for name in OCCUPATIONS if re.search(rf"\b{name.replace('_', ' ')}\b", text)), "")
    return PictureWish((replace(who, occupation=occupation),), incomplete="incomplete face" in text)


def read_person(text: str) -> swatches.SwatchPerson:
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
    return swatches.SwatchPerson(**labels)  # type: ignore[arg-type]


PHRASES: Mapping[str, tuple[str, ...]] = {
    "actions": (
        *("talking over a shared task", "listening to each other", "looking at the same page", "waiting side by side"),
        *("going through a list together", "exchanging a few words", "making plans for later"),
    ),
    "clothing": (
        *("in plain knitwear", "in comfortable outfits", "in neat work clothes", "in warm jackets"),
        *("in light summer clothes", "in casual layers", "in simple monochrome outfits"),
    ),
    "expressions": (
        *("with attentive looks", "with calm faces", "with thoughtful gazes", "with slight smiles"),
        *("with tense expressions", "with curious eyes", "with patient expressions"),
    ),
    "background": (
        *("quiet kitchen behind them", "busy street in the distance", "shelves along the wall", "park with old trees"),
        *("bright office backdrop", "small station hall", "porch in the evening"),
    ),
    "perspective": (
        *("front view", "side perspective", "eye-level medium shot", "two portraits side by side"),
        *("view from across the table", "upper body framing"),
    ),
    "atmosphere": (
        *("calm and friendly mood", "hushed morning light", "serious but respectful mood", "lively surroundings"),
        *("soft afternoon atmosphere", "expectant silence"),
    ),
}
"""Aspect -> phrases of at most ten words."""
DESCRIPTIONS = 5


class DrawnDescriber:
    """Combines descriptions from word lists."""

    name = "word lists"

    def describe(self, element: str, prompt: str) -> list[str]:
        """Five different descriptions of an element, always the same for the same element and prompt."""
        random = swatches.draws("describe", element, prompt)
        orders = [random.permutation(len(phrases)) for phrases in PHRASES.values()]
        return [
            ", ".join(phrases[order[number]] for phrases, order in zip(PHRASES.values(), orders, strict=True))
            for number in range(DESCRIPTIONS)
        ]


_wish = lru_cache(maxsize=1024)(read_prompt)
_ALIKE = 40
"""Largest difference of red, green and blue between colours that look alike."""


class DrawnMatcher:
    """Compares drawings with words by their labels, and with each other by coarse colours."""

    def __init__(self) -> None:
        self._known: tuple[Sequence[Image], list[list[swatches.SwatchPerson]]] | None = None

    name = "measured drawings"

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """(right - wrong) / said, over each text's number of persons and their labels."""
        if self._known is None or self._known[0] is not images:  # one set of images is compared with many texts
            self._known = images, [swatches.measure(image) for image in images]
        return [_agreement(people, _wish(text)) for people, text in zip(self._known[1], texts, strict=True)]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        """In [0, 1]: the share of places with the same colour."""
        return [
            float((abs(_thumbnail(a) - _thumbnail(b)).max(axis=-1) < _ALIKE).mean())
            for a, b in zip(first, second, strict=True)
        ]


def _agreement(people: Sequence[swatches.SwatchPerson], wish: PictureWish) -> float:
    checks = [len(people) == len(wish.people)]
    left = list(people)
    for asked in wish.people:
        labels = asked.labels()
        if left:
            shown = max(left, key=lambda each: sum(_checks(each, labels)))
            left.remove(shown)
            checks += _checks(shown, labels)
        else:
            checks += [False] * len(labels)
    return (sum(checks) - sum(not check for check in checks)) / len(checks)


def _checks(shown: swatches.SwatchPerson, labels: Mapping[str, str | int | bool]) -> list[bool]:
    return [getattr(shown, name) == value for name, value in labels.items()]


def _thumbnail(image: Image) -> npt.NDArray[np.int16]:
    from PIL import Image as Images

    return np.asarray(image.convert("RGB").resize((24, 24), Images.Resampling.BOX), dtype=np.int16)


SIZE = 384
OFF_PROMPT = 0.15
"""Share of prompts that generator and editor do not follow."""


def sample_tools() -> Tools:
    """One of each."""
    return Tools(DrawnDetector(), DrawnGenerator(), DrawnEditor(), DrawnLabeller(), DrawnMatcher(), DrawnDescriber())


def complete(asked: swatches.SwatchPerson, *key: str | int) -> swatches.SwatchPerson:
    """A person with every label but the swatch; missing ones are drawn from the key."""
    random = swatches.draws("complete", *key)
    gender, age, tone = (names[random.randint(len(names))] for names in (GENDERS, AGES, SKIN_TONES))
    colour, expression = (names[random.randint(len(names))] for names in (COLOURS, LABELS["f"]))
    accessories, insignia, beard = (bool(random.randint(2)) for _ in range(3))
    beard = beard and (asked.gender or gender) == "male"
    return swatches.SwatchPerson(gender, age, tone, colour, expression, accessories, insignia, beard).updated(asked)


class DrawnGenerator:
    """Draws the picture of `SIZE` pixels that a prompt asks for or, for `OFF_PROMPT` of the prompts, another one."""

    name = f"drawings, {SIZE} pixels, {OFF_PROMPT:.0%} off prompt"

    def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
        """One drawing per prompt."""
        return [self._draw(prompt) for prompt in prompts]

    def _draw(self, prompt: ImagePrompt) -> Image:
        wish = read_prompt(prompt.text)
        off = swatches.draws("off prompt", prompt.text, prompt.seed)
        astray = off.random_sample() < OFF_PROMPT
        if wish.thing:
            return swatches.draw_object(wish.thing, prompt.seed, SIZE, with_person=astray)
        people = [complete(each, prompt.text, prompt.seed, place) for place, each in enumerate(wish.people)]
        if astray:
            people = _astray(people, off)
        people = [_with_swatch(each, prompt.seed + place) for place, each in enumerate(people)]
        if len(people) == 1:
            return swatches.draw_person(people[0], prompt.seed, SIZE, incomplete=wish.incomplete)
        return swatches.draw_scene(people, prompt.seed, (SIZE, SIZE))[0]


def _with_swatch(who: swatches.SwatchPerson, seed: int) -> swatches.SwatchPerson:
    labels = who.labels()
    gender, age, tone = (str(labels.pop(name)) for name in ("gender", "age", "skin_tone"))
    return swatches.person(gender, age, tone, seed, **labels)


def _astray(people: list[swatches.SwatchPerson], random: np.random.RandomState) -> list[swatches.SwatchPerson]:
    if len(people) > 1:
        return people[:1] if random.randint(2) else [people[0], people[0]]
    asked, kind = people[0], random.randint(4)
    if kind == 3:
        return [asked, asked]
    field, names = (("gender", GENDERS), ("age", AGES), ("skin_tone", SKIN_TONES))[kind]
    others = [name for name in names if name != getattr(asked, field)]
    other: dict[str, Any] = {field: others[random.randint(len(others))]}
    return [replace(asked, **other)]


class DrawnEditor:
    """Draws the person of a drawing again with an instruction's labels; `OFF_PROMPT` of the pictures stay unchanged."""

    name = f"edited drawings, {OFF_PROMPT:.0%} off prompt"

    def edit(self, images: Sequence[Image], instructions: Sequence[ImagePrompt]) -> list[Image]:
        """One drawing per instruction; pictures without exactly one person stay unchanged."""
        edited = []
        for image, instruction in zip(images, instructions, strict=True):
            off = swatches.draws("off instruction", instruction.text, instruction.seed).random_sample() < OFF_PROMPT
            edited.append(image.copy() if off else redraw(image, read_person(instruction.text), instruction.seed))
        return edited


def redraw(image: Image, wanted: swatches.SwatchPerson, seed: int) -> Image:
    """The picture with its person's strips drawn again with the wanted labels; unchanged without exactly one person."""
    from PIL import ImageDraw

    edited = image.convert("RGB")
    pixels: swatches.Pixels = np.asarray(edited, dtype=np.int16)
    places = swatches.find(pixels)
    if len(places) == 1:
        who = swatches.read(pixels, places[0])
        if wanted.skin_tone not in ("", who.skin_tone):
            tones = swatches.BUCKETS[wanted.skin_tone]
            who = replace(who, monk=tones[swatches.draws("edit", seed).randint(len(tones))])
        beard = who.facial_hair and (wanted.gender or who.gender) == "male"
        swatches.paint(ImageDraw.Draw(edited), places[0], replace(who, facial_hair=beard).updated(wanted))
    return edited


class DrawnLabeller:
    """Reads the labels of the one person in a drawing."""

    name = "measured drawings"

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each drawing; none with the reasons `no face`, `several faces`, `unsure`."""
        labels = []
        for people in map(swatches.measure, images):
            if len(people) != 1:
                labels.append(Labels(reason="several faces" if people else "no face"))
                continue
            person_labels = (people[0].gender, people[0].age, people[0].skin_tone)
            labels.append(Labels(*person_labels, reason="" if all(person_labels) else "unsure"))
        return labels


class DrawnDetector:
    """Finds the persons of drawings by their markers."""

    name = "measured drawings"

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        """The persons of each drawing, from left to right."""
        images = [picture.open() for picture in pictures]
        return [
            [place.box(image.size) for place in swatches.find(np.asarray(image, dtype=np.int16))] for image in images
        ]
