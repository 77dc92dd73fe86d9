"""One exchange with a model through Inspect: message, output, failure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fairspace.submissions.benchmarks.asks import Ask
from fairspace.submissions.running.asking.journal import Answer, Fate
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

ENDED = "ended"
"""Key of an output's metadata: why the answer ended, in our words, which include loops."""
_SIGNATURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


@dataclass
class Spent:
    """Tokens and attempts of a request so far."""

    attempts: int = 0
    input: int = 0
    output: int = 0

    def add(self, output: ModelOutput) -> None:
        """Count an answer's tokens, cached ones included: they are paid for too."""
        if usage := output.usage:
            self.input += usage.input_tokens
            self.input += (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            self.output += usage.output_tokens


class FailedError(Exception):
    """No attempt of a request gave an answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def compact(answer: Answer) -> dict[str, Any]:
    """An answer in a log's form, without empty fields and the hash of its prompt."""
    kept = ("task", "id", "sample", "fate", "response", "attempts")
    given = {name: value for name, value in asdict(answer).items() if name in kept or value}
    given.pop("prompt_hash", None)
    return given


def summary(answers: Sequence[Answer]) -> str:
    """Numbers of requests by fate, for a reader of the log."""
    counts: dict[Fate, int] = {}
    for answer in answers:
        counts[answer.fate] = counts.get(answer.fate, 0) + 1
    return ", ".join(f"{number} {fate}" for fate, number in sorted(counts.items()))


def answer_of(ask: Ask, output: ModelOutput, spent: Spent) -> Answer:
    """The fate of a request; refused if the provider or the model withheld the text."""
    content = output.message.content
    withheld = isinstance(content, list) and any(getattr(piece, "refusal", None) for piece in content)
    refused = withheld or output.stop_reason == "content_filter"
    return Answer(
        *ask.key,
        fate="refused" if refused else "answered",
        response=None if refused else storable(output.completion),
        reason=(storable(output.completion)[:200] or "content filter") if refused else "",
        stop=str((output.metadata or {}).get(ENDED, output.stop_reason)),
        attempts=spent.attempts,
        input_tokens=spent.input,
        output_tokens=spent.output,
    )


def storable(text: str) -> str:
    """A text that UTF-8 can hold: without NUL, and with marks for halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def content_of(ask: Ask, images: Sequence[bytes]) -> Any:
    """The content of the message: the prompt to the letter, after its image if it has one."""
    from inspect_ai.model import ContentImage, ContentText

    if ask.image is None:
        return ask.prompt
    return [ContentImage(image=_data_uri(images[ask.image])), ContentText(text=ask.prompt)]


@lru_cache(maxsize=64)
def _data_uri(image: bytes) -> str:
    kind = next((kind for mark, kind in _SIGNATURES.items() if image.startswith(mark)), None)
    if kind is None:
        raise RunError(
            "DATA_INVALID",
            "an image",
            f"bytes that begin with {image[:4]!r}",
            "PNG, JPEG or WebP",
            "build the dataset again",
        )
    return f"data:{kind};base64,{base64.b64encode(image).decode()}"


def reason_of(error: BaseException) -> str:
    """The innermost cause of a failure, in one line."""
    inner = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    last = getattr(error, "last_attempt", None)
    if last is not None and last.exception() is not None:
        inner = last.exception()
    text = " ".join(str(inner).split())
    return storable(f"{type(inner).__name__}: {text}"[:300])
