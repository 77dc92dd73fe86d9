"""An uncertainty comes back from its file as it was written, and nothing else is one."""

from __future__ import annotations

from typing import Any

import pytest

from fairspace.submissions.uncertainty.uncertainty import Uncertainty

DATA: dict[str, Any] = {
    "unit": "image",
    "clusters": 4,
    "resamples": 10,
    "undefined": 2,
    "error": 0.1,
    "low": 0.2,
    "high": 0.4,
    "method": "bca",
    "percentile_low": 0.1,
    "percentile_high": 0.3,
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"note": "a note", "debiased": 0.25, "fair": 0.1, "fair_high": 0.2},
        {"error": 0, "clusters": 0, "resamples": 2},
        {"low": 0.4, "percentile_low": 0.3},
    ],
    ids=str,
)
def test_what_is_written_is_read(changes: dict[str, Any]) -> None:
    loaded = Uncertainty.from_json(DATA | changes)
    assert loaded.to_json() == DATA | changes
    assert Uncertainty.from_json(loaded.to_json()) == loaded


def test_numbers_are_written_to_seven_digits() -> None:
    assert Uncertainty.from_json(DATA | {"error": 0.123456789}).to_json()["error"] == 0.1234568


@pytest.mark.parametrize(
    "changes",
    [
        {"error": -1e-9},
        {"error": float("nan")},
        {"error": None},
        {"error": True},
        {"low": 0.41},
        {"high": float("inf")},
        {"percentile_low": 0.31},
        {"debiased": "0.1"},
        {"fair": float("nan")},
        {"clusters": -1},
        {"clusters": 1.0},
        {"resamples": True},
        {"undefined": 11},
        {"undefined": -1},
        {"method": "guess"},
        {"unit": 7},
        {"note": 7},
        {"unit": 7, "method": "guess"},
        {"other": 1},
    ],
    ids=str,
)
def test_what_is_no_uncertainty_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Uncertainty.from_json(DATA | changes)
    with pytest.raises(TypeError):
        Uncertainty.from_json({name: part for name, part in DATA.items() if name != "low"})
