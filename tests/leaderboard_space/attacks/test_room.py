"""Refused files do not fill a store, and a failed write is reported as such. A kilobyte stands for a gigabyte here."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, submission_path
from fairspace.leaderboard_space.intake import Intake, User
from fairspace.leaderboard_space.jobs.jobs import due, prune
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.checking import check
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.jobs.children import disguised

ADA = User("ada")


class Store:
    def __init__(self, root: Path) -> None:
        self.storage = LocalStorage(root / "store")
        self.state = State(self.storage)
        self.root = root
        self.intake = Intake(self.state, Settings(faulty_a_day=10_000, failed_a_day=10_000))

    def hand_in(self, number: int) -> LoggedSubmission:
        file = self.root / "file"
        file.write_bytes(disguised(f"{number:074}".encode()))
        return self.intake.accept(file, ADA)

    def end(self, submission: LoggedSubmission, kind: str) -> None:
        body = {"id": submission.id, "attempt": submission.attempt, "tries": 1, "faults": [], "reason": "It failed."}
        key = f"ended:{submission.id}:{submission.attempt}"
        self.storage.append([Draft(kind, key, body)])  # type: ignore[arg-type]

    def bytes(self) -> int:
        return sum(file.stat().st_size for file in (self.storage.root / "submissions").rglob("*.zip"))


def test_seven_gigabytes_of_refused_files_leave_room_and_no_hole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ended = [store.hand_in(number) for number in range(3)]
    for submission, kind in zip(ended, ("refused", "failed", "refused"), strict=True):
        store.end(submission, kind)
    for number in range(3, 70):
        store.end(store.hand_in(number), "refused")
    waiting = store.hand_in(70)
    assert store.bytes() == 7_100
    removed = prune(store.state, 30, 1_000)
    assert (len(removed), store.bytes()) == (60, 1_100)
    assert removed[:3] == [submission.sha256 for submission in ended], "the oldest go first"
    assert prune(store.state, 30, 1_000) == [], "nothing is removed twice"
    report = check(store.storage)
    assert (report.submissions, report.faults) == (71, ())
    assert store.storage.read(submission_path(waiting.sha256))
    refused = store.hand_in(0)
    assert (refused.outcome, bool(refused.pruned)) == ("refused", True), "what became of it is still known"
    with pytest.raises(StorageError, match=r"STORE_PRUNED.*removed on .*submit the same file again"):
        store.state.submitted_file(refused).__enter__()
    again = store.hand_in(1)
    assert (again.outcome, again.attempt, again.pruned) == ("waiting", 2, "")
    assert check(store.storage).faults == (), "what failed comes back with its file"


def test_a_file_that_somebody_still_needs_is_kept_and_age_alone_removes_others() -> None:
    old = LoggedSubmission("a", "ada", "", "1", 10, "", outcome="refused", ended="2026-01-01")
    young = replace(old, id="b", sha256="2", ended="2026-02-01")
    scored_too = [replace(old, id="c", sha256="3"), replace(old, id="d", user="bob", sha256="3", outcome="scored")]
    ended_again = [replace(old, id="e", sha256="4"), replace(old, id="f", user="bob", sha256="4", ended="2026-02-01")]
    every = [old, young, *scored_too, *ended_again]
    assert due(every, "2026-01-15", 10**9) == ["1"]
    assert due(every, "2025-01-01", 20) == ["1"]
    assert due(every, "2025-01-01", 0) == ["1", "2", "4"]


def test_nothing_is_removed_that_was_handed_in_meanwhile(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.end(store.hand_in(0), "failed")
    number = store.state.refresh()
    again = store.hand_in(0)
    path = submission_path(again.sha256)
    assert not store.storage.remove([path], Draft("pruned", "pruned:x", {"sha256": [again.sha256]}), number)
    assert store.storage.read(path)


def test_uploads_that_a_kill_cut_off_are_gone_after_the_next_start(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", workers=0, insecure_local=True)
    cut = settings.work / "uploads" / "tmpabc" / "submission.zip"
    cut.parent.mkdir(parents=True)
    cut.write_bytes(bytes(1000))
    with TestClient(create_app(Space.open(settings))):
        assert not cut.parent.exists()


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_store_that_may_only_be_read_is_not_told_as_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store = Store(tmp_path)
    submission = store.hand_in(0)

    def refused(*given: object, **named: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tempfile.mkstemp", refused)
    monkeypatch.setattr(os, "write", refused)
    with pytest.raises(StorageError, match=r"STORE_READ_ONLY.*let this process write there"):
        store.storage.append([Draft("failed", "x")], {submission_path("0" * 64): b"content"})
    with pytest.raises(StorageError, match="STORE_READ_ONLY"):
        store.storage.remove([], Draft("pruned", "y"), 1)
    assert store.storage.read(submission_path(submission.sha256)), "what was accepted can be read"
