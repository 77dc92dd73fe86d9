import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.intake import add_result
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import STAGES
from fairspace.submissions.reading.tables import check_values
from fairspace.submissions.results.board import board
from fairspace.submissions.results.draws import keep
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.values import measured
from tests.leaderboard_space.factory import result

Data = dict[str, Any]
RAN = {"what": "responses", "model": "m/a", "revision": "1", "engine": "inspect_ai", "engine_version": "1"}
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
    "a value stands there twice": lambda d: d["values"].append(d["values"][0]),
    "a value outside its limits": lambda d: d["values"][0].update(value=-7.0, low=-7.0, high=-7.0),
    "a size of nothing": lambda d: d["meta"].update(parameters=0),
    "a size as text": lambda d: d["meta"].update(parameters="7"),
    "a size that is true": lambda d: d["meta"].update(parameters=True),
    "a size without end": lambda d: d["meta"].update(parameters=float("inf")),
    "a size that is no number": lambda d: d["meta"].update(parameters=float("nan")),
    "a size beyond every float": lambda d: d["meta"].update(parameters=10**400),
    "a size that is null": lambda d: d["meta"].update(parameters=None),
    "weights that are 1": lambda d: d["meta"].update(open_weights=1),
    "weights in words": lambda d: d["meta"].update(open_weights="yes"),
    "an architecture of markup": lambda d: d["meta"].update(architecture="<img src=x onerror=alert(1)>"),
    "an architecture as list": lambda d: d["meta"].update(architecture=["diffusion"]),
    "a run that is a number": lambda d: d.update(run=3),
    "a run of numbers": lambda d: d.update(run=[3]),
    "a run of nothing": lambda d: d.update(run=[{}]),
    "a run of a name alone": lambda d: d.update(run=[{"model": "a"}]),
    "a run of a model of two lines": lambda d: d.update(run=[RAN | {"model": "a\nb"}]),
    "a run that says when": lambda d: d.update(run=[RAN | {"started": "2026-01-01T00:00:00Z"}]),
    "a run of too many stages": lambda d: d.update(run=[RAN] * (STAGES + 1)),
}
SAYS = {"a value stands there twice": "twice", "a value outside its limits": "outside"}


def data() -> Data:
    found: Data = json.loads(result("fact_or_fair", "stereotyped", "somebody").dumps())
    return found


def load(path: Path, found: Data) -> Result:
    file = path / "result.json"
    file.write_text(json.dumps(found), encoding="utf-8")
    return load_result(file)


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, data() | {"run": [RAN]}).run
    found = data()
    BROKEN[name](found)
    with pytest.raises(UsageError, match=r"is no result|has no standard") as refused:
        load(tmp_path, found)
    assert "\x1b" not in str(refused.value)
    assert SAYS.get(name, "") in str(refused.value)


def sure(d: Data) -> Data:
    found: Data = next(value["uncertainty"] for value in d["values"] if "uncertainty" in value)
    return found


def variant(**changes: object) -> Data:
    return {"kind": "judge", "name": "x", "values": {"level": 1.0}, "note": "", **changes}


def drawn(d: Data, **changes: object) -> None:
    d["draws"].update(changes)


UNSURE: dict[str, Callable[[Data], object]] = {
    "variants are an object": lambda d: d.update(variants={"a": 1}),
    "variants are numbers": lambda d: d.update(variants=[1]),
    "65 variants": lambda d: d.update(variants=[variant()] * 65),
    "a variant of another value": lambda d: d.update(variants=[variant(values={"other": 1.0})]),
    "1000 draws": lambda d: drawn(d, draws=1_000, steps=base64.b64encode(bytes(1_000)).decode()),
    "draws of another value": lambda d: drawn(d, names=["other"]),
    "an error below 0": lambda d: sure(d).update(error=-0.1),
    "low above high": lambda d: d["values"][0].update(value=0.5, low=0.9, high=0.1),
    "low above the value": lambda d: d["values"][0].update(value=0.5, low=0.6, high=0.9),
    "more valid samples than expected": lambda d: d["values"][0].update(valid=9, expected=2),
}


