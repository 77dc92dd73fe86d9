"""How the served models behave."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tests.served.faults import Fault
from tests.served.pictures import Format

KEY = "served-key"
"""The API key that is accepted."""


@dataclass(frozen=True)
class Options:
    """What `Served.start` takes.

    Args:
        faults: requests that go wrong.
        key: the only API key that is accepted.
        models: what `GET /v1/models` tells; a request may name any.
        in_flight: more requests at a time than this are answered with 429; 0 for no limit.
        retry_after: seconds of that 429's `Retry-After`.
        latency: seconds before every answer.
        spread: seconds at most that are added to it, by hash of key and attempt.
        pixels: width and height of pictures; 0 for the size that is asked for.
        picture: format of pictures.
        image_reply: how pictures are given unless the request's `response_format` says.
        faceless: share of the pictures that show nobody.
        unseeded: what a request without a seed gets that was asked before: the `same`, or something `varied`, as models
            give it; which request gets which then depends on their order, and their key is one all the same.
        unknown: names of parameters that are refused with 400 unknown_parameter, such as `seed`.
        limit: seconds after which the server ends by itself.
        port: 0 for any free one.
    """

    faults: tuple[Fault, ...] = ()
    key: str = KEY
    models: tuple[str, ...] = ("served-text", "served-images")
    in_flight: int = 0
    retry_after: float = 0.05
    latency: float = 0.0
    spread: float = 0.0
    pixels: int = 96
    picture: Format = "png"
    image_reply: Literal["b64_json", "url"] = "b64_json"
    faceless: float = 0.0
    unseeded: Literal["same", "varied"] = "same"
    unknown: tuple[str, ...] = ()
    limit: float = 600.0
    port: int = 0

    def dumps(self) -> str:
        """As JSON, for the server's process."""
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Options:
        """From what `dumps` wrote."""
        data: dict[str, Any] = json.loads(text)
        faults = tuple(Fault(**fault) for fault in data.pop("faults"))
        models, unknown = tuple(data.pop("models")), tuple(data.pop("unknown"))
        return cls(faults=faults, models=models, unknown=unknown, **data)
