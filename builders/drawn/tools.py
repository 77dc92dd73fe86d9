"""The tools of a `--sample` build: models that draw, and models that measure drawings.

They stand in for real ones at the interfaces of `builders/engine/tools.py`, mistakes included: generator and editor
fail a share of prompts, so that the checks after them reject something. Measuring reads pixels alone, at the places
where `builders/drawn/figure.py` draws each label, so it works on any copy of a picture (JPEG, shrunk, cropped). A part
that is covered or outside of the picture gives no label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairspace.builders.drawn.drawing import draw_object, draw_scene, draw_sitter, sitter
from fairspace.builders.drawn.figure import (
    ATTIRE,
    BUCKETS,
    FINE,
    HAIR,
    HALF_WIDTH,
    MONK,
    MOUTH,
    NO_SKIN,
    TOP,
    Colour,
    Face,
    Look,
    Pen,
    Pixels,
    Sitter,
    distance,
    draws,
    find_faces,
    hair_colours,
    is_grey,
    paint,
)
from fairspace.builders.drawn.prompts import Asked, Wish, read_person, read_prompt
from fairspace.builders.engine.tools import Box, Labels, Picture, Prompt, Tools
from fairspace.builders.iris.groups import AGES, GENDERS, SKIN_TONES
from fairspace.builders.iris_steer_60.plan import COLOURS, LABELS

if TYPE_CHECKING:
    from PIL.Image import Image


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
        random = draws("describe", element, prompt)
        orders = [random.permutation(len(phrases)) for phrases in PHRASES.values()]
        return [
            ", ".join(phrases[order[number]] for phrases, order in zip(PHRASES.values(), orders, strict=True))
            for number in range(DESCRIPTIONS)
        ]


def measure(image: Image) -> list[Face]:
    """The faces of a drawing from left to right, with their labels."""
    pixels: Pixels = np.asarray(image.convert("RGB"), dtype=np.int16)
    return [_labels(pixels, face) for face in find_faces(pixels)]


def person_box(face: Face, size: tuple[int, int]) -> Box:
    """The box of a face's person: shoulder to shoulder, hair to lower edge of the picture."""
    left, right = (min(max(face.x + side * HALF_WIDTH * face.unit, 0), size[0]) for side in (-1, 1))
    top = max(face.y + TOP * face.unit, 0)
    return Box(round(left), round(top), round(right - left), round(size[1] - top), 0.98 if face.side == 0 else 0.74)


def _labels(pixels: Pixels, face: Face) -> Face:
    look = Look(pixels, face)
    cheeks = look.patches(0.78, 0.52, 0.05)
    fits = [(distance(cheek, swatch), monk, cheek) for cheek in cheeks for monk, swatch in MONK.items()]
    if not fits or min(fits)[0] > NO_SKIN:
        return face
    _, monk, skin = min(fits)
    crown = look.patch(0.35, -1.42, 0.09)
    attire = look.patch(0.45, 3.1, 0.08)
    word = min(ATTIRE, key=lambda name: distance(ATTIRE[name], attire)) if attire else ""
    chin = look.patches(0.6, MOUTH, 0.04)
    bare = any(distance(colour, skin) < 35 for colour in chin)
    return replace(
        face,
        monk=monk,
        hair=crown,
        gender=_gender(look, crown),
        age=_age(look, crown),
        attire=word if attire and distance(ATTIRE[word], attire) < 60 else "",
        expression=_expression(look, skin) if bare else "",
        accessory=_accessory(look, skin, attire),
        insignia=_insignia(look, attire),
        facial_hair=_beard(look, skin, crown) if bare else None,
    )


def _gender(look: Look, crown: Colour | None) -> str:
    """Read gender from hair on both sides of the neck: a shape on the wall may look like hair on one."""
    beside = look.patches(1.38, 1.2, 0.09)
    if crown is None or not beside:
        return ""
    return "female" if max(distance(colour, crown) for colour in beside) < 42 else "male"


def _age(look: Look, crown: Colour | None) -> str:
    temples = look.patches(1.13, -0.55, 0.06)
    if crown is None or not temples:
        return ""
    if is_grey(crown):
        return "older"
    return "middle-aged" if any(map(is_grey, temples)) else "young"


