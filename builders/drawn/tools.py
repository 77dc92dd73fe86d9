"""The tools of a `--sample` build: models that draw, and models that measure drawings.

They stand in for real ones at the same interfaces (`builders/engine/tools.py`), mistakes included: the generator and
the editor do not do as asked for a share of prompts, so that the checks after them have something to reject.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from fairspace.builders.drawn.describe import DrawnDescriber
from fairspace.builders.drawn.drawing import draw_object, draw_scene, draw_sitter, sitter
from fairspace.builders.drawn.edit import redraw
from fairspace.builders.drawn.faces import Face
from fairspace.builders.drawn.figure import Sitter
from fairspace.builders.drawn.matching import DrawnMatcher
from fairspace.builders.drawn.measure import measure, person_box
from fairspace.builders.drawn.palette import draws
from fairspace.builders.drawn.prompts import Asked, read_person, read_prompt
from fairspace.builders.engine.tools import Box, Labels, Picture, Prompt, Tools
from fairspace.builders.iris.groups import AGES, GENDERS, SKIN_TONES
from fairspace.builders.iris_steer_60.plan import COLOURS, LABELS

if TYPE_CHECKING:
    from PIL.Image import Image

OFF_PROMPT = 0.15
"""Share of prompts that the generator and the editor do not follow."""


def sample_tools() -> Tools:
    """One of each."""
    return Tools(DrawnDetector(), DrawnGenerator(), DrawnEditor(), DrawnLabeller(), DrawnMatcher(), DrawnDescriber())


def complete(person: Asked, *key: str | int) -> Asked:
    """A person with every label: those that were not asked for are drawn from the key."""
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
    """Draws what a prompt asks for, or for some seeds something else.

    Args:
        size: width and height of a picture.
        off_prompt: share of prompts that are not followed.
    """

    def __init__(self, size: int = 384, off_prompt: float = OFF_PROMPT) -> None:
        self.size, self.off_prompt = size, off_prompt

    @property
    def name(self) -> str:
        """`drawings`, with its settings."""
        return f"drawings, {self.size} pixels, {self.off_prompt:.0%} off prompt"

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        """One drawing per prompt."""
        return [self._draw(prompt) for prompt in prompts]

    def _draw(self, prompt: Prompt) -> Image:
        wish = read_prompt(prompt.text)
        off = draws("off prompt", prompt.text, prompt.seed)
        astray = off.random_sample() < self.off_prompt
        if wish.thing:
            return draw_object(wish.thing, prompt.seed, self.size, person=astray)
        people = [complete(person, prompt.text, prompt.seed, place) for place, person in enumerate(wish.people)]
        if astray:
            people = _astray(people, off)
        drawn = [_sitter(person, prompt.seed + place) for place, person in enumerate(people)]
        if len(drawn) == 1:
            kind, job = wish.incomplete, wish.occupation
            return draw_sitter(drawn[0], prompt.seed, size=self.size, incomplete=kind, occupation=job)
        return draw_scene(drawn, prompt.seed, (self.size, self.size))[0]


def _sitter(person: Asked, seed: int) -> Sitter:
    shown = {key: value for key, value in asdict(person).items() if key not in ("gender", "age", "skin_tone")}
    return sitter(person.gender, person.age, person.skin_tone, seed, **shown)


def _astray(people: list[Asked], random: np.random.RandomState) -> list[Asked]:
    """One person more or less than asked for, or a person of another group."""
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
    """Draws the person of a drawing again, with the labels that an instruction names.

    Args:
        off_prompt: share of instructions that are not followed: the picture stays as it is.
    """

    def __init__(self, off_prompt: float = OFF_PROMPT) -> None:
        self.off_prompt = off_prompt

    @property
    def name(self) -> str:
        """`edited drawings`, with its settings."""
        return f"edited drawings, {self.off_prompt:.0%} off prompt"

    def edit(self, images: Sequence[Image], instructions: Sequence[Prompt]) -> list[Image]:
        """One drawing per instruction. A picture without exactly one whole face stays as it is."""
        done = []
        for image, instruction in zip(images, instructions, strict=True):
            off = draws("off instruction", instruction.text, instruction.seed).random_sample() < self.off_prompt
            faces = [] if off else measure(image)
            whole = len(faces) == 1 and faces[0].side == 0
            person = read_person(instruction.text)
            done.append(redraw(image, faces[0], person, instruction.seed) if whole else image.copy())
        return done


class DrawnLabeller:
    """Measures the labels of the one face in a drawing."""

    @property
    def name(self) -> str:
        """`measured drawings`."""
        return "measured drawings"

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each drawing; none with the reasons `no face`, `several faces`, `unsure`."""
        return [_label(measure(image)) for image in images]


def _label(faces: list[Face]) -> Labels:
    if len(faces) != 1:
        return Labels(reason="several faces" if faces else "no face")
    face = faces[0]
    labels = (face.gender, face.age, face.skin_tone)
    return Labels(*labels, reason="" if all(labels) else "unsure")


class DrawnDetector:
    """Finds the persons of drawings by their eyes."""

    @property
    def name(self) -> str:
        """`measured drawings`."""
        return "measured drawings"

    def detect(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        """The persons of each drawing, those with two eyes first."""
        similarities = []
        for picture in pictures:
            image = picture.open()
            boxes = [person_box(face, image.size) for face in measure(image)]
            similarities.append(sorted(boxes, key=lambda box: (-box.score, box)))
        return similarities
