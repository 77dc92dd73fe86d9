"""What a server has counted: for tests of who asked what, how often, and how many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Requests:
    """The requests of chat and images since the start or the last reset.

    Args:
        fates: fate -> requests: `answered` (truly), the name of a fault (`Fault.name`), `unauthorised` (401),
            `invalid` (400) or `gone` (the client left before).
        kinds: kind of prompt (`answers.KINDS`, `other`, `image`) -> requests that were not invalid.
        models: the model that was named -> the same requests.
        attempts: key -> how often it was asked; a conversation that goes on after an answer has the same key.
        answers: key -> how often it was answered truly, also late (`slow`).
        highest: the most requests at a time; those that are read and not yet answered.
        images: pictures that were given.
        files: pictures that were fetched by URL.
    """

    fates: Mapping[str, int]
    kinds: Mapping[str, int]
    models: Mapping[str, int]
    attempts: Mapping[str, int]
    answers: Mapping[str, int]
    highest: int
    images: int
    files: int

    @property
    def total(self) -> int:
        """All requests."""
        return sum(self.fates.values())

    @property
    def distinct(self) -> int:
        """How many different keys were asked."""
        return len(self.attempts)

    @property
    def most_answers(self) -> int:
        """How often the most answered key was answered: 1 if nothing was paid for twice."""
        return max(self.answers.values(), default=0)


@dataclass
class Counts:
    """What the server counts with."""

    fates: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    highest: int = 0
    images: int = 0
    files: int = 0

    def told(self) -> dict[str, Any]:
        """The fields of `Requests`."""
        return dict(vars(self))