def _expression(look: Look, skin: Colour) -> str:
    heights = []
    for x in (0.0, 0.4):
        column = look.area(look.sides[-1] * x, MOUTH + 0.05, 0.03, 0.25)
        if column is None:
            return ""
        strength = np.clip(np.linalg.norm(column - np.array(skin), axis=-1).mean(axis=1) - 20, 0, 60)
        if strength.sum() == 0:
            return ""
        heights.append(float((strength * np.arange(len(strength))).sum() / strength.sum()))
    bend = (heights[0] - heights[1]) / look.face.unit
    return "smiling" if bend > 0.055 else "serious" if bend < -0.055 else "neutral"


def _accessory(look: Look, skin: Colour, attire: Colour | None) -> str:
    bridge = look.area(0.0, -0.03, 0.05, 0.07)
    if bridge is not None and np.linalg.norm(bridge - np.array(skin), axis=-1).mean(axis=1).max() > 48:
        return "glasses"
    strip = look.patch(0.0, 3.2, 0.05)
    if attire is None or strip is None:
        return ""
    return "tie" if distance(strip, attire) > 70 else "none"


def _insignia(look: Look, attire: Colour | None) -> bool | None:
    chest = look.area(0.93, 3.12, 0.28, 0.28) if look.face.side >= 0 else None
    if chest is None or attire is None:
        return None
    return bool((np.linalg.norm(chest - np.array(attire), axis=-1) > 60).mean() > 0.12)


def _beard(look: Look, skin: Colour, crown: Colour | None) -> bool | None:
    chin = look.patch(0.15, 1.6, 0.06)
    if chin is None or crown is None:
        return None
    return distance(chin, crown) < distance(chin, skin)


Thumbnail = npt.NDArray[np.int16]

_wish = lru_cache(maxsize=1024)(read_prompt)
_ALIKE = 40
"""Largest difference of red, green and blue between colours that look alike."""


class DrawnMatcher:
    """Compares drawings with words by measured labels, and with each other by coarse colours and outlines."""

    def __init__(self) -> None:
        self._known: tuple[Sequence[Image], list[list[Face]]] | None = None

    name = "measured drawings"

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """(right - wrong) / said, over each text's number of persons and their labels."""
        if self._known is None or self._known[0] is not images:  # one set of images is compared with many texts
            self._known = images, [measure(image) for image in images]
        return [_agreement(faces, _wish(text)) for faces, text in zip(self._known[1], texts, strict=True)]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        """In [0, 1]: the mean of the share of places with the same colour and the share with the same outlines."""
        return [_likeness(_thumbnail(a), _thumbnail(b)) for a, b in zip(first, second, strict=True)]


def _agreement(faces: list[Face], wish: Wish) -> float:
    checks = [len(faces) == len(wish.people)]
    left = list(faces)
    for person in wish.people:
        if left:
            best = max(left, key=lambda face: sum(_checks(face, person)))
            left.remove(best)
            checks += _checks(best, person)
        else:
            checks += [False] * sum(value not in ("", None) for value in asdict(person).values())
    return (sum(checks) - sum(not check for check in checks)) / len(checks)


def _checks(face: Face, person: Asked) -> list[bool]:
    accessories = None if face.accessory == "" else face.accessory != "none"
    seen = replace(
        Asked(face.gender, face.age, face.skin_tone, face.attire, face.expression),
        accessories=accessories,
        insignia=face.insignia,
        facial_hair=face.facial_hair,
    )
    return [getattr(seen, key) == value for key, value in asdict(person).items() if value not in ("", None)]


def _thumbnail(image: Image) -> Thumbnail:
    from PIL import Image as Images

    return np.asarray(image.convert("RGB").resize((24, 24), Images.Resampling.BOX), dtype=np.int16)


def _likeness(first: Thumbnail, second: Thumbnail) -> float:
    colours = (abs(first - second).max(axis=-1) < _ALIKE).mean()
    edges = [[abs(np.diff(each, axis=axis)).max(axis=-1) >= _ALIKE for each in (first, second)] for axis in (0, 1)]
    return float(colours / 2 + sum((one == other).mean() for one, other in edges) / 4)


