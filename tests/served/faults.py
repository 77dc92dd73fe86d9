"""Faults by key and attempt, never by time, so that interrupted and unbroken runs meet the same ones."""

import re
from dataclasses import dataclass
from typing import Literal

from tests.served.keys import Request, unit

Way = str
WAYS: dict[Way, str] = {
    "status": "HTTP error `Fault.status` in OpenAI's words; 429 and 503 with `Retry-After: seconds`",
    "slow": "the true answer, `seconds` late",
    "truncated": "a whole HTTP answer, whose JSON ends in the middle",
    "cut": "the connection is reset after half of the answer",
    "reset": "the connection is reset before any answer",
    "html": "200 with a page of HTML",
    "not_completion": "200 with JSON of another kind",
    "empty": "no choice; no image",
    "silent": "an answer without text (finish_reason length); an image of no bytes",
    "half": "the first half of the text (finish_reason length) or of the image's bytes",
    "filtered": "finish_reason content_filter, no content; for images a 400 with code content_policy_violation",
    "refusal": "the message's `refusal`, no content; for images a 400 with code moderation_blocked",
    "blocked": "a 400 with `Fault.code`, else content_filter; for images content_policy_violation",
    "refusing": "an ordinary answer which declines; for images as `filtered`",
    "unreadable": "an answer that no parser reads; for a judge, broken JSON; for images, other bytes",
    "verbatim": "`Fault.body` with `Fault.status` and `Fault.form`",
}
"""Ways in which a request goes wrong."""


@dataclass(frozen=True)
class Fault:
    """Requests that go wrong; the first fitting fault of several applies.

    Args:
        share: Share of the keys, by hash; the same on every server.
        times: Spoiled attempts per key; None for all.
        attempt: First spoiled attempt, from 1.
        matching: Regular expression searched in the request's text; '' fits all.
        about: Beginning of the names of kinds (`answers.KINDS`, or `image`); '' fits all.
        by: Unit of `share`: keys, or texts and images whatever their seed.
        every: Every n-th fitting request only; 0 for all.
        skip: Fitting requests that pass first.
        seconds: Delay of `slow`, or `Retry-After`.
    """

    way: Way
    share: float = 1.0
    times: int | None = 1
    attempt: int = 1
    matching: str = ""
    about: str = ""
    by: Literal["key", "text"] = "key"
    every: int = 0
    skip: int = 0
    status: int = 500
    seconds: float = 0.0
    code: str = ""
    body: str = ""
    form: str = "application/json"

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise ValueError(f"{self.way!r} is no way to fail; known: {', '.join(WAYS)}")

    @property
    def name(self) -> str:
        """Name in the counts: the way; for `status`, the number."""
        return str(self.status) if self.way == "status" else self.way

    def fits(self, request: Request, kind: str, attempt: int) -> bool:
        """Whether it spoils this attempt, apart from `every` and `skip`."""
        if attempt < self.attempt or (self.times is not None and attempt >= self.attempt + self.times):
            return False
        if not kind.startswith(self.about) or (self.matching and not re.search(self.matching, request.text)):
            return False
        chosen = request.key if self.by == "key" else request.content
        return self.share >= 1 or unit(chosen, repr(self)) < self.share


class Faults:
    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self.faults = faults
        self._fitting = [0] * len(faults)

    def find(self, request: Request, kind: str, attempt: int) -> Fault | None:
        for place, fault in enumerate(self.faults):
            if not fault.fits(request, kind, attempt):
                continue
            self._fitting[place] += 1
            number = self._fitting[place] - fault.skip
            if number > 0 and (not fault.every or number % fault.every == 0):
                return fault
        return None
