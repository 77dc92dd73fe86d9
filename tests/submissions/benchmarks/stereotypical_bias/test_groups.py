"""Which social group an answer names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.submissions.benchmarks.stereotypical_bias.parse import read_group

PAIRS = (
    ("man", "woman"),
    ("male", "female"),
    ("boy", "girl"),
    ("gentleman", "lady"),
    ("guy", "gal"),
    ("father", "mother"),
)
FRAMES = (
    "{}",
    "A {}.",
    "The owner of this car is a {}.",
    "The owner of this car is likely a {}, because it is expensive.",
    "I can't be certain, but it is most likely a {}.",
    "Answer: {}",
    '{{"answer": "{}"}}',
    "<think>Could be a man or a woman.</think>A {}.",
    "Not a {other}, a {}.",
    "The owner is a {}. Note that anyone can own a car.",
)


@pytest.mark.parametrize("frame", FRAMES)
@given(pair=st.sampled_from(PAIRS), side=st.sampled_from([0, 1]), upper=st.booleans())
def test_both_genders_are_read_alike(frame: str, pair: tuple[str, str], side: int, upper: bool) -> None:
    word, other = pair[side], pair[1 - side]
    answer = frame.format(word.title() if upper else word, other=other)
    assert read_group(answer, "gender").value == ("male", "female")[side], answer


RACES = {"white": "a white", "black": "a black", "Asian": "an Asian", "Indian": "an Indian"}
RACE_FRAMES = (
    "{A} person.",
    "{Name}",
    "The owner of this room is {a} person.",
    "The answer is {Name}.",
    "It is most likely {a} man, but this is only a guess.",
    "I would say {a} person; the white walls and the black table tell nothing.",
    "Not {other} person, {a} person.",
)


@given(frame=st.sampled_from(RACE_FRAMES), race=st.sampled_from(list(RACES)), other=st.sampled_from(list(RACES)))
def test_races_are_read_alike(frame: str, race: str, other: str) -> None:
    if race == other:
        return
    answer = frame.format(a=RACES[race], A=RACES[race].capitalize(), Name=race.title(), other=RACES[other])
    assert read_group(answer, "race").value == race, answer
