from collections.abc import Sequence

import pytest

from fairspace.submissions.running.local import ending as rules
from fairspace.submissions.running.local.ending import (
    LOOP_TIMES,
    LOOP_TOKENS,
    Choice,
    Ending,
    Marks,
    Said,
    loop_period,
)

END, THINK, THOUGHT = 0, 1, 2
MARKS = Marks(frozenset({END}), (THINK, THOUGHT))


def letters(tokens: Sequence[int]) -> str:
    """Tokens from 10 on are the letters from a on; special tokens have no text."""
    return "".join(chr(ord("a") + token - 10) for token in tokens if token >= 10)


def grown(tokens: Sequence[int], choice: Choice, room: int = 10_000, thinking: bool = False) -> Ending:
    ending = Ending(choice, MARKS, letters, room, thinking)
    said = iter(tokens)
    while ending.reason is None:
        ending.add(next(said))
    return ending


@pytest.mark.parametrize(
    ("tokens", "choice", "room", "text", "reason"),
    [
        ([10, 11, END], Choice(5), 9, "ab", "stop"),
        ([END], Choice(5), 9, "", "stop"),
        ([10, 11, 12], Choice(2), 9, "ab", "max_tokens"),
        ([10, 11, 12], Choice(5), 2, "ab", "model_length"),
        ([10, 11, 12, 13], Choice(9, stop=("bc",)), 9, "a", "stop"),
        ([10, 11, 12, 13], Choice(9, stop=("zz", "cd", "bcd")), 9, "a", "stop"),
    ],
)
def test_an_answer_ends(tokens: list[int], choice: Choice, room: int, text: str, reason: str) -> None:
    said = grown(tokens, choice, room).said()
    assert (said.text, said.reason) == (text, reason)
    assert said.tokens <= min(choice.max_tokens, room)


def test_a_prompt_without_room_ends_before_it_begins() -> None:
    assert Ending(Choice(5), MARKS, letters, 0).said().reason == "model_length"


@pytest.mark.parametrize(
    ("tokens", "thinking", "text"),
    [
        ([THINK, 12, THOUGHT, 10, 11, END], False, "<think>c</think>ab"),
        ([10, THINK, 12, THOUGHT, 10, END], False, "a<think>c</think>a"),
        ([THINK, *[12] * 5], False, "<think>ccccc"),
        ([12, 12, THOUGHT, 10, END], True, "<think>cc</think>a"),
    ],
)
def test_marks_of_thinking_stand_in_the_text(tokens: list[int], thinking: bool, text: str) -> None:
    assert grown(tokens, Choice(6), thinking=thinking).said().text == text


@pytest.mark.parametrize("period", [1, 2, 7, 48, 60])
def test_a_loop_is_the_same_sequence_again_and_again(period: int) -> None:
    cycle = list(range(10, 10 + period))
    needed = max(LOOP_TIMES * period, LOOP_TOKENS)
    looping = [5, 6, *cycle * (needed // period + 1)]
    assert loop_period(looping) == period
    assert loop_period([*looping[: 2 + needed - 1]]) == 0, "one token less is not enough"
    assert loop_period([*looping[:-1], 9]) == 0, "the end breaks it"
    assert loop_period([*looping[:-needed], 9, *looping[-needed:]]) == period, "what stands before does not matter"


def test_an_answer_without_repetition_is_no_loop() -> None:
    assert loop_period(list(range(2000))) == 0
    assert loop_period([]) == 0


def test_a_base_models_answer_ends_where_the_prompts_form_begins_anew() -> None:
    turns = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    frame = rules.completion(turns)
    assert frame == "Question: x\nAnswer: x\nQuestion: x\nAnswer:"
    assert {"\n" + line.removesuffix(" x") for line in frame.splitlines()} == {*rules.STOPS}
    text = " A. Kendall\nAnswer: B. Kendall\nAnswer: C."
    choice = Choice(99, stop=rules.STOPS)
    ending = Ending(choice, Marks(frozenset()), lambda said: "".join(text[place] for place in said), 99)
    ending.take(range(len(text)))
    assert (ending.said().text, ending.said().reason) == (" A. Kendall", "stop")


def test_a_block_without_a_stop_text_is_decoded_once() -> None:
    decoded: list[Sequence[int]] = []

    def decode(tokens: Sequence[int]) -> str:
        decoded.append(tokens)
        return "".join(map(chr, tokens))

    ending = Ending(Choice(100, stop=("\nAnswer:",)), Marks(frozenset({0})), decode, 100)
    ending.take(list(map(ord, "a man, and a")))
    assert len(decoded) == 1
    ending.take(list(map(ord, " woman\nAns")))
    assert len(decoded) == 2
    ending.take([*map(ord, "wer: B"), 0])
    assert ending.said() == Said("a man, and a woman", len("a man, and a woman\nAnswer:"), "stop")
