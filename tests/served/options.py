from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from tests.served.faults import Fault
from tests.served.pictures import Format

KEY = "served-key"


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
    key: str = KEY
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
