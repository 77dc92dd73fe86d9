"""The schemas of Every Eval Ever 0.3.0 as its package every-eval-ever publishes them (MIT, `schemas/LICENSE`)."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from fairspace.submissions.exchange.errors import ExchangeError

VERSION = "0.3.0"
Level = Literal["aggregate", "instance"]
FILES: dict[Level, tuple[str, str]] = {
    "aggregate": ("eval.schema.json", "c9c6195aec8a9dfa0b2aba4924ac1aa8a184c9d8ca97cee778cb531088e39b48"),
    "instance": (
        "instance_level_eval.schema.json",
        "b16b7fa7f0aa32763444179d94ffb2336ddb12c3fd2903835fe491666c1ff3e6",
    ),
}
"""Level -> file and its sha256: the copies are never edited."""


def check_record(data: Any, level: Level, where: str) -> None:
    """Refuse what breaks the schema. ExchangeError EEE_INVALID names the first field that does."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(level).iter_errors(data))
    if error is not None:
        expected = f"a record of Every Eval Ever {VERSION}"
        mend = "mend the field, or export the result again"
        raise ExchangeError("EEE_INVALID", f"{where}, {error.json_path}", error.message[:200], expected, mend)


@lru_cache
def _validator(level: Level) -> Any:
    from jsonschema import Draft7Validator

    name, sha256 = FILES[level]
    content = (Path(__file__).parent / "schemas" / name).read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RuntimeError(f"{name} is not the file that Every Eval Ever {VERSION} publishes; install fairspace again")
    return Draft7Validator(json.loads(content))
