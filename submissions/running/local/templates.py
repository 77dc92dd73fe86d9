"""How a chat becomes a prompt, and which tokens end an answer or mark its thinking.

A model with a chat template is asked through it. One without, a base model, completes a text: `Question: ...`,
`Answer:`, and its answer ends where it begins a question of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fairspace.submissions.running.local.ending import Marks

STOPS = ("\nQuestion:",)
"""Texts at which the answer of a base model ends."""
_ROLES = {"user": "Question: ", "assistant": "Answer: ", "system": ""}
_THINK = ("<think>", "</think>")
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|endofturn|>", "<turn|>")
"""How the usual families write the end of a turn. Files of weights often name the end of a whole text alone."""


def texts_of(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """A chat of texts: the parts of each turn as lines."""
    return [{**turn, "content": "\n".join(part["text"] for part in turn["content"])} for turn in turns]


def completion(turns: Sequence[Mapping[str, str]]) -> str:
    """A chat as a text that a base model completes with the answer."""
    lines = [f"{_ROLES.get(turn['role'], '')}{turn['content'].strip()}" for turn in turns]
    return "\n".join([*lines, "Answer:"])


def marks_of(token_of: Callable[[str], int | None], template: str, ends: Iterable[int]) -> Marks:
    """The tokens that end an answer, those of turns included, and those around thinking.

    Args:
        token_of: text -> the token that it is; None if it is several.
        template: of chats; '' for none.
        ends: the tokens that the model's settings name.
    """
    turns = {token_of(text) for text in _TURN_ENDS if text in template} - {None}
    begin, end = (token_of(text) for text in _THINK)
    think = None if begin is None or end is None else (begin, end)
    return Marks(frozenset(token for token in {*ends, *turns} if token is not None), think)


def begins_thinking(prompt: Iterable[int], marks: Marks) -> bool:
    """Whether a prompt (its tokens) ends inside thinking that the template has begun."""
    if marks.think is None:
        return False
    last = [int(token) for token in prompt if int(token) in marks.think]
    return bool(last) and last[-1] == marks.think[0]
