"""Results of the log, whose values and errors are held as JSON text: thousands are held, and few are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

import orjson

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.results.result import Result, further
from fairspace.submissions.results.row_errors import Errors
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value

Made = TypeVar("Made")
_LOADED = 64
"""Texts that are held as objects, too: whoever reads one value of a result reads others."""
_DEFAULTS = {**vars(Value("", "value", 0.0)), "value": None}


class Logged(Mapping[str, Made], Generic[Made]):
    """Parts of a logged result by name; one is made when it is asked for.

    Args:
        data: name -> JSON data of our own log; nothing is checked.
        make: makes a part of its data.
    """

    __slots__ = ("_make", "_text")

    def __init__(self, data: Mapping[str, Any], make: Callable[[dict[str, Any]], Made]) -> None:
        self._text, self._make = orjson.dumps(data), make

    def __getitem__(self, name: str) -> Made:
        return self._make(_loaded(self._text)[name])

    def __contains__(self, name: object) -> bool:
        return name in _loaded(self._text)

    def __iter__(self) -> Iterator[str]:
        return iter(_loaded(self._text))

    def __len__(self) -> int:
        return len(_loaded(self._text))


def logged_result(data: Mapping[str, Any]) -> Result:
    """The result that `result_draft` wrote into an event: its values without evidence, and no scores yet.

    KeyError, TypeError or ValueError if it is none.
    """
    fields = further(data)
    values = Logged({value["name"]: value for value in data["values"]}, _value)
    return Result(data["benchmark"], "", data["meta"], values, Scored({}, "", None), data["signature"], **fields)


def logged_errors(data: Mapping[str, Any]) -> Errors:
    """The errors that `Errors.to_json` wrote into an event."""
    return Errors(Logged(data["scores"], _uncertainty), data["chances"])


@lru_cache(_LOADED)
def _loaded(text: bytes) -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(text)
    return loaded


def _value(data: dict[str, Any]) -> Value:
    value = object.__new__(Value)  # its state and numbers were checked before they were logged
    vars(value).update(_DEFAULTS)
    vars(value).update(data)
    if "uncertainty" in data:
        vars(value)["uncertainty"] = Uncertainty(**data["uncertainty"])
    return value


def _uncertainty(data: dict[str, Any]) -> Uncertainty:
    return Uncertainty(**data)
