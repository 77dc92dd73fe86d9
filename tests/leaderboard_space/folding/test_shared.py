"""Results of the log in little room: nothing is lost, and what two have in common is held once."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from fairspace.leaderboard_space.folding.shared import Shared, Table
from fairspace.leaderboard_space.result_events import result_draft
from fairspace.submissions.results.result import Result
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import number_of
from tests.submissions.benchmarks.iris.results import iris_result


def full(model: str, seed: int) -> Result:
    """A result with draws of 63 values, six tables of counts and two variants."""
    tables = np.random.default_rng(seed).integers(300, 2_000, (6, 52, 3)).tolist()
    notes = [Variant("judge", name, {"RD_gender": 0.1}, {"RD_gender": (0.0, 0.2)}, "A note. " * 20) for name in "ab"]
    counts = {f"table_{number}": table for number, table in enumerate(tables)}
    return replace(iris_result(model, "tests", error=0.1), counts=counts, variants=tuple(notes))


def event(result: Result) -> str:
    return json.dumps(result_draft(result)[0].body["result"])


def test_a_result_from_the_log_says_what_the_log_says() -> None:
    given = full("one", 1)
    found = Shared().result(json.loads(event(given))).to_json()
    assert {name: found[name] for name in ("draws", "variants", "counts")} == {
        name: given.to_json()[name] for name in ("draws", "variants", "counts")
    }


def test_the_number_of_a_packed_value_is_that_of_the_value() -> None:
    values = Shared().result(json.loads(event(full("one", 1)))).values
    numbers = {name: number_of(values, name) for name in values}
    assert numbers == {name: value.value for name, value in values.items()}
    assert number_of(values, "no such value") is None
    assert {name: number_of(dict(values), name) for name in values} == numbers


def test_two_results_share_names_and_notes() -> None:
    shared = Shared()
    one, other = (shared.result(json.loads(event(full(model, 1)))) for model in ("one", "other"))
    assert one.draws is not None and other.draws is not None  # noqa: PT018
    assert one.draws.names is other.draws.names
    assert one.variants[0].note is other.variants[1].note


def test_draws_counts_and_variants_of_a_further_result_take_at_most_25_kb() -> None:
    """12.6 kB are the draws themselves, 200 of 63 values; counts take 4 bytes each, 3.7 kB."""
    rows = [event(full(f"model {number}", number)) for number in range(20)]
    bare = [json.dumps({k: v for k, v in json.loads(row).items() if k not in _FURTHER}) for row in rows]
    assert (held(rows) - held(bare)) / len(rows) < 25_000


_FURTHER = ("draws", "variants", "counts")


def held(rows: list[str]) -> int:
    """Bytes that stay allocated for results from these events."""
    shared = Shared()
    shared.result(json.loads(rows[0]))
    tracemalloc.start()
    try:
        found = [shared.result(json.loads(row)) for row in rows]
        assert len(found) == len(rows)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_table_is_its_rows() -> None:
    table = Table([[1, 2, 3], [4, 5, 2**31 - 1]])
    assert list(table) == [(1, 2, 3), (4, 5, 2**31 - 1)]
    assert (table[-1], table[:1], len(table)) == ((4, 5, 2**31 - 1), [(1, 2, 3)], 2)
    assert np.array(table, np.int64).tolist() == [[1, 2, 3], [4, 5, 2**31 - 1]]
    assert len(Table([])) == 0
    with pytest.raises(IndexError):
        table[2]