def sure_data() -> Data:
    """`data` with a further value `level` that has an uncertainty, and 200 draws of it."""
    found = data()
    about = Uncertainty("item", 100, 1_000, 0, 0.1, 0.3, 0.7, "bca", 0.3, 0.7)
    level = replace(measured("level", 0.5, low=0.5, high=0.5, expected=9, valid=9), uncertainty=about)
    found["values"].append(level.to_json())
    found["draws"] = keep(["level"], np.linspace(0.3, 0.7, 200)[:, None]).to_json()
    found["variants"] = [variant(intervals={"level": [0.5, 1.5]})]
    return found


@pytest.mark.parametrize("change", UNSURE.values(), ids=UNSURE.keys())
def test_an_uncertainty_that_nobody_could_have_measured_is_refused(
    tmp_path: Path, change: Callable[[Data], object]
) -> None:
    found = sure_data()
    change(found)
    with pytest.raises(UsageError, match="is no result"):
        load(tmp_path, found)


def test_what_lies_apart_by_rounding_and_what_does_not_vary_is_taken(tmp_path: Path) -> None:
    found = sure_data()
    found["values"][0].update(value=0.0275, low=0.027500000000000017, high=0.02749999999999999, expected=9, valid=9)
    drawn(found, error=[0.0])
    again = load(tmp_path, found)
    assert again.draws is not None
    assert (again.draws.table() == again.draws.centre).all()
    assert Result.from_json(json.loads(again.dumps())).dumps() == again.dumps()


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"[" * 20 + b"]" * 20, b"[" * 200_000])
def test_a_file_without_a_result_is_refused_with_what_writes_one(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"no result.*fairspace score"):
        load_result(tmp_path / "result.json")


def test_a_folder_a_link_to_nowhere_and_nothing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("nowhere")
    for name in ("folder", "link", "nothing"):
        with pytest.raises(UsageError, match=r"is (a folder, )?no result"):
            load_result(tmp_path / f"{name}.json")


def forge() -> Data:
    forged = data() | {"ranked": 999.0, "unranked": [], "labels": {"cohort": "<b>mine</b>"}}
    for score in forged["scores"]:
        score.update(state="value", value=1.0, low=1.0, high=1.0, reason="")
    return forged


def test_scores_that_a_file_claims_rank_nobody(tmp_path: Path) -> None:
    honest = result("fact_or_fair", "stereotyped", "somebody")
    found = load(tmp_path, forge())
    assert found.to_json() == honest.to_json()
    (row,) = [row for row in board("fact_or_fair", results=[found]) if row.result]
    assert row.ranked == honest.scored.ranked
    check_values(found.to_json())


def test_a_stored_file_that_was_changed_is_told_and_changes_no_board(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    add_result(storage, result("fact_or_fair", "stereotyped", "somebody"))
    state = State(storage)
    state.refresh()
    before = state.snapshot()
    (file,) = (tmp_path / "results").rglob("*.json")
    file.write_text(json.dumps(forge()), encoding="utf-8")
    again = State(LocalStorage(tmp_path))
    again.refresh()
    assert again.snapshot() == before
    (own,) = again.entries()
    with pytest.raises(StorageError, match="STORE_CORRUPT"):
        again.full(own.entry)
    file.unlink()
    with pytest.raises(StorageError, match="STORE_MISSING"):
        again.full(own.entry)


def test_numbers_that_overflow_a_score_are_refused(tmp_path: Path) -> None:
    found = json.loads(result("iris", "stereotyped", "somebody").dumps())
    for value in found["values"]:
        if value["state"] == "value":
            value.update(value=-1e308, low=-1e308, high=-1e308)
    with pytest.raises(UsageError, match="is no result"):
        load(tmp_path, found)
