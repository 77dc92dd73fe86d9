from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Requests:
    """Chat and image requests since the start or the last reset.

    Args:
        fates: Fate (`answered`, `Fault.name`, `unauthorised`, `invalid`, or `gone`: the client left) -> requests.
        kinds: Kind of prompt (`answers.KINDS`, `other`, `image`) -> requests that were not invalid.
        attempts: Key -> requests; a conversation that goes on keeps its key.
        answers: Key -> true answers, also late ones.
        highest: Largest number of requests in progress.
    """

    fates: Mapping[str, int]
    kinds: Mapping[str, int]
    models: Mapping[str, int]
    attempts: Mapping[str, int]
    answers: Mapping[str, int]
    highest: int
    images: int

    @property
    def total(self) -> int:
        return sum(self.fates.values())

    @property
    def distinct(self) -> int:
        return len(self.attempts)

    @property
    def most_answers(self) -> int:
        """True answers to the most answered key: 1 if nothing was paid for twice."""
        return max(self.answers.values(), default=0)


@dataclass
class Counts:
    fates: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    highest: int = 0
    images: int = 0

    def told(self) -> dict[str, Any]:
        return dict(vars(self))
