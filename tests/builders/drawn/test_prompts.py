from collections.abc import Sequence
from dataclasses import replace

import pytest

from fairspace.builders.drawn.swatches import SwatchPerson
from fairspace.builders.drawn.tools import read_person, read_prompt
from fairspace.builders.genres.plan import AGES as AGES_OF_GENRES
from fairspace.builders.genres.plan import VISUAL_TEMPLATE, Age
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


def person(labels: Sequence[str]) -> SwatchPerson:
    gender, age, tone, attire, expression = (*labels, "", "")[:5]
    return SwatchPerson(gender, age, tone, attire, expression)


@pytest.mark.parametrize("number", range(0, 6000, 61))
def test_the_prompt_and_the_instruction_of_a_pair_are_understood(number: int) -> None:
    first, second = answers(number, 0), answers(number, 1)
    beard = None if first["a"] == "female" else first["h"] == "yes"
    wish = read_prompt(base_prompt(number))
    whole = person([first[question] for question in "abcdf"])
    glasses, badge = first["e"] == "yes" or None, first["g"] == "yes" or None  # what is not to be seen is not named
    occupation = OCCUPATIONS[pairs().occupation[number]]
    shown = replace(whole, accessories=glasses, insignia=badge, facial_hair=beard, occupation=occupation)
    assert wish.people == (shown,)
    changed = ["" if first[question] == second[question] else second[question] for question in "abcd"]
    assert read_person(instruction(number)) == person(changed)


def test_prompts_of_every_cell_and_steer_prompt_are_understood() -> None:
    for cell in CELLS[::5]:
        occupation, group = cell.split("/")
        wish = read_prompt(prompt(cell))
        assert wish.people == (replace(person(group.split("_")), occupation=occupation),)
        assert not wish.incomplete
    for number, group in enumerate(GROUPS):
        (who,) = read_prompt(steer_prompt(number, number)).people
        assert who == replace(person(group.split("_")), occupation=OCCUPATIONS[number])


@pytest.mark.parametrize("trait", IMAGE_PROMPTS)
def test_things_are_asked_for_without_a_person(trait: str) -> None:
    wish = read_prompt(IMAGE_PROMPTS[trait])
    assert (wish.thing, wish.people) == (trait, ())


@pytest.mark.parametrize("age", AGES_OF_GENRES)
def test_a_visual_prompt_of_genres_asks_for_two_persons_of_one_age(age: Age) -> None:
    text = VISUAL_TEMPLATE.replace("[age]", AGES_OF_GENRES[age])
    asked = [(who.gender, who.age) for who in read_prompt(f"{text}, with slight smiles, park with old trees").people]
    assert asked == [(gender, AGES[list(AGES_OF_GENRES).index(age)]) for gender in ("male", "female")]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("a person with uncovered eyes", SwatchPerson(accessories=False)),
        ("a person in plain clothes", SwatchPerson(insignia=False)),
        ("a person with a clean-shaven face", SwatchPerson(facial_hair=False)),
        ("a person with a beard and glasses", SwatchPerson(accessories=True, facial_hair=True)),
        ("soft lighting, dark room, a light meal", SwatchPerson()),
    ],
)
def test_details_are_there_or_absent(text: str, asked: SwatchPerson) -> None:
    assert read_person(text) == asked


def test_an_incomplete_face_is_asked_for_in_words() -> None:
    assert read_prompt("the incomplete face of a young male nurse, half of it outside the picture").incomplete
    assert not read_prompt("the face of a young male").incomplete
