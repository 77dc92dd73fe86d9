from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fairspace.builders.drawn.prompts import Asked, read_person, read_prompt
from fairspace.builders.iris.groups import AGES, GROUPS, OCCUPATIONS
from fairspace.builders.iris_ideal_52.dataset import CELLS, prompt
from fairspace.builders.iris_steer_60.plan import LABELS, pairs, steer_prompt
from fairspace.builders.iris_steer_60.understanding import base_prompt, instruction
from fairspace.builders.stereotypical_bias.plan import IMAGE_PROMPTS


def answers(number: int, side: int) -> dict[str, str]:
    """Question -> planned label of an image of a pair, with IRIS' words for ages."""
    labels = pairs().labels[number, side]
    found = {question: names[code] for (question, names), code in zip(LABELS.items(), labels, strict=True)}
    return found | {"b": AGES[LABELS["b"].index(found["b"])]}


def person(labels: Sequence[str]) -> Asked:
    gender, age, tone, attire, expression = (*labels, "", "")[:5]
    return Asked(gender, age, tone, attire, expression)


@pytest.mark.parametrize("number", range(0, 6000, 61))
def test_the_prompt_and_the_instruction_of_a_pair_are_understood(number: int) -> None:
    first, second = answers(number, 0), answers(number, 1)
    beard = None if first["a"] == "female" else first["h"] == "yes"
    wish = read_prompt(base_prompt(number))
    whole = person([first[question] for question in "abcdf"])
    glasses, badge = first["e"] == "yes" or None, first["g"] == "yes" or None  # what is not to be seen is not named
    shown = replace(whole, accessories=glasses, insignia=badge, facial_hair=beard)
    assert wish.people == (shown,)
    assert wish.occupation == OCCUPATIONS[pairs().occupation[number]]
    changed = ["" if first[question] == second[question] else second[question] for question in "abcd"]
    assert read_person(instruction(number)) == person(changed)


def test_prompts_of_every_cell_and_steer_prompt_are_understood() -> None:
    for cell in CELLS[::5]:
        occupation, group = cell.split("/")
        wish = read_prompt(prompt(cell))
        assert (wish.occupation, wish.people, wish.incomplete) == (occupation, (person(group.split("_")),), "")
    for number, group in enumerate(GROUPS):
        assert read_prompt(steer_prompt(number, number)).people == (person(group.split("_")),)


@pytest.mark.parametrize("trait", IMAGE_PROMPTS)
def test_things_are_asked_for_without_a_person(trait: str) -> None:
    wish = read_prompt(IMAGE_PROMPTS[trait])
    assert (wish.thing, wish.people) == (trait, ())


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("make the person female instead of male", Asked("female")),
        ("Turn the young man into an older woman", Asked("female", "older")),
        ("change the skin tone to dark", Asked(skin_tone="dark")),
        ("a medium-skinned person in a grey coat", Asked(skin_tone="middle", attire="gray")),
        ("no glasses, no badge and no facial hair", Asked(accessories=False, insignia=False, facial_hair=False)),
        ("soft lighting, dark room, a light meal", Asked()),
    ],
)
def test_instructions_are_read_by_what_they_end_in(text: str, asked: Asked) -> None:
    assert read_person(text) == asked


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("the incomplete face of a young male, half of it outside the picture", "side"),
        ("the incomplete face of a young male, mouth and chin covered by a scarf", "scarf"),
        ("the incomplete face of a young male, one side hidden behind a panel", "panel"),
        ("an incomplete face of a young male", "any"),
        ("the face of a young male", ""),
    ],
)
def test_incomplete_faces_are_asked_for_in_three_ways(text: str, way: str) -> None:
    assert read_prompt(text).incomplete == way