def redraw(image: Image, face: Face, wanted: Asked, seed: int) -> Image:
    """The picture with its person drawn again and the wanted labels; `seed` decides further details."""
    from PIL import Image as Images

    before = _seen_sitter(face, seed)
    pixels = np.asarray(image.convert("RGB"), dtype=np.float64)
    _, old = _layer(before, face, image.size)
    paint_after, new = _layer(_changed(before, wanted, seed), face, image.size)
    done = paint_after + (1 - new[..., None]) * _without(pixels, old > 0.02)
    return Images.fromarray(np.clip(np.rint(done), 0, 255).astype(np.uint8))


def _seen_sitter(face: Face, seed: int) -> Sitter:
    """The sitter of a measured face; what is not seen has a default, and the seed draws the hair under grey."""
    monk = face.monk or 5
    hair = hair_colours(monk)
    colour = hair[draws("hair under grey", seed).randint(len(hair))]
    if face.hair is not None and face.age != "older":
        seen = face.hair
        colour = min(HAIR, key=lambda known: distance(known, seen))
    labels = (face.gender or "female", face.age or "young", monk, colour, face.attire or "blue")
    accessory = face.accessory.replace("none", "")
    return Sitter(*labels, face.expression or "neutral", accessory, bool(face.insignia), bool(face.facial_hair))


def _changed(who: Sitter, wanted: Asked, seed: int) -> Sitter:
    random = draws("edit", seed)
    tones = BUCKETS.get(wanted.skin_tone, ())
    monk = who.monk if not tones or who.monk in tones else tones[random.randint(len(tones))]
    hair = hair_colours(monk)
    accessory = who.accessory
    if wanted.accessories is not None:
        accessory = (who.accessory or ("glasses", "tie")[random.randint(2)]) if wanted.accessories else ""
    gender = wanted.gender or who.gender
    return Sitter(
        gender,
        wanted.age or who.age,
        monk,
        who.hair if who.hair in hair else hair[random.randint(len(hair))],
        wanted.attire or who.attire,
        wanted.expression or who.expression,
        accessory,
        who.insignia if wanted.insignia is None else wanted.insignia,
        who.facial_hair and gender == "male" if wanted.facial_hair is None else wanted.facial_hair,
    )


