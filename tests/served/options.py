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
        latency: seconds before every answer.
        spread: seconds at most that are added to it, by hash of key and attempt.
        pixels: width and height of pictures; 0 for the size that is asked for.
        picture: format of pictures.
        image_reply: how pictures are given unless the request's `response_format` says.
        unknown: names of parameters that are refused with 400 unknown_parameter, such as `seed`.
        limit: seconds after which the server ends by itself.
        port: 0 for any free one.
    """

    faults: tuple[Fault, ...] = ()
    key: str = KEY
    models: tuple[str, ...] = ("served-text", "served-images")
    latency: float = 0.0
    spread: float = 0.0
    pixels: int = 96
    picture: Format = "png"
    image_reply: Literal["b64_json", "url"] = "b64_json"
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
