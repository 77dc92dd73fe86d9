import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import add_result, result_draft, result_key
from fairspace.leaderboard_space.jobs import jobs
from fairspace.leaderboard_space.state import UNSHOWN, State
from fairspace.leaderboard_space.storage.checking import check
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.genres.quantities import FLOORS
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.board import UNSCORABLE
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.values import measured
from tests.hub.running import ROOT
from tests.leaderboard_space.api.spaces import opened
from tests.leaderboard_space.factory import HOSTILE, accepted, ended, full_of, renamed, result, state_of


@pytest.fixture(scope="module")
def scored() -> Result:
    return result("fact_or_fair", "stereotyped", HOSTILE)


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_what_is_added_can_be_read_back(tmp_path: Path, scored: Result) -> None:
    event = add_result(LocalStorage(tmp_path), scored)
    state = state_of(tmp_path)
    found = full_of(state, event.body["entry"])
    assert found.dumps() == scored.dumps()
    (row,) = [row for row in state.board("fact_or_fair", scored.standard) if row.result]
    assert row.result is not None
    ranked = row.result.scored.ranked
    assert (row.scores, ranked, row.labels) == (scored.scored.scores, scored.scored.ranked, scored.scored.labels)
    assert [v.to_json() for v in row.values.values()] == [
        replace(v, evidence={}).to_json() for v in scored.values.values()
    ]
    assert not [row for row in state.board("iris", "inaugural") if row.result]
    assert state.full("nothing") is None


def test_a_row_is_scored_against_the_cohort_of_its_own_judge(tmp_path: Path) -> None:
    """GENRES' total is a distance from the cohort of the judge's family."""
    names = [f"M{number}" for number in range(1, 9)]
    relations = ("cs", "em", "mp", "ar")
    values = {
        name: measured(name, 1.0, low=1.0, high=1.0, expected=1440, valid=1440)
        for name in (*names, *(f"{one}_{relation}" for one in names for relation in relations))
    }
    values |= {name: measured(name, 1.0, low=1.0, expected=1440, valid=1440) for name in FLOORS}
    totals = {}
    for judge in ("glm", "llama", "mistral"):
        values["M4"] = replace(values["M4"], evidence={"cohort": judge, "mean": {}})
        made = Result(
            "genres",
            "inaugural",
            {"model": judge},
            values,
            Scored({}, "TBS", None),
            {"submission": judge, "dataset_revision": "v1"},
        )
        add_result(LocalStorage(tmp_path), rescore(made, "inaugural"))
        totals[judge] = rescore(made, "inaugural").scored.scores["TBS"].value
    assert len(set(totals.values())) == 3
    rows = [row for row in state_of(tmp_path).board("genres", "inaugural") if row.result]
    assert {row.model: row.scores["TBS"].value for row in rows} == totals
    assert {row.model: row.cohort for row in rows} == {"glm": "GLM", "llama": "Llama", "mistral": "Mistral"}


def test_paths_come_from_content_hashes_alone(tmp_path: Path, scored: Result) -> None:
    add_result(LocalStorage(tmp_path), renamed(scored, "../../../etc/passwd\\0.json"))
    count, log, file = files(tmp_path)
    assert (count, log) == ("events.count", "events.jsonl")
    assert re.fullmatch(r"results/fact_or_fair/([0-9a-f]{2})/\1[0-9a-f]{62}\.json", file)


def test_a_benchmark_that_is_none_is_refused(tmp_path: Path, scored: Result) -> None:
    with pytest.raises(UsageError, match="Known"):
        add_result(LocalStorage(tmp_path), replace(scored, benchmark="../iris"))
    assert not any(tmp_path.iterdir())


def test_adding_twice_changes_nothing(tmp_path: Path, scored: Result) -> None:
    storage = LocalStorage(tmp_path)
    first = add_result(storage, scored)
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    assert add_result(storage, scored) == add_result(LocalStorage(tmp_path), scored) == first
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_standards_models_and_revisions_are_kept_apart(tmp_path: Path, scored: Result) -> None:
    newer = replace(scored, meta={**scored.meta, "revision": "2"})
    for one in (scored, rescore(scored, "revised_truth"), newer, renamed(scored, "other")):
        add_result(LocalStorage(tmp_path), one)
    assert len(list((tmp_path / "results").rglob("*.json"))) == 4
    assert len(state_of(tmp_path).entries()) == 3, "standards are no rows of their own"


def test_the_key_does_not_depend_on_where_a_word_ends(scored: Result) -> None:
    one = replace(scored, meta={**scored.meta, "model": "ab", "revision": "c"})
    other = replace(scored, meta={**scored.meta, "model": "a", "revision": "bc"})
    assert result_key(one) != result_key(other)


def test_a_file_that_no_event_stands_for_yet_gives_way_and_one_that_has_its_event_stays(
    tmp_path: Path, scored: Result
) -> None:
    storage = LocalStorage(tmp_path)
    draft, content = result_draft(scored)
    ((path, whole),) = content.items()
    storage.append([], {path: b"of a version whose event was never written"})
    storage.append([draft], content)
    assert storage.read(path) == whole
    storage.append([draft, Draft("scored", "ended:x:1", {})], {path: b"of a later version"})
    assert storage.read(path) == whole


