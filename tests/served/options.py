from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field

from pydantic import TypeAdapter

from tests.served.faults import Fault
from tests.served.pictures import Format


@dataclass(frozen=True)
class Options:
    """Arguments of `Served.start`.

    Args:
        models: Names in `GET /v1/models`; a request may name any.
        latency: Seconds before every answer.
        spread: Largest number of further seconds, by hash of key and attempt.
        pixels: Width and height of pictures, whatever is requested.
        schemas: Whether a JSON schema in `response_format` binds the answer.
        unknown: Parameters refused with 400 unknown_parameter, such as `seed`.
        limit: Seconds after which the server ends by itself.
        port: 0 for any free one.
    """

    faults: tuple[Fault, ...] = ()
    key: str = "served-key"
    models: tuple[str, ...] = ("served-text", "served-images")
    latency: float = 0.0
    spread: float = 0.0
    pixels: int = 96
    picture: Format = "png"
    schemas: bool = True
    unknown: tuple[str, ...] = ()
    limit: float = 600.0
    port: int = 0

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Options:
        return TypeAdapter(cls).validate_json(text)


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
