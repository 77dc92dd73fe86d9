"""When an answer of a model on this machine ends, token by token; the same rules whatever computes the tokens.

An answer ends at a token or text that says so, at its greatest length, where the model's context is full, or, if that
is asked for, in a loop: its last tokens are the same sequence again and again (`LOOP_TIMES`). That an answer looped is
said of every answer, whether or not it was stopped there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Reason = Literal["stop", "max_tokens", "model_length", "loop"]
"""Why an answer ended: by itself or at a stop text, at its greatest length, at the end of the context, in a loop."""
LOOP_TIMES, LOOP_TOKENS = 4, 192
"""A loop: a sequence stands at the end of the answer at least so often in a row, over at least so many tokens."""
_LOOK_EVERY = 16
_WIDEST = 12
"""Tokens that are decoded together to find a stop text; longer for a longer one."""


@dataclass(frozen=True)
class Choice:
    """How tokens are chosen, and where an answer ends.

    Args:
        max_tokens: of an answer; with `think`, of what follows the thinking.
        temperature: 0 for always the likeliest token; None for what the model's own generation settings say, which
            then also say `top_p` and `top_k` if these are None.
        top_p: see `temperature`.
        top_k: see `temperature`.
        stop: texts at which an answer ends, without them.
        stop_loops: whether an answer ends as soon as it loops.
        think: tokens after which thinking is closed; None leaves it to the model, and counts it in `max_tokens`.
    """

    max_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    stop_loops: bool = False
    think: int | None = None

    @property
    def most(self) -> int:
        """Tokens that can come out, thinking included."""
        return self.max_tokens + (self.think or 0)


@dataclass(frozen=True)
class Said:
    """An answer.

    Args:
        text: without the token or text that ended it.
        tokens: of it.
        reason: why it ended.
    """

    text: str
    tokens: int
    reason: Reason


@dataclass(frozen=True)
class Marks:
    """Tokens that mean something to a model.

    Args:
        ends: that end an answer.
        think: begin and end of thinking; None for a model that has no such tokens.
    """

    ends: frozenset[int]
    think: tuple[int, int] | None = None


@dataclass
class Ending:
    """One answer while it grows.

    Args:
        choice: where it ends.
        marks: of the model.
        decode: tokens -> text.
        room: tokens until the context is full.
        thinking: whether the prompt has begun the thinking.
    """

    choice: Choice
    marks: Marks
    decode: Callable[[Sequence[int]], str]
    room: int
    thinking: bool = False
    tokens: list[int] = field(default_factory=list, init=False)
    reason: Reason | None = field(default=None, init=False)
    """Why the answer has ended; None while it grows."""
    forced: int | None = field(default=None, init=False)
    """The token that must come next; None for any."""
    _answer_from: int = field(default=0, init=False)
    _opened: bool = field(default=False, init=False)
    _begun: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._begun = self._opened = self.thinking
        if self.room < 1:
            self.reason = "model_length"

    def add(self, token: int) -> None:
        """Take the next token."""
        self.forced = None
        if token in self.marks.ends:
            self.reason = "stop"
            return
        self.tokens.append(token)
        self._think(token)
        length = len(self.tokens)
        bounded = not self.thinking or self.choice.think is None
        if self.choice.stop and self._stopped():
            self.reason = "stop"
        elif bounded and length - self._answer_from >= self.choice.max_tokens:
            self.reason = "max_tokens"
        elif length >= self.room:
            self.reason = "model_length"
        elif self.choice.stop_loops and length % _LOOK_EVERY == 0 and loop_period(self.tokens):
            self.reason = "loop"

    def said(self) -> Said:
        """The answer, when it has ended. An answer of the greatest length that loops is said to loop."""
        assert self.reason is not None
        text, reason = self._text(), self.reason
        ends = [place for stop in self.choice.stop if (place := text.find(stop)) >= 0]
        if reason in ("max_tokens", "model_length") and loop_period(self.tokens):
            reason = "loop"
        return Said(text[: min(ends)] if ends else text, len(self.tokens), reason)

    def _think(self, token: int) -> None:
        """Follow the thinking, and close it where its budget is spent."""
        if self.marks.think is None:
            return
        begin, end = self.marks.think
        if token == begin and not self._opened:
            self.thinking = self._opened = True
        elif token == end and self.thinking:
            self.thinking = False
            if self.choice.think is not None:
                self._answer_from = len(self.tokens)
        if self.thinking and self.choice.think is not None and len(self.tokens) >= self.choice.think:
            self.forced = end

    def _stopped(self) -> bool:
        widest = max(_WIDEST, *(len(stop) + 1 for stop in self.choice.stop))
        tail = self.decode(self.tokens[-widest:])
        return any(stop in tail for stop in self.choice.stop)

    def _text(self) -> str:
        """The text; marks of thinking stand in it even where the model's own decoding hides them."""
        if self.marks.think is None or not self._opened:
            return self.decode(self.tokens)
        begin, end = self.marks.think
        text, rest = "", list(self.tokens)
        if not self._begun:
            place = rest.index(begin)
            text, rest = self.decode(rest[:place]), rest[place + 1 :]
        text += "<think>"
        if end not in rest:
            return text + self.decode(rest)
        place = rest.index(end)
        return f"{text}{self.decode(rest[:place])}</think>{self.decode(rest[place + 1 :])}"


def loop_period(tokens: Sequence[int]) -> int:
    """How many tokens the sequence has that is repeated at the end; 0 if the end is no loop (see `LOOP_TIMES`)."""
    for period in range(1, len(tokens) // LOOP_TIMES + 1):
        if tokens[-1] != tokens[-1 - period]:
            continue
        length = max(LOOP_TIMES * period, LOOP_TOKENS)
        tail = tokens[-length:]
        if len(tail) == length and tail[period:] == tail[:-period]:
            return period
    return 0
