import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from submissions.faults import UsageError
from submissions.result import Result, rescore
from submissions.store import Store, key
from tests.leaderboard_space.factory import HOSTILE, renamed, result


@pytest.fixture(scope="module")
def scored() -> Result:
    return result("fact_or_fair", "stereotyped", HOSTILE)


def files(store: Store) -> list[Path]:
    return sorted(path for path in store.root.rglob("*") if path.is_file())


def test_what_is_added_can_be_read_back(tmp_path: Path, scored: Result) -> None:
    store = Store(tmp_path)
    store.add(scored)
    assert [found.to_json() for found in store.results("fact_or_fair")] == [scored.to_json()]
    assert store.results("iris") == []


def test_paths_come_from_content_hashes_alone(tmp_path: Path, scored: Result) -> None:
    store = Store(tmp_path)
    path = store.add(renamed(scored, "../../../etc/passwd\0.json"))
    assert path.parent == tmp_path / "results" / "fact_or_fair"
    assert re.fullmatch(r"[0-9a-f]{64}\.json", path.name)


def test_a_benchmark_that_is_none_is_refused(tmp_path: Path, scored: Result) -> None:
    with pytest.raises(UsageError, match="Known"):
        Store(tmp_path).add(replace(scored, benchmark="../iris"))
    assert not any(tmp_path.iterdir())


def test_adding_twice_changes_nothing(tmp_path: Path, scored: Result) -> None:
    store = Store(tmp_path)
    first = store.add(scored).read_bytes()
    assert store.add(scored).read_bytes() == first
    assert len(files(store)) == 1


def test_standards_models_and_revisions_are_kept_apart(tmp_path: Path, scored: Result) -> None:
    store = Store(tmp_path)
    newer = replace(scored, meta={**scored.meta, "revision": "2"})
    for one in (scored, rescore(scored, "revised_truth"), newer, renamed(scored, "other")):
        store.add(one)
    assert len(store.results("fact_or_fair")) == 4


BROKEN = {
    "empty": b"",
    "no JSON": b"{",
    "no UTF-8": b"\xff\xfe",
    "another shape": b"[]",
    "another format": b'{"format": 2, "values": []}',
    "half": b'{"format": 1, "values": [{"name": "x"}]}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_reported_and_the_others_are_read(tmp_path: Path, scored: Result, content: bytes) -> None:
    store = Store(tmp_path)
    path = store.add(scored)
    path.with_name("0" * 64 + ".json").write_bytes(content)
    stored = store.read("fact_or_fair")
    assert len(stored.results) == 1
    assert [fault.code for fault in stored.faults] == ["BROKEN_RESULT"]
    assert stored.faults[0].where == "0" * 64 + ".json"


def test_a_result_under_another_name_is_reported(tmp_path: Path, scored: Result) -> None:
    store = Store(tmp_path)
    path = store.add(scored)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["meta"]["model"] = "somebody else"
    path.write_text(json.dumps(data), encoding="utf-8")
    stored = store.read("fact_or_fair")
    assert stored.results == ()
    assert [fault.code for fault in stored.faults] == ["BROKEN_RESULT"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, scored: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)

    def fail(self: Result) -> str:
        raise OSError("the disk is full")

    monkeypatch.setattr(Result, "dumps", fail)
    with pytest.raises(OSError, match="full"):
        store.add(scored)
    assert files(store) == []


def test_the_key_does_not_depend_on_where_a_word_ends(scored: Result) -> None:
    one = replace(scored, meta={**scored.meta, "model": "ab", "revision": "c"})
    other = replace(scored, meta={**scored.meta, "model": "a", "revision": "bc"})
    assert key(one) != key(other)
