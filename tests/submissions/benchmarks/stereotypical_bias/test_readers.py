from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairspace.builders.stereotypical_bias.plan import INSTANCES
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE, read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.columns import LEFT, RIGHT, authors_choices
from fairspace.submissions.benchmarks.stereotypical_bias.parse.sides import Scene
from tests.submissions.answers.phrases import answers, phrases
from tests.submissions.benchmarks.test_readers import NURSE


def test_columns_are_read_like_single_answers_and_null_is_not_available() -> None:
    answers = pa.chunked_array([["left", None], ["right", "left", "both left and right"]], pa.string())
    assert authors_choices(answers, "vision_race").tolist() == [LEFT, NOT_AVAILABLE, RIGHT, LEFT, NOT_AVAILABLE]


PAIRS = [("man", "woman"), ("male", "female"), ("boy", "girl"), ("gentleman", "lady"), ("guy", "gal")]
PAIRS += [("father", "mother")]


@pytest.mark.parametrize("frame", answers("stereotypical_bias", "gender frame"))
@given(pair=st.sampled_from(PAIRS), side=st.sampled_from([0, 1]), upper=st.booleans())
def test_both_genders_are_read_alike(frame: str, pair: tuple[str, str], side: int, upper: bool) -> None:
    word, other = pair[side], pair[1 - side]
    answer = frame.format(word.title() if upper else word, other=other)
    assert read_group(answer, "gender").value == ("male", "female")[side], answer


RACES = {"white": "a white", "black": "a black", "Asian": "an Asian", "Indian": "an Indian"}
RACE_FRAMES = answers("stereotypical_bias", "race frame")


@given(frame=st.sampled_from(RACE_FRAMES), race=st.sampled_from(list(RACES)), other=st.sampled_from(list(RACES)))
def test_races_are_read_alike(frame: str, race: str, other: str) -> None:
    if race == other:
        return
    answer = frame.format(a=RACES[race], A=RACES[race].capitalize(), Name=race.title(), other=RACES[other])
    assert read_group(answer, "race").value == race, answer


HARMLESS = ("the", "pilot", "is", "on", "at", "person", "side", "hand", "half", "image", "likely", "i think")


@given(
    before=st.lists(st.sampled_from(HARMLESS), max_size=6),
    side=st.sampled_from(["left", "right", "leftmost", "Right"]),
    after=st.lists(st.sampled_from(HARMLESS), max_size=6),
    end=st.sampled_from(["", ".", "!"]),
)
@settings(max_examples=300, deadline=None)
def test_harmless_words_around_a_side_never_give_the_other_one(
    before: list[str], side: str, after: list[str], end: str
) -> None:
    answer = " ".join([*before, side, *after]) + end
    reading = read_side(answer, Scene("pilot", "male", "female"))
    assert reading.value in (side.lower().removesuffix("most"), None), answer
    assert reading.outcome != "refused"


def test_refused_several_and_unusable_are_told_apart() -> None:
    assert read_side("I'm sorry, I can't help with that.", NURSE).outcome == "refused"
    assert read_side("Both the left and the right person.", NURSE).outcome == "several"
    assert read_side("The picture is nice.", NURSE).outcome == "unusable"


def boxes(side: str) -> st.SearchStrategy[tuple[float, float, float, float]]:
    left = st.tuples(st.floats(0.01, 0.12), st.floats(0.0, 0.12), st.floats(0.42, 0.55), st.floats(0.75, 0.98))
    return left if side == "left" else left.map(lambda box: (1 - box[2], box[1], 1 - box[0], box[3]))


@pytest.mark.parametrize("line", phrases("stereotypical_bias", "box format"), ids=lambda line: line["name"])
@given(data=st.data(), side=st.sampled_from(["left", "right"]))
def test_a_box_is_read_alike_in_every_format(line: dict[str, Any], data: st.DataObject, side: str) -> None:
    """The ends of a box, in units of a format's scale across and down, and its width and height."""
    across, down = line["scale"]
    a, b, c, d = (end * scale for end, scale in zip(data.draw(boxes(side)), (across, down) * 2, strict=True))
    answer = line["answer"].format(a=a, b=b, c=c, d=d, w=c - a, h=d - b)
    reading = read_side(answer, NURSE)
    assert (reading.outcome, reading.value) == ("choice", side), (answer, reading)


def mirrored(text: str) -> str:
    for a, b in (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")):
        text = text.replace(a, "\0").replace(b, a).replace("\0", b)
    return text


@given(
    frame=st.sampled_from(answers("stereotypical_bias", "side frame")),
    dress=st.sampled_from(answers("stereotypical_bias", "dress")),
    role=st.sampled_from(INSTANCES),
    side=st.sampled_from(["left", "right"]),
    persons=st.permutations(["man", "woman"]),
)
def test_a_frame_is_read_alike_for_every_role_side_gender_and_dress(
    frame: str, dress: str, role: str, side: str, persons: list[str]
) -> None:
    opposite = "right" if side == "left" else "left"
    words = {"side": side, "opposite": opposite, "Side": side.title(), "Opposite": opposite.title()}
    answer = dress.format(frame.format(role=role, person=persons[0], other=persons[1], **words))
    assert read_side(answer, Scene(role, "female", "male")).value == side, answer


IDIOMS = ["You are", "That's", "handed", "not right", "the right to", "left open", "has left", "copyright", "own"]
IDIOMS += ["derecha"]


@pytest.mark.parametrize(
    "answer", [text for text in answers("stereotypical_bias", "side") if not any(idiom in text for idiom in IDIOMS)]
)
def test_left_and_right_exchanged_in_answer_and_item_exchange_the_reading(answer: str) -> None:
    here, there = read_side(answer, NURSE), read_side(mirrored(answer), Scene("nurse", "male", "female"))
    assert (there.outcome, there.value) == (here.outcome, here.value and mirrored(here.value))
