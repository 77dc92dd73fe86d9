"""Give requests to a function of the user's, and make fates of what it returns.

    def answer(prompt, images):      # a text, and a list of PIL images, empty where none is shown
        return "nurse"               # None if the model refused

A function of one parameter is given the prompt alone, and one with parameters `seed`, `temperature` or `max_tokens`
gets these too. In batches it is given a list of each and returns a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from fairspace.submissions.benchmarks.asks import Ask, Part, ask_seed
from fairspace.submissions.format.collector import show
from fairspace.submissions.running.asking.exchange import reason_of, storable
from fairspace.submissions.running.asking.journal import Answer
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local.own_code import OWN, OwnModel, takes

if TYPE_CHECKING:
    from PIL.Image import Image

ATTEMPTS = 3
"""How often a request is sent to a function that raises."""


@dataclass(frozen=True)
class Request:
    """One request with the pictures that it may show."""

    ask: Ask
    images: Sequence[bytes]
    part: Part


class Caller:
    """Gives requests to a function and makes fates of what it returns.

    Args:
        model: the function, and how it is called.
        settings: of generation, for a function that takes them.
        seed: of the run; None for none.
    """

    def __init__(self, model: OwnModel, settings: dict[str, Any], seed: int | None):
        self.model, self.seed = model, seed
        self._shows = shows_images(model.function)
        self._given = {name: settings.get(name) for name in takes(model.function) if name != "seed"}
        self._seeded = "seed" in takes(model.function)

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """The fates of a batch; each alone where the batch raises. RunError MODEL_OUTPUT names the item."""
        if len(requests) > 1:
            try:
                texts = self._texts(requests, 0)
                return [self._readable(*pair) for pair in zip(requests, texts, strict=True)]
            except RunError:
                raise
            except Exception:  # noqa: BLE001 - foreign code; which item it cannot answer is found one by one
                return [answer for request in requests for answer in self.answers([request])]
        (request,) = requests
        for attempt in range(1, ATTEMPTS + 1):
            try:
                (text,) = self._texts(requests, 0)
                answer = self._readable(request, text)
                return [replace(answer, attempts=answer.attempts + attempt - 1)]
            except RunError:
                raise
            except Exception as error:
                if attempt < ATTEMPTS:
                    continue
                if self.model.on_error == "keep":
                    return [Answer(*request.ask.key, "failed", None, reason_of(error), attempts=attempt)]
                raise self._wrong(request, reason_of(error), "an answer") from error
        raise AssertionError("every attempt returns, goes on or raises")

    def _readable(self, request: Request, text: str | None) -> Answer:
        """The fate of a text; it is asked for anew where the benchmark says so and it cannot be read."""
        unread: list[str] = []
        while text is not None and not request.part.readable(request.ask, text):
            if text in unread or len(unread) >= request.part.unreadable_again:
                break
            unread.append(text)
            (text,) = self._texts([request], len(unread))
        fate: Any = "refused" if text is None else "answered"
        reason = "the function returned None" if text is None else ""
        return Answer(*request.ask.key, fate, text, reason, attempts=1 + len(unread))

    def _texts(self, requests: Sequence[Request], anew: int) -> list[str | None]:
        prompts = [request.ask.prompt for request in requests]
        shown = [[] if r.ask.image is None else [_image(r.images[r.ask.image])] for r in requests]
        given = dict(self._given)
        seeds = [None if self.seed is None else ask_seed(self.seed, *r.ask.key) ^ anew for r in requests]
        if self.model.batch:
            given |= {"seed": seeds} if self._seeded else {}
            returned = self.model.function(prompts, *([shown] if self._shows else []), **given)
            if not isinstance(returned, list | tuple) or len(returned) != len(requests):
                length = f" of {len(returned)}" if isinstance(returned, list | tuple) else ""
                what = f"{type(returned).__name__}{length} for {len(requests)} prompts"
                raise self._wrong(requests[0], what, "a list with one answer for each prompt")
        else:
            given |= {"seed": seeds[0]} if self._seeded else {}
            returned = [self.model.function(prompts[0], *([shown[0]] if self._shows else []), **given)]
        for request, text in zip(requests, returned, strict=True):
            if text is not None and not isinstance(text, str):
                raise self._wrong(request, f"the function returned {show(text)}", "a text, or None for a refusal")
        return [None if text is None else storable(text) for text in returned]

    def _wrong(self, request: Request, what: str, expected: str) -> RunError:
        where = f"{self.model.name}, task {request.ask.task}, item {request.ask.id}, sample {request.ask.sample}"
        mend = "correct the function and run again: with folder= it goes on from here; on_error='keep' goes on without"
        return RunError("MODEL_OUTPUT", where, what, expected, mend)


def shows_images(function: Callable[..., Any]) -> bool:
    """Whether a function takes images: it has a second positional parameter, or as many as are given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of code that is not Python's
        return True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    places = [p for p in positional if p.name not in OWN]
    return len(places) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _image(data: bytes) -> Image:
    from PIL import Image

    return Image.open(BytesIO(data)).convert("RGB")
