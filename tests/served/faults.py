"""Which requests go wrong, and how: by what is asked and how often it was asked before, never by when.

A request is known by its key (`keys.py`): what is asked, with its seed. Its attempts are counted. A fault spoils some
attempts of a share of the keys, so that a retry succeeds or never does, in an interrupted run as in an unbroken one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from tests.served.keys import Request, unit

Way = Literal[
    "status",
    "slow",
    "truncated",
    "cut",
    "reset",
    "html",
    "not_completion",
    "empty",
    "silent",
    "half",
    "filtered",
    "refusal",
    "blocked",
    "refusing",
    "unreadable",
]
WAYS: tuple[Way, ...] = get_args(Way)
"""How a request goes wrong:

- status: an HTTP error, `Fault.status`, as OpenAI words it; 429 and 503 with `Retry-After: seconds`.
- slow: the true answer, `seconds` late; with more seconds than the client waits, a timeout.
- truncated: a whole HTTP answer, whose JSON ends in the middle.
- cut: the connection is reset after half of the answer.
- reset: the connection is reset before any answer.
- html: 200 with a page of HTML.
- not_completion: 200 with JSON of another kind.
- empty: no choice; no image.
- silent: an answer without text (finish_reason length); an image of no bytes.
- half: the first half of the text (finish_reason length); the first half of the image's bytes.
- filtered: finish_reason content_filter and no content; for images a 400 with code content_policy_violation.
- refusal: the message's `refusal` and no content; for images a 400 with code moderation_blocked.
- blocked: a 400 with `Fault.code`, else content_filter; for images content_policy_violation.
- refusing: an ordinary answer which declines ("I can't help with that."); for images as `filtered`.
- unreadable: an ordinary answer which no parser reads; for a judge, broken JSON; for images, bytes that are no image.
"""


@dataclass(frozen=True)
class Fault:
    """Some requests that go wrong. Of several faults that fit a request, the first spoils it.

    Args:
        way: one of `WAYS`.
        share: of the keys, by hash; the same fault chooses the same ones on every server, another one others.
        times: how many attempts of a key it spoils; None for all.
        attempt: the first attempt that it spoils, from 1.
        matching: regular expression, searched in the request's text; '' fits all.
        about: beginning of the names of kinds (`answers.KINDS`, or `image`), such as `genres_profile`; '' fits all.
        by: whether `share` chooses among keys, or among texts and images whatever their seed.
        every: only every n-th of the requests that fit all else; 0 for no such choice. Depends on their order.
        skip: how many requests that fit all else it lets through first. Depends on their order.
        status: of `status`.
        seconds: of `slow`, and of a `Retry-After`.
        code: of `status` and `blocked`; '' for the usual one.
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

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise ValueError(f"{self.way!r} is no way to fail; known: {', '.join(WAYS)}")

    @property
    def name(self) -> str:
        """What the fate is counted as: the way; of `status`, the number."""
        return str(self.status) if self.way == "status" else self.way

    def fits(self, request: Request, kind: str, attempt: int) -> bool:
        """Whether it spoils this attempt, but for `every` and `skip`."""
        if attempt < self.attempt or (self.times is not None and attempt >= self.attempt + self.times):
            return False
        if not kind.startswith(self.about) or (self.matching and not re.search(self.matching, request.text)):
            return False
        chosen = request.key if self.by == "key" else request.content
        return self.share >= 1 or unit(chosen, repr(self)) < self.share


class Faults:
    """The faults of a server, with the counts of those that go by order."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self.faults = faults
        self._fitting = [0] * len(faults)

    def find(self, request: Request, kind: str, attempt: int) -> Fault | None:
        """The fault that spoils this attempt; None for none."""
        for place, fault in enumerate(self.faults):
            if not fault.fits(request, kind, attempt):
                continue
            self._fitting[place] += 1
            number = self._fitting[place] - fault.skip
            if number > 0 and (not fault.every or number % fault.every == 0):
                return fault
        return None
