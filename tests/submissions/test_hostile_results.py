"""Result files that nobody's `fairspace score` wrote: each is a fault, none breaks the board or ranks a forgery."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from submissions.board import board
from submissions.result import Result
from submissions.store import Store, key
from submissions.strict_json import check_values
from tests.leaderboard_space.factory import result

Data = dict[str, Any]
BROKEN: dict[str, Callable[[Data], object]] = {
    "meta is a list": lambda d: d.update(meta=[]),
    "signature is a list": lambda d: d.update(signature=[]),
    "labels hold a number": lambda d: d.update(labels={"cohort": 7}),
    "labels are pairs": lambda d: d.update(labels=[["a", "b"]]),
    "unranked holds a list": lambda d: d.update(unranked=[["x"]]),
    "ranked is a text": lambda d: d.update(ranked="9"),
    "ranked is true": lambda d: d.update(ranked=True),
    "ranked is NaN": lambda d: d.update(ranked=float("nan")),
    "ranked is huge": lambda d: d.update(ranked=10**400),
    "ranking is null": lambda d: d.update(ranking=None),
    "values are a text": lambda d: d.update(values="values"),
    "values are lists": lambda d: d.update(values=[["name"]]),
    "values are missing": lambda d: d.update(values=[]),
    "a value is a text": lambda d: d["values"][0].update(value="1"),
    "a value is true": lambda d: d["values"][0].update(value=True),
    "a name is a list": lambda d: d["values"][0].update(name=["x"]),
    "a state is unknown": lambda d: d["values"][0].update(state="fine", value=None, reason="x"),
    "a reason is a number": lambda d: d["values"][0].update(state="undefined", value=None, reason=7),
    "a count is a text": lambda d: d["values"][0].update(expected="9"),
    "a count is negative": lambda d: d["values"][0].update(valid=-1),
    "evidence is a list": lambda d: d["values"][0].update(evidence=[1]),
    "an unknown field": lambda d: d["values"][0].update({"\x1b[2J": 1}),
    "the benchmark is a list": lambda d: d.update(benchmark=["genres"]),
    "the standard is unknown": lambda d: d.update(standard="mine"),
    "the model is a number": lambda d: d["meta"].update(model=7),
    "half a character": lambda d: d["meta"].update(model="\ud800"),
    "a value that overflows": lambda d: d["values"].__setitem__(0, {**d["values"][0], "value": 10**400}),
    "deep": lambda d: d["values"][0].update(evidence=json.loads("[" * 900 + "]" * 900)),
}


def data() -> Data:
    """A result as fresh JSON data."""
    found: Data = json.loads(result("fact_or_fair", "stereotyped", "somebody").dumps())
    return found


def name_of(found: Data) -> str:
    """The name that the store would give to a file, so that a forger's file passes for stored."""
    try:
        return key(Result.from_json(found))
    except Exception:  # noqa: BLE001 -- what is no result at all has no name
        return "0" * 64


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_no_result_is_a_fault(tmp_path: Path, change: Callable[[Data], object]) -> None:
    found = data()
    change(found)
    folder = tmp_path / "results" / "fact_or_fair"
    folder.mkdir(parents=True)
    (folder / f"{name_of(found)}.json").write_text(json.dumps(found), encoding="utf-8")
    stored = Store(tmp_path).read("fact_or_fair")
    assert stored.results == ()
    assert [fault.code for fault in stored.faults] == ["BROKEN_RESULT"]
    assert "\x1b" not in str(stored.faults[0])


def test_a_file_of_brackets_or_of_another_kind_is_a_fault(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "iris"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("[" * 200_000)
    (folder / "b.json").mkdir()
    (folder / "c.json").symlink_to("nowhere")
    assert [fault.where for fault in Store(tmp_path).read("iris").faults] == ["a.json", "b.json", "c.json"]


def test_scores_that_a_file_claims_rank_nobody(tmp_path: Path) -> None:
    honest = result("fact_or_fair", "stereotyped", "somebody")
    forged = data() | {"ranked": 999.0, "unranked": [], "labels": {"cohort": "<b>mine</b>"}}
    for score in forged["scores"]:
        score.update(state="value", value=1.0, low=1.0, high=1.0, reason="")
    store = Store(tmp_path)
    store.add(honest).write_text(json.dumps(forged), encoding="utf-8")
    (found,) = store.results("fact_or_fair")
    assert found.to_json() == honest.to_json()
    (row,) = [row for row in board("fact_or_fair", results=[found]) if row.result]
    assert row.ranked == honest.scored.ranked
    check_values(found.to_json())


def test_numbers_that_overflow_a_score_are_a_fault(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.add(result("iris", "stereotyped", "somebody"))
    found = json.loads(path.read_text(encoding="utf-8"))
    for value in found["values"]:
        if value["state"] == "value":
            value.update(value=-1e308, low=-1e308, high=-1e308)
    path.write_text(json.dumps(found), encoding="utf-8")
    assert [fault.code for fault in store.read("iris").faults] == ["BROKEN_RESULT"]
