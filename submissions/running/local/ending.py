"""Prompts from chats, and the ends of answers; the same rules for every engine.

An answer ends at a token or text that says so, at its greatest length, at the end of the model's context, or, if
asked for, in a loop (`LOOP_TIMES`). Every answer that loops is marked, stopped or not. A model with a chat template is
asked through it; a base model completes `Question: ...`, `Answer:`, and ends where it begins either anew.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Reason = Literal["stop", "max_tokens", "model_length", "loop"]
"""End of an answer: by itself or at a stop text, at its greatest length, at the end of the context, in a loop."""
LOOP_TIMES, LOOP_TOKENS = 4, 192
"""Least repetitions of a sequence at the answer's end, and least tokens in all of them, that make a loop."""
_LOOK_EVERY = 16
_WIDEST = 12
"""Tokens decoded together to find a stop text; more for a longer one."""


@dataclass(frozen=True)
class Choice:
    """Choice of tokens, and end of an answer.

    Args:
        max_tokens: greatest length of an answer, thinking included.
        temperature: 0 for greedy decoding; None for the model's own settings, then also of `top_p` and `top_k` if None.
        stop: texts that end an answer and are cut off.
        stop_loops: whether an answer ends as soon as it loops.
        schema: JSON schema of the answer, as JSON; '' for none.
    """

    max_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    stop_loops: bool = False
    schema: str = ""


@dataclass(frozen=True)
class Said:
    """An answer; `text` is without the token or text that ended it."""

    text: str
    tokens: int
    reason: Reason


@dataclass(frozen=True)
class Marks:
    """Tokens of a model that end an answer, and the two around thinking; None for a model without such tokens."""

    ends: frozenset[int]
    think: tuple[int, int] | None = None


@dataclass
class Ending:
    """One answer while it grows, with `room` for as many tokens; `thinking` tells whether the prompt has begun it."""

    choice: Choice
    marks: Marks
    decode: Callable[[Sequence[int]], str]
    room: int
    thinking: bool = False
    tokens: list[int] = field(default_factory=list, init=False)
    reason: Reason | None = field(default=None, init=False)
    """End of the answer; None while it grows."""

    def __post_init__(self) -> None:
        if self.room < 1:
            self.reason = "model_length"

    def take(self, tokens: Sequence[int]) -> None:
        """Take tokens until the answer ends."""
        text = [token for token in tokens if token not in self.marks.ends]
        near = len(tokens) == 1 or bool(self.choice.stop and self._stopped(text))
        for token in tokens:
            if self.reason is None:
                self.add(token, near)

    def add(self, token: int, near: bool = True) -> None:
        """Take the next token; it is not decoded unless a stop text is `near`."""
        if token in self.marks.ends:
            self.reason = "stop"
            return
        self.tokens.append(token)
        length = len(self.tokens)
        if near and self.choice.stop and self._stopped():
            self.reason = "stop"
        elif length >= self.choice.max_tokens:
            self.reason = "max_tokens"
        elif length >= self.room:
            self.reason = "model_length"
        elif self.choice.stop_loops and length % _LOOK_EVERY == 0 and loop_period(self.tokens):
            self.reason = "loop"

    def said(self) -> Said:
        """The ended answer; one of the greatest length that loops has the reason `loop`."""
        assert self.reason is not None
        text, reason = self._text(), self.reason
        ends = [place for stop in self.choice.stop if (place := text.find(stop)) >= 0]
        if reason in ("max_tokens", "model_length") and loop_period(self.tokens):
            reason = "loop"
        return Said(text[: min(ends)] if ends else text, len(self.tokens), reason)

    def _stopped(self, more: Sequence[int] = ()) -> bool:
        widest = max(_WIDEST, *(len(stop) + 1 for stop in self.choice.stop))
        tail = self.decode([*self.tokens[-widest:], *more])
        return any(stop in tail for stop in self.choice.stop)

    def _text(self) -> str:
        """The text, with marks of thinking even if the model's own decoding hides them."""
        if self.marks.think is None or not (self.thinking or self.marks.think[0] in self.tokens):
            return self.decode(self.tokens)
        begin, end = self.marks.think
        text, rest = "", list(self.tokens)
        if not self.thinking:
            place = rest.index(begin)
            text, rest = self.decode(rest[:place]), rest[place + 1 :]
        text += "<think>"
        if end not in rest:
            return text + self.decode(rest)
        place = rest.index(end)
        return f"{text}{self.decode(rest[:place])}</think>{self.decode(rest[place + 1 :])}"


def loop_period(tokens: Sequence[int]) -> int:
    """Length in tokens of the sequence that is repeated at the end; 0 if the end is no loop (see `LOOP_TIMES`)."""
    for period in range(1, len(tokens) // LOOP_TIMES + 1):
        if tokens[-1] != tokens[-1 - period]:
            continue
        length = max(LOOP_TIMES * period, LOOP_TOKENS)
        tail = tokens[-length:]
        if len(tail) == length and tail[period:] == tail[:-period]:
            return period
    return 0


_ROLES = {"user": "Question:", "assistant": "Answer:"}
"""Role of a turn -> words before its text in the prompt of a base model."""
STOPS = tuple(f"\n{words}" for words in _ROLES.values())
"""Texts at which the answer of a base model ends: the next turn of the prompt's own form."""
_THINK = ("<think>", "</think>")
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|endofturn|>", "<turn|>")
"""Ends of a turn in the usual families; files of weights often name the end of a whole text alone."""


def texts_of(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """A chat of texts: the parts of each turn as lines."""
    return [{**turn, "content": "\n".join(part["text"] for part in turn["content"])} for turn in turns]


def completion(turns: Sequence[Mapping[str, str]]) -> str:
    """A chat as a text that a base model completes with the answer."""
    lines = [f"{_ROLES.get(turn['role'], '')} {turn['content'].strip()}".lstrip() for turn in turns]
    return "\n".join([*lines, _ROLES["assistant"]])


def marks_of(token_of: Callable[[str], int | None], template: str, ends: Iterable[int]) -> Marks:
    """Tokens that end an answer (`ends`, from the model's settings) or a template's turn, and the two around thinking.

    `token_of`: text -> its single token; None if it is several.
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


_MOST = 8


def usable_cores() -> int:
    """Cores that this process may use; in a container fewer than its host has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rows_that_fit(row: float, free: float) -> int:
    """Rows of a batch: 8, or fewer if keys and values (`row` bytes each) fill half of the free bytes; at least 1."""
    rows = _MOST
    while rows > 1 and rows * row > free / 2:
        rows //= 2
    return rows
