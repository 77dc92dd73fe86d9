from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.log_state import logged_errors, logged_result
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import Errors
from fairspace.submissions.uncertainty.uncertainty import Uncertainty, Variant
from fairspace.submissions.values import Value, number_of
from tests.submissions.benchmarks.iris.results import iris_result

FULL = Uncertainty("image", 52, 200, 3, 0.1, 0.2, 0.6, "bca", 0.25, 0.55, 0.38, 0.05, 0.12, "of images alone")
BARE = Uncertainty("item", 9, 100, 0, 0.0, -1.5, 2.0, "exact", -1.5, 2.0)


def full() -> Result:
    notes = [Variant("judge", name, {"RD_gender": 0.1}, {"RD_gender": (0.0, 0.2)}, "A note. " * 20) for name in "ab"]
    return replace(iris_result("one", "tests", error=0.1), variants=tuple(notes))


def logged(result: Result) -> Result:
    return logged_result(json.loads(json.dumps(result_draft(result)[0].body["result"])))


def test_a_result_from_the_log_says_what_the_log_says() -> None:
    given = full()
    assert logged(given).to_json()["draws"] == given.to_json()["draws"]
    event = json.loads(result_draft(given)[0].body["result"]["values"])
    assert logged(given).values == {name: Value.from_json(value) for name, value in event.items()}
    earlier = {**result_draft(given)[0].body["result"], "values": [*event.values()]}
    assert logged_result(earlier).values == logged(given).values


def test_the_number_of_a_logged_value_is_that_of_the_value() -> None:
    values = logged(full()).values
    assert {name: number_of(values, name) for name in values} == {name: one.value for name, one in values.items()}
    assert number_of(values, "no such value") is None


def test_errors_from_the_log_are_what_was_logged() -> None:
    errors = Errors({"total": FULL, "part": BARE}, {"profile F": 0.93})
    found = logged_errors(json.loads(json.dumps(errors.to_json())))
    assert dict(found.scores) == errors.scores
    assert found.to_json() == errors.to_json()
    assert ("part" in found.scores, "other" in found.scores, len(found.scores)) == (True, False, 2)
    with pytest.raises(KeyError):
        found.scores["other"]
