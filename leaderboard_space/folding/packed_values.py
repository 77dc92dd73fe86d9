"""The values of a logged result in arrays: thousands of results are held at once, and few of their values are shown."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isnan, nan
from typing import Any

from fairspace.submissions.uncertainty.uncertainty import Method, Uncertainty
from fairspace.submissions.values import Evidence, State, Value

Rest = tuple[Evidence, Uncertainty | None]
ErrorTexts = tuple[str, Method, str]
_NOTHING: Rest = ({}, None)


@dataclass
class Alike:
    """What results have in common, held once.

    Args:
        texts: texts met so far.
        names: names of values in the order of a result -> the place of each.
        states: states and reasons of the values of a result.
        errors: unit, method and note of the errors of a result.
    """

    texts: dict[str, str] = field(default_factory=dict)
    names: dict[tuple[str, ...], dict[str, int]] = field(default_factory=dict)
    states: dict[tuple[tuple[str, str], ...], tuple[tuple[State, str], ...]] = field(default_factory=dict)
    errors: dict[tuple[ErrorTexts, ...], tuple[ErrorTexts, ...]] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """The text, as it was met first."""
        return self.texts.setdefault(text, text)

    def places(self, names: Sequence[str]) -> dict[str, int]:
        """Name -> place."""
        key = tuple(names)
        kept = self.names.get(key)
        if kept is None:
            kept = self.names[key] = {self.text(name): place for place, name in enumerate(key)}
        return kept


class PackedValues(Mapping[str, Value]):
    """Values by name; each is made when it is asked for.

    Args:
        data: the values as `Value.to_json` wrote them into a log of our own; nothing is checked.
        alike: what other results had so far.
    """

    __slots__ = ("_counts", "_numbers", "_places", "_rest", "_states")

    def __init__(self, data: Sequence[Mapping[str, Any]], alike: Alike) -> None:
        self._places = alike.places([value["name"] for value in data])
        numbers = ((value.get("value", nan), value.get("low", nan), value.get("high", nan)) for value in data)
        counts = ((value["expected"], value["valid"], value.get("smallest", -1)) for value in data)
        self._numbers, self._counts = array("d", chain(*numbers)), array("q", chain(*counts))
        states = tuple((value["state"], value.get("reason", "")) for value in data)
        self._states = alike.states.setdefault(states, states)
        self._rest: dict[str, Rest] = {
            alike.text(value["name"]): (value.get("evidence", {}), _uncertainty(value.get("uncertainty"), alike))
            for value in data
            if "evidence" in value or "uncertainty" in value
        }

    def __getitem__(self, name: str) -> Value:
        place = self._places[name]
        numbers, counts = self._numbers[3 * place : 3 * place + 3], self._counts[3 * place : 3 * place + 3]
        value, low, high = numbers
        expected, valid, smallest = counts
        state, reason = self._states[place]
        evidence, uncertainty = self._rest.get(name, _NOTHING)
        created = object.__new__(Value)  # what it says was checked when it was logged
        vars(created).update(
            name=name,
            state=state,
            value=None if isnan(value) else value,
            low=None if isnan(low) else low,
            high=None if isnan(high) else high,
            expected=expected,
            valid=valid,
            reason=reason,
            evidence=evidence,
            smallest=None if smallest < 0 else smallest,
            uncertainty=uncertainty,
        )
        return created

    def number(self, name: str) -> float | None:
        """As `number_of`."""
        place = self._places.get(name)
        value = nan if place is None else self._numbers[3 * place]
        return None if isnan(value) else value

    def get(self, name: str, default: Any = None) -> Any:
        """As of every mapping, without an exception for a name that is not here."""
        return self[name] if name in self._places else default

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _uncertainty(data: Mapping[str, Any] | None, alike: Alike) -> Uncertainty | None:
    if data is None:
        return None
    parts: dict[str, Any] = {key: alike.text(part) if type(part) is str else part for key, part in data.items()}
    return Uncertainty(**parts)
