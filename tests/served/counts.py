from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Requests:
    """Chat and image requests since the start or the last reset.

    Args:
        fates: Fate (`answered`, `Fault.name`, `unauthorised`, `invalid`, or `gone`: the client left) -> requests.
        kinds: Kind of prompt (`answers.KINDS`, `other`, `image`) -> requests that were not invalid.
        attempts: Key -> requests; a conversation that goes on keeps its key.
        answers: Key -> true answers, also late ones.
        highest: Largest number of requests in progress.
    """

    fates: dict[str, int] = field(default_factory=Counter)
    kinds: dict[str, int] = field(default_factory=Counter)
    attempts: dict[str, int] = field(default_factory=Counter)
    answers: dict[str, int] = field(default_factory=Counter)
    highest: int = 0
    images: int = 0

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
