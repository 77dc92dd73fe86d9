"""A variant comes back from its file as it was written, and nothing else is one."""

from __future__ import annotations

from typing import Any

import pytest

from fairspace.submissions.uncertainty.variant import KINDS, LONGEST, Variant, ranges

DATA: dict[str, Any] = {
    "kind": KINDS[0],
    "name": "another judge",
    "values": {"a": 0.5, "b": 1},
    "note": "a note",
    "intervals": {"a": [0.4, 0.6]},
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"intervals": {"a": [0.5, 0.5], "b": [1, 2]}},
        {"name": "x" * LONGEST, "note": "x" * LONGEST},
        {"values": {"a": -1e308}, "note": ""},
        *({"kind": kind} for kind in KINDS),
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_what_is_written_is_read(changes: dict[str, Any]) -> None:
    assert Variant.from_json(DATA | changes).to_json() == DATA | changes


def test_intervals_and_notes_may_be_left_out() -> None:
    short = {name: part for name, part in DATA.items() if name not in ("intervals", "note")}
    assert Variant.from_json(short).to_json() == short | {"note": ""}
    assert Variant.from_json(short).intervals == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "guess"},
        {"name": 7},
        {"note": 7},
        {"name": "x" * (LONGEST + 1)},
        {"note": "x" * (LONGEST + 1)},
        {"values": [0.5]},
        {"values": {"a": "0.5"}},
        {"values": {"a": True}},
        {"values": {"a": float("nan")}},
        {"intervals": []},
        {"intervals": {"c": [0.4, 0.6]}},
        {"intervals": {"a": [0.6, 0.4]}},
        {"intervals": {"a": [0.4, float("inf")]}},
        {"intervals": {"a": [0.4, 0.5, 0.6]}},
        {"other": 1},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_what_is_no_variant_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Variant.from_json(DATA | changes)


def test_no_object_and_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="of type list"):
        Variant.from_json([])  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        Variant.from_json({"kind": KINDS[0], "name": "x"})


def test_ranges_are_those_of_one_kind() -> None:
    kind, other = KINDS[:2]
    variants = [
        Variant(kind, "1", {"a": 0.5, "b": 1.0}),
        Variant(kind, "2", {"a": 0.2}),
        Variant(other, "3", {"a": 9.0}),
        Variant(kind, "4", {"a": 0.7}),
    ]
    assert ranges(variants, kind) == {"a": (0.2, 0.7), "b": (1.0, 1.0)}
    assert ranges(variants, other) == {"a": (9.0, 9.0)}
    assert ranges([], kind) == {}
