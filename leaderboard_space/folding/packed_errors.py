"""The errors of a logged result in arrays, as its values are: a board of thousands of rows is sorted by them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Any

from fairspace.leaderboard_space.folding.packed_values import Alike
from fairspace.submissions.results.row_errors import Errors
from fairspace.submissions.uncertainty.uncertainty import Uncertainty

_NUMBERS = ("error", "low", "high", "percentile_low", "percentile_high", "debiased", "fair", "fair_high")
"""Nan stands for one that there is not."""
_COUNTS = ("clusters", "resamples", "undefined")


def packed_errors(data: Mapping[str, Any], alike: Alike) -> Errors:
    """The errors that `Errors.to_json` wrote into a log of our own; nothing is checked.

    Args:
        data: what it wrote.
        alike: what other results had so far.
    """
    chances = {alike.text(name): float(chance) for name, chance in data["chances"].items()}
    return Errors(PackedErrors(data["scores"], alike), chances)


class PackedErrors(Mapping[str, Uncertainty]):
    """Uncertainties by name; each is made when it is asked for.

    Args:
        data: as `Uncertainty.to_json` wrote them.
        alike: what other results had so far.
    """

    __slots__ = ("_counts", "_numbers", "_places", "_texts")

    def __init__(self, data: Mapping[str, Mapping[str, Any]], alike: Alike) -> None:
        self._places = alike.places(list(data))
        errors = data.values()
        self._numbers = array("d", [error.get(name, nan) for error in errors for name in _NUMBERS])
        self._counts = array("q", [error[name] for error in errors for name in _COUNTS])
        texts = tuple((error["unit"], error["method"], error.get("note", "")) for error in errors)
        self._texts = alike.errors.setdefault(texts, texts)

    def __getitem__(self, name: str) -> Uncertainty:
        place = self._places[name]
        first = len(_NUMBERS) * place
        error, low, high, percentile_low, percentile_high, *further = self._numbers[first : first + len(_NUMBERS)]
        clusters, resamples, undefined = self._counts[3 * place : 3 * place + 3]
        debiased, fair, fair_high = (None if isnan(number) else number for number in further)
        unit, method, note = self._texts[place]
        created = object.__new__(Uncertainty)  # what it says was checked when it was logged
        vars(created).update(
            unit=unit,
            clusters=clusters,
            resamples=resamples,
            undefined=undefined,
            error=error,
            low=low,
            high=high,
            method=method,
            percentile_low=percentile_low,
            percentile_high=percentile_high,
            debiased=debiased,
            fair=fair,
            fair_high=fair_high,
            note=note,
        )
        return created

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
