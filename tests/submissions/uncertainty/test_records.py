from typing import Any

import numpy as np
import pytest

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.results.draws import KEPT, LARGEST, MOST_NAMES, Draws, keep
from fairspace.submissions.uncertainty.uncertainty import KINDS, LONGEST, Variant, ranges
from fairspace.submissions.values import Value

Record = type[Uncertainty | Variant | Draws]
INF, NAN = float("inf"), float("nan")
SURE: dict[str, Any] = {
    **{"unit": "image", "clusters": 4, "resamples": 10, "undefined": 2, "error": 0.1},
    **{"low": 0.2, "high": 0.4, "method": "bca", "percentile_low": 0.1, "percentile_high": 0.3},
}
OTHER: dict[str, Any] = {
    **{"kind": KINDS[0], "name": "another judge", "values": {"a": 0.5, "b": 1}},
    **{"note": "a note", "intervals": {"a": [0.4, 0.6]}},
}
DRAWN = keep(("a", "b"), np.random.default_rng(0).normal(5, 2, (4, 2))).to_json()
GOOD: list[tuple[Record, dict[str, Any]]] = [
    (Uncertainty, SURE),
    (Uncertainty, SURE | {"note": "a note", "debiased": 0.25, "fair": 0.1, "fair_high": 0.2}),
    (Uncertainty, SURE | {"error": 0, "clusters": 0, "resamples": 2}),
    (Uncertainty, SURE | {"low": 0.4, "percentile_low": 0.3}),
    (Variant, OTHER | {"intervals": {"a": [0.5, 0.5], "b": [1, 2]}}),
    (Variant, OTHER | {"name": "x" * LONGEST, "note": "x" * LONGEST}),
    (Variant, OTHER | {"values": {"a": -1e308}, "note": ""}),
    *((Variant, OTHER | {"kind": kind}) for kind in KINDS),
    (Draws, DRAWN),
    (Draws, DRAWN | {"centre": [LARGEST, -LARGEST], "error": [0.0, 0.0]}),
    (Draws, keep([str(number) for number in range(MOST_NAMES)], np.ones((KEPT, MOST_NAMES))).to_json()),
]
BAD: list[tuple[Record, dict[str, Any], dict[str, Any], str]] = [
    (Uncertainty, SURE, {"error": -1e-9}, "below 0"),
    *((Uncertainty, SURE, {"error": wrong}, "no number") for wrong in (NAN, None, True)),
    (Uncertainty, SURE, {"low": 0.41}, "before it begins"),
    (Uncertainty, SURE, {"percentile_low": 0.31}, "before it begins"),
    *((Uncertainty, SURE, wrong, "no number") for wrong in ({"high": INF}, {"debiased": "0.1"}, {"fair": NAN})),
    *((Uncertainty, SURE, wrong, "no counts") for wrong in ({"clusters": -1}, {"undefined": 11}, {"undefined": -1})),
    (Uncertainty, SURE, {"clusters": 1.0}, "no counts"),
    (Uncertainty, SURE, {"resamples": True}, "no number"),
    (Uncertainty, SURE, {"method": "odd"}, "method 'odd': expected one of bca, percentile"),
    *((Uncertainty, SURE, wrong, "as texts") for wrong in ({"unit": 7}, {"note": 7})),
    (Uncertainty, SURE, {"other": 1}, "other"),
    (Variant, OTHER, {"kind": "odd"}, "'odd': expected one of occupation_"),
    *((Variant, OTHER, wrong, "and texts") for wrong in ({"name": 7}, {"note": 7})),
    *((Variant, OTHER, {part: "x" * (LONGEST + 1)}, "more than 2,000") for part in ("name", "note")),
    (Variant, OTHER, {"values": [0.5]}, "expected objects"),
    (Variant, OTHER, {"intervals": []}, "expected objects"),
    (Variant, OTHER, {"intervals": {"c": [0.4, 0.6]}}, "intervals of some of the values"),
    *((Variant, OTHER, {"values": {"a": wrong}}, "no number") for wrong in ("0.5", True, NAN)),
    (Variant, OTHER, {"intervals": {"a": [0.4, INF]}}, "no number"),
    (Variant, OTHER, {"intervals": {"a": [0.6, 0.4]}}, "before it begins"),
    (Variant, OTHER, {"intervals": {"a": [0.4, 0.5, 0.6]}}, "unpack"),
    (Variant, OTHER, {"knid": 1}, "the field 'knid'; expected intervals, kind"),
    (Draws, DRAWN, {"names": []}, "no values"),
    (Draws, DRAWN, {"names": ("a", "b")}, "no values"),
    (Draws, DRAWN, {"names": ["a"] * (MOST_NAMES + 1)}, "more than 300"),
    (Draws, DRAWN, {"names": ["a", "a"]}, "twice"),
    (Draws, DRAWN, {"names": ["a", 7]}, "none"),
    *((Draws, DRAWN, {"centre": [1.0, wrong]}, "number") for wrong in (True, 1.1 * LARGEST, -1e308, NAN)),
    *((Draws, DRAWN, wrong, "fit") for wrong in ({"centre": [1.0]}, {"error": [1.0]}, {"draws": 3}, {"draws": 5})),
    (Draws, DRAWN, {"error": [1.0, -1e-9]}, "below 0"),
    *((Draws, DRAWN, {"draws": wrong}, "not from 1") for wrong in (0, True, KEPT + 1, "200")),
    *((Draws, DRAWN, {"steps": wrong}, "fit") for wrong in ("AAAAAAAAAAAA===", 12, "AAAAAAAAAA==")),
]


@pytest.mark.parametrize(("record", "data"), GOOD, ids=lambda part: getattr(part, "__name__", ""))
def test_what_is_written_is_read(record: Record, data: dict[str, Any]) -> None:
    loaded = record.from_json(data)
    assert loaded.to_json() == data


@pytest.mark.parametrize(("record", "data", "changes", "says"), BAD, ids=lambda part: str(part)[:40])
def test_what_is_no_record_is_refused(record: Record, data: dict[str, Any], changes: dict[str, Any], says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        record.from_json(data | changes)


def test_what_lacks_a_field_or_is_no_object_is_refused() -> None:
    with pytest.raises(TypeError):
        Uncertainty.from_json({name: part for name, part in SURE.items() if name != "low"})
    with pytest.raises(ValueError, match="of type list; expected an object"):
        Variant.from_json([])  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        Variant.from_json({"kind": KINDS[0], "name": "x"})
    with pytest.raises(ValueError, match=r"'absent'.*expected one of"):
        Value.from_json({"name": "RD", "state": "absent", "reason": "r"})


def test_numbers_are_written_to_seven_digits() -> None:
    assert Uncertainty.from_json(SURE | {"error": 0.123456789}).to_json()["error"] == 0.1234568


def test_intervals_and_notes_of_a_variant_may_be_left_out() -> None:
    short = {name: part for name, part in OTHER.items() if name not in ("intervals", "note")}
    assert Variant.from_json(short).to_json() == short | {"note": ""}
    assert Variant.from_json(short).intervals == {}


def test_ranges_are_those_of_one_kind() -> None:
    kind, other = KINDS[:2]
    parts = [(kind, {"a": 0.5, "b": 1.0}), (kind, {"a": 0.2}), (other, {"a": 9.0}), (kind, {"a": 0.7})]
    variants = [Variant(of, str(number), values) for number, (of, values) in enumerate(parts)]
    assert ranges(variants, kind) == {"a": (0.2, 0.7), "b": (1.0, 1.0)}
    assert ranges(variants, other) == {"a": (9.0, 9.0)}
    assert ranges([], kind) == {}