def _layer(who: Sitter, face: Face, size: tuple[int, int]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A person alone, painted on black and white: (height, width, 3) colours times opacity, and the opacity."""
    from PIL import Image, ImageDraw

    grounds = []
    for ground in ((0, 0, 0), (255, 255, 255)):
        canvas = Image.new("RGB", (size[0] * FINE, size[1] * FINE), ground)
        paint(Pen(ImageDraw.Draw(canvas), (face.x + 0.5) * FINE, (face.y + 0.5) * FINE, face.unit * FINE), who)
        grounds.append(np.asarray(canvas.reduce(FINE), dtype=np.float64))
    black, white = grounds
    return black, 1 - (white - black).mean(axis=-1) / 255


def _without(pixels: npt.NDArray[np.float64], person: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    from scipy import ndimage

    person = ndimage.binary_dilation(person, iterations=2)
    # Every fourth column is enough for a median.
    walls = np.where(person[:, ::4, None], np.nan, pixels[:, ::4])
    hidden = person[:, ::4].all(axis=1)
    walls[hidden] = np.median(pixels[~person], axis=0) if not person.all() else pixels.mean(axis=(0, 1))
    return np.where(person[..., None], np.nanmedian(walls, axis=1)[:, None], pixels)


SIZE = 384
OFF_PROMPT = 0.15
"""Share of prompts that generator and editor do not follow."""


def sample_tools() -> Tools:
    """One of each."""
    return Tools(DrawnDetector(), DrawnGenerator(), DrawnEditor(), DrawnLabeller(), DrawnMatcher(), DrawnDescriber())


def complete(person: Asked, *key: str | int) -> Asked:
    """A person with every label; missing ones are drawn from the key."""
    random = draws("complete", *key)
    gender, age, tone = (names[random.randint(len(names))] for names in (GENDERS, AGES, SKIN_TONES))
    colour, expression = (names[random.randint(len(names))] for names in (COLOURS, LABELS["f"]))
    shown = [bool(random.randint(2)) for _ in range(3)]
    wanted = person.gender or gender
    beard = person.facial_hair if person.facial_hair is not None else wanted == "male" and shown[2]
    return Asked(
        wanted,
        person.age or age,
        person.skin_tone or tone,
        person.attire or colour,
        person.expression or expression,
        person.accessories if person.accessories is not None else shown[0],
        person.insignia if person.insignia is not None else shown[1],
        beard,
    )


class DrawnGenerator:
    """Draws the picture of `SIZE` pixels that a prompt asks for or, for `OFF_PROMPT` of the prompts, another one."""

    name = f"drawings, {SIZE} pixels, {OFF_PROMPT:.0%} off prompt"

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        """One drawing per prompt."""
        return [self._draw(prompt) for prompt in prompts]

    def _draw(self, prompt: Prompt) -> Image:
        wish = read_prompt(prompt.text)
        off = draws("off prompt", prompt.text, prompt.seed)
        astray = off.random_sample() < OFF_PROMPT
        if wish.thing:
            return draw_object(wish.thing, prompt.seed, SIZE, person=astray)
        people = [complete(person, prompt.text, prompt.seed, place) for place, person in enumerate(wish.people)]
        if astray:
            people = _astray(people, off)
        drawn = [_sitter(person, prompt.seed + place) for place, person in enumerate(people)]
        if len(drawn) == 1:
            kind, job = wish.incomplete, wish.occupation
            return draw_sitter(drawn[0], prompt.seed, size=SIZE, incomplete=kind, occupation=job)
        return draw_scene(drawn, prompt.seed, (SIZE, SIZE))[0]


def _sitter(person: Asked, seed: int) -> Sitter:
    shown = {key: value for key, value in asdict(person).items() if key not in ("gender", "age", "skin_tone")}
    return sitter(person.gender, person.age, person.skin_tone, seed, **shown)


def _astray(people: list[Asked], random: np.random.RandomState) -> list[Asked]:
    if len(people) > 1:
        return people[:1] if random.randint(2) else [people[0], people[0]]
    person, kind = people[0], random.randint(4)
    if kind == 3:
        return [person, person]
    field, names = (("gender", GENDERS), ("age", AGES), ("skin_tone", SKIN_TONES))[kind]
    others = [name for name in names if name != getattr(person, field)]
    other = others[random.randint(len(others))]
    return [Asked(**(asdict(person) | {field: other}))]


class DrawnEditor:
    """Draws the person of a drawing again with an instruction's labels; `OFF_PROMPT` of the pictures stay unchanged."""

    name = f"edited drawings, {OFF_PROMPT:.0%} off prompt"

    def edit(self, images: Sequence[Image], instructions: Sequence[Prompt]) -> list[Image]:
        """One drawing per instruction; pictures without exactly one whole face stay unchanged."""
        done = []
        for image, instruction in zip(images, instructions, strict=True):
            off = draws("off instruction", instruction.text, instruction.seed).random_sample() < OFF_PROMPT
            faces = [] if off else measure(image)
            whole = len(faces) == 1 and faces[0].side == 0
            person = read_person(instruction.text)
            done.append(redraw(image, faces[0], person, instruction.seed) if whole else image.copy())
        return done


class DrawnLabeller:
    """Measures the labels of the one face in a drawing."""

    name = "measured drawings"

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each drawing; none with the reasons `no face`, `several faces`, `unsure`."""
        labels = []
        for faces in map(measure, images):
            if len(faces) != 1:
                labels.append(Labels(reason="several faces" if faces else "no face"))
                continue
            seen = (faces[0].gender, faces[0].age, faces[0].skin_tone)
            labels.append(Labels(*seen, reason="" if all(seen) else "unsure"))
        return labels


class DrawnDetector:
    """Finds the persons of drawings by their eyes."""

    name = "measured drawings"

    def detect(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        """The persons of each drawing, those with two eyes first."""
        similarities = []
        for picture in pictures:
            image = picture.open()
            boxes = [person_box(face, image.size) for face in measure(image)]
            similarities.append(sorted(boxes, key=lambda box: (-box.score, box)))
        return similarities
