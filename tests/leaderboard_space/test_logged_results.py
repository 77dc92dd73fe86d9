import json
from dataclasses import replace

import orjson
import pytest

from fairspace.leaderboard_space.events import Draft, sealed
from fairspace.leaderboard_space.events import Event as LogEvent
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.logged import LoggedRow, board_values, join_errors
from fairspace.leaderboard_space.state import LogState
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import Errors
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import number_of
from tests.leaderboard_space.factory import earlier_draft
from tests.submissions.benchmarks.iris.results import iris_result

FULL = Uncertainty("image", 52, 200, 3, 0.1, 0.2, 0.6, "bca", 0.25, 0.55, 0.38, 0.05, 0.12, "of images alone")
BARE = Uncertainty("item", 9, 100, 0, 0.0, -1.5, 2.0, "exact", -1.5, 2.0)


def full() -> Result:
    notes = [Variant("judge", name, {"RD_gender": 0.1}, {"RD_gender": (0.0, 0.2)}, "A note. " * 20) for name in "ab"]
    return replace(iris_result("one", "tests", error=0.1), variants=tuple(notes))


def logged(draft: Draft) -> LoggedRow:
    event = sealed(LogEvent(1, "2026-01-31T12:00:00.000Z", draft.kind, draft.key, "", draft.body))
    folded = LogState()
    folded.fold(LogEvent.of_line(event.line()))
    (entry,) = folded.entries.values()
    return entry


def test_a_result_from_an_earlier_log_says_what_the_log_says() -> None:
    given = full()
    draft = earlier_draft(given)[0]
    result, values = logged(draft).result, json.loads(draft.body["result"]["values"])
    assert result.to_json()["draws"] == given.to_json()["draws"]
    assert {name: value.to_json() for name, value in result.values.items()} == values
    assert result.values == board_values(given)
    listed = {**draft.body, "result": {**draft.body["result"], "values": [*values.values()]}}
    assert logged(replace(draft, body=listed)).result.values == result.values


def test_a_new_event_has_neither_values_nor_draws_and_no_part_that_only_the_file_needs() -> None:
    body = result_draft(full())[0].body
    assert body["result"].keys() == {"benchmark", "standard", "meta", "signature"}
    assert b"A note" not in orjson.dumps(body)
    assert logged(Draft("result", "result:x", body)).tasks == tuple(body["tasks"])


def test_the_number_of_a_logged_value_is_that_of_the_value() -> None:
    values = logged(earlier_draft(full())[0]).result.values
    assert {name: number_of(values, name) for name in values} == {name: one.value for name, one in values.items()}
    assert number_of(values, "no such value") is None


def test_errors_from_the_log_are_what_was_logged() -> None:
    errors = Errors({"total": FULL, "part": BARE}, {"profile F": 0.93})
    result = full()
    content = orjson.dumps({"errors": {result.standard: json.loads(json.dumps(errors.to_json()))}})
    join_errors(replace(result, standard="another"), content)
    join_errors(result, content)
    found = result.derived["errors"]
    assert dict(found.scores) == errors.scores
    assert found.to_json() == errors.to_json()
    assert ("part" in found.scores, "other" in found.scores, len(found.scores)) == (True, False, 2)
    with pytest.raises(KeyError):
        found.scores["other"]