def test_an_event_that_says_what_none_of_ours_does_is_told(tmp_path: Path, scored: Result) -> None:
    bodies: list[dict[str, Any]] = [{}, {"entry": []}, {"entry": "x", "result": 7}, {"entry": "x", "result": {}}]
    for number, body in enumerate(bodies):
        storage = LocalStorage(tmp_path / str(number))
        storage.append([Draft("result", "result:x", body)])
        with pytest.raises(StorageError, match="STORE_CORRUPT at event 1"):
            State(storage).refresh()


def test_a_baseline_of_an_older_version_gives_its_place_on_the_board_to_the_newer(tmp_path: Path) -> None:
    found = result("fact_or_fair", "stereotyped")
    storage = LocalStorage(tmp_path)
    for version in ("0.0.8", "0.0.9"):
        add_result(storage, replace(found, meta={**found.meta, "revision": version}))
    state = state_of(tmp_path)
    assert ("fact_or_fair", "stereotyped") in jobs.missing(state)
    add_result(storage, found)
    state.refresh()
    assert ("fact_or_fair", "stereotyped") not in jobs.missing(state)
    assert len(jobs.missing(state)) == 4 * 5 - 1
    assert len(state.entries()) == 3
    (row,) = [row for row in state.board("fact_or_fair", "inaugural") if row.provenance == "baseline"]
    assert row.result is not None
    assert row.result.meta["revision"] == found.meta["revision"]


def test_a_result_that_this_version_cannot_score_stands_unranked_and_leaves_its_board(
    tmp_path: Path, scored: Result, caplog: pytest.LogCaptureFixture
) -> None:
    storage = LocalStorage(tmp_path)
    add_result(storage, scored)
    lacking = replace(scored, values={}, meta={**scored.meta, "model": "of another version"})
    draft, files = result_draft(lacking, own=True)
    (event,) = storage.append([replace(draft, body={**draft.body, "scored_by": "0.0.1"})], files)
    entry, state = event.body["entry"], state_of(tmp_path)
    caplog.clear()
    for _ in range(2):
        rows = {row.entry: row for row in state.board("fact_or_fair", "inaugural") if row.result}
    assert len(rows) == 2
    row = rows.pop(entry)
    assert (row.rank, row.ranked, row.unranked) == (None, None, (UNSCORABLE,))
    assert row.scores.keys() == next(iter(rows.values())).scores.keys()
    assert {value.state for value in row.scores.values()} == {"not_run"}
    assert len(caplog.records) == 1, "told once"
    assert check(storage).faults == ()


def test_shipped_results_are_added_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scored: Result) -> None:
    monkeypatch.setattr(jobs, "shipped_results", lambda: (scored,))
    state = state_of(tmp_path)
    added = jobs.add_shipped(state)
    state.refresh()
    assert (added, jobs.add_shipped(state)) == (1, 0)
    assert [own.result.meta for own in state_of(tmp_path).entries()] == [scored.meta]


def test_the_command_needs_no_pages_to_read_a_store() -> None:
    modules = "fairspace.leaderboard_space.state, fairspace.leaderboard_space.storage.hub"
    code = f"import {modules}, sys; print('gradio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"


def test_a_row_whose_result_cannot_be_read_says_so_and_stays(tmp_path: Path) -> None:
    """As one that another version wrote."""
    scored = result("fact_or_fair", "stereotyped", "Newer")
    newer = replace(scored, meta={**scored.meta, "architecture": "of a kind that nobody knows yet"})
    with opened(tmp_path) as site:
        state = site.space.state
        handed_in, file = accepted("ada", b"a file")
        draft, files = result_draft(newer, "ada")
        name, entry = str(handed_in.body["id"]), str(draft.body["entry"])
        scored_event = ended("scored", name, key=draft.body["key"], entry=entry, same=False)
        state.storage.append([handed_in, draft, scored_event], file | files)
        state.refresh()
        with pytest.raises(StorageError, match="STORE_UNREADABLE"):
            state.full(entry)
        (fault,) = check(state.storage).faults
        assert fault.code == "STORE_UNREADABLE"
        (shown,) = [row for row in state.board("fact_or_fair") if row.result is not None]
        assert next(iter(shown.scores.values())).value is not None

        value = next(iter(shown.values))
        for path in (f"/model/fact_or_fair/{entry}", f"/submission/{name}", f"/api/v1/submissions/{name}"):
            answer = site.client.get(path)
            assert answer.status_code == 200, (path, answer.text)
            assert (UNSHOWN in answer.text) == path.startswith("/model")
        for path in (f"api/v1/boards/fact_or_fair/rows/{entry}/result", f"model/fact_or_fair/{entry}/evidence/{value}"):
            answer = site.client.get(f"/{path}", headers={"accept": "application/json"})
            assert answer.status_code == 404, (path, answer.text)
            assert "EVIDENCE_UNREADABLE" in answer.text
            assert UNSHOWN in answer.text
