"""Quotas at their limits, one by one and at once, where a pause inside the lock shows that it holds; room in the store.

Refused files do not fill a store, and a failed write is reported as such. A kilobyte stands for a gigabyte here.
"""

import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from fairspace.leaderboard_space import intake as intake_module
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.events import Draft, Kind, submission_path
from fairspace.leaderboard_space.intake import Intake, Usage, User
from fairspace.leaderboard_space.jobs.jobs import due, prune
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.checking import check
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.jobs.children import ZIP_END
from tests.leaderboard_space.jobs.spaces import USER as ADA
from tests.leaderboard_space.jobs.spaces import end, hand_in
from tests.submissions.sample import write_zip

GRACE = User("grace")
PAUSE_SECONDS = 0.2


def opened(folder: Path, kind: type[Intake] = Intake, **settings: Any) -> Intake:
    about = replace(Settings(store=str(folder / "store"), work=folder / "work"), **settings)
    return kind(State(LocalStorage(folder / "store")), about)


def code(call: Callable[[], object]) -> str:
    with pytest.raises(SpaceError) as refused:
        call()
    return refused.value.code


class Slow(Intake):
    """Pauses between counting a user's submissions and admitting another."""

    def usage(self, user: User) -> Usage:
        counted = super().usage(user)
        time.sleep(PAUSE_SECONDS)
        return counted


def test_a_quota_holds_for_those_who_hand_in_at_once(tmp_path: Path) -> None:
    intake = opened(tmp_path, Slow, valid_a_day=1)

    def outcome(text: str) -> str:
        try:
            return hand_in(intake, tmp_path, text).outcome
        except SpaceError as error:
            return error.code

    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(outcome, ("one", "two", "three")))
    assert sorted(outcomes) == ["QUOTA_VALID", "QUOTA_VALID", "waiting"]
    assert len(intake.state.submissions()) == 1


def test_a_submission_is_stored_and_queued_when_it_is_accepted(tmp_path: Path) -> None:
    intake = opened(tmp_path)
    accepted = hand_in(intake, tmp_path, "one", organisation="lab")
    assert (accepted.user, accepted.organisation, accepted.size, accepted.attempt) == ("ada", "lab", 29, 1)
    assert (accepted.outcome, accepted.failed) == ("waiting", ())
    assert intake._coming == {}
    assert [event.kind for event in LocalStorage(tmp_path / "store").events()] == ["accepted"]
    assert hand_in(intake, tmp_path, "one", organisation="school") == accepted
    assert hand_in(intake, tmp_path, "one", GRACE).id != accepted.id


@pytest.mark.parametrize(
    ("meta", "name"),
    [
        (b'{"model": "Kestrel\\u202e7B"}', "Kestrel 7B"),
        (b'{"model": 7}', "my answers"),
        (b"no JSON", "my answers"),
        (b"[" * 100_000, "my answers"),
        (b'{"model": "' + b"x" * 500 + b'"}', "x" * 120),
        (None, "my answers"),
    ],
)
def test_a_submission_has_the_name_of_its_model_or_file(tmp_path: Path, meta: bytes | None, name: str) -> None:
    file = write_zip(tmp_path / "a.zip", [] if meta is None else [("submission.json", meta)])
    intake = opened(tmp_path)
    assert intake.accept(file, ADA, file_name="../my answers.zip").name == name
    again = opened(tmp_path)
    again.state.refresh()
    assert [submission.name for submission in again.state.submissions()] == [name]


def test_a_refused_submission_leaves_nothing_behind(tmp_path: Path) -> None:
    intake = opened(tmp_path, upload_bytes=29)
    assert code(lambda: hand_in(intake, tmp_path, "four")) == "UPLOAD_TOO_LARGE"
    with pytest.raises(SpaceError, match=r"'another'.*one of: lab, school") as refused:
        hand_in(intake, tmp_path, "one", organisation="another")
    assert refused.value.code == "ORGANISATION_UNKNOWN"
    with pytest.raises(SpaceError, match="one of: none"):
        hand_in(intake, tmp_path, "one", GRACE, organisation="lab")
    assert intake.state.submissions() == []
    assert intake._coming == {}
    assert hand_in(intake, tmp_path, "one").size == 29


@pytest.mark.parametrize(
    "content", [b"", b"a text", b"PK\x03\x04 of which the end was cut off", b"MZ" + ZIP_END, b"\x89PNG" + ZIP_END]
)
def test_what_is_no_whole_zip_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    intake, file = opened(tmp_path), tmp_path / "renamed.zip"
    file.write_bytes(content)
    assert code(lambda: intake.accept(file, ADA)) == "UPLOAD_NOT_A_ZIP"
    assert intake.state.submissions() == []


def test_a_store_that_fails_is_no_acceptance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = opened(tmp_path)

    def fail(*anything: object) -> None:
        raise StorageError("STORE_FULL", "the store", "no answer", "one", "wait")

    with monkeypatch.context() as patch:
        patch.setattr(intake.state.storage, "append", fail)
        assert code(lambda: hand_in(intake, tmp_path, "one")) == "STORE_FAILED"
    assert intake._coming == {}
    assert hand_in(intake, tmp_path, "one").attempt == 1


@pytest.mark.parametrize(
    ("setting", "refused"),
    [("waiting", "TOO_MANY_WAITING"), ("valid_a_day", "QUOTA_VALID"), ("faulty_a_day", "QUOTA_FAULTY")],
)
def test_each_quota_admits_as_many_as_it_says(setting: str, refused: str, tmp_path: Path) -> None:
    quotas: dict[str, Any] = {"waiting": 9, "valid_a_day": 9, "faulty_a_day": 9} | {setting: 2}
    intake = opened(tmp_path, **quotas)
    hand_in(intake, tmp_path, "one")
    hand_in(intake, tmp_path, "two")
    with pytest.raises(SpaceError, match=r"2 .*waiting submissions of ADA.*at most 2") as raised:
        hand_in(intake, tmp_path, "three", User("ADA"))  # the Hub's names do not differ in case alone
    assert raised.value.code == refused
    first = intake.state.submissions()[0].clock
    assert raised.value.mend == ("wait until one is done" if setting == "waiting" else f"wait: {first} plus 24 hours")
    assert hand_in(intake, tmp_path, "three", GRACE).outcome == "waiting"


def test_the_queue_admits_as_many_as_it_says(tmp_path: Path) -> None:
    intake = opened(tmp_path, queue_length=2)
    first = hand_in(intake, tmp_path, "one")
    coming = replace(first, id="0" * 20, user="grace")
    intake._coming[coming.id] = coming
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "QUEUE_FULL"
    intake._coming[first.id] = first  # in the log already, so counted once
    del intake._coming[coming.id]
    assert hand_in(intake, tmp_path, "two").outcome == "waiting"
    assert code(lambda: hand_in(intake, tmp_path, "three", GRACE)) == "QUEUE_FULL"


def test_what_is_being_written_counts_for_its_user_alone(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=1)
    other = opened(tmp_path / "other")
    coming = hand_in(other, tmp_path / "other", "elsewhere", User("Ada"))
    intake._coming[coming.id] = coming
    assert hand_in(intake, tmp_path, "one", GRACE).outcome == "waiting"
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "TOO_MANY_WAITING"


def test_a_later_attempt_that_is_being_written_counts_beside_the_earlier_one(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=1)
    first = hand_in(intake, tmp_path, "one")
    end(intake.state, first)
    intake._coming[first.id] = replace(first, attempt=2)
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "TOO_MANY_WAITING"


def test_an_earlier_attempt_that_is_still_being_written_counts_once_with_the_later_one(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=2)
    first = hand_in(intake, tmp_path, "one")
    end(intake.state, first)
    hand_in(intake, tmp_path, "one")
    intake._coming[first.id] = first
    assert hand_in(intake, tmp_path, "two").outcome == "waiting"
    assert code(lambda: hand_in(intake, tmp_path, "three")) == "TOO_MANY_WAITING"


def test_what_ended_makes_room_and_counts_for_its_own_quota(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=1, faulty_a_day=2, failed_a_day=2, attempts=9)
    for text in ("one", "two"):
        end(intake.state, hand_in(intake, tmp_path, text), "refused")
    used = intake.usage(ADA)
    assert (len(used.waiting), len(used.scored), len(used.faulty), len(used.failed)) == (0, 0, 2, 0)
    assert code(lambda: hand_in(intake, tmp_path, "three")) == "QUOTA_FAULTY"
    assert intake.usage(GRACE) == Usage([], [], [], [])


def test_failed_attempts_are_bounded_for_a_submission_and_for_a_user(tmp_path: Path) -> None:
    intake = opened(tmp_path, failed_a_day=3, attempts=2)
    first = hand_in(intake, tmp_path, "one")
    end(intake.state, first)
    second = hand_in(intake, tmp_path, "one")
    assert (second.id, second.attempt, second.failed) == (first.id, 2, (first.clock,))
    end(intake.state, second)
    with pytest.raises(SpaceError, match=r"2 attempts at it failed.*at most 2 attempts") as refused:
        hand_in(intake, tmp_path, "one")
    assert refused.value.code == "QUOTA_FAILED"
    end(intake.state, hand_in(intake, tmp_path, "two"))
    assert intake.usage(ADA).failed == [first.clock, second.clock, intake.state.submissions()[1].clock]
    with pytest.raises(SpaceError, match=r"3 failed attempts of ada.*at most 3") as refused:
        hand_in(intake, tmp_path, "three")
    assert refused.value.code == "QUOTA_FAILED"
    assert first.clock in refused.value.mend


@pytest.mark.parametrize(
    ("ago", "counts"),
    [
        (timedelta(hours=23, minutes=59), True),
        (timedelta(hours=24, minutes=1), False),
        (timedelta(minutes=-4), True),  # by the clock of another process, which is ahead
        (timedelta(minutes=-6), False),
    ],
    ids=str,
)
@pytest.mark.parametrize("outcome", ["refused", "failed"])
def test_a_day_has_24_hours(
    ago: timedelta, counts: bool, outcome: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = opened(tmp_path)
    with monkeypatch.context() as patch:
        then = (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        patch.setattr(intake_module, "clock", lambda *later: then)
        accepted = hand_in(intake, tmp_path, "one")
    assert accepted.clock == then
    end(intake.state, accepted, outcome)
    used = intake.usage(ADA)
    assert len(used.faulty if outcome == "refused" else used.failed) == counts


def test_what_waits_counts_however_long_it_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = opened(tmp_path, waiting=1)
    with monkeypatch.context() as patch:
        patch.setattr(intake_module, "clock", lambda *later: "2020-01-01T00:00:00.000Z")
        hand_in(intake, tmp_path, "one")
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "TOO_MANY_WAITING"


class Store:
    """An intake over a folder, whose files are of a hundred bytes."""

    def __init__(self, root: Path) -> None:
        self.storage = LocalStorage(root / "store")
        self.state = State(self.storage)
        self.root = root
        self.intake = Intake(self.state, Settings(faulty_a_day=10_000, failed_a_day=10_000))

    def hand_in(self, number: int) -> LoggedSubmission:
        return hand_in(self.intake, self.root, f"{number:074}")

    def bytes(self) -> int:
        return sum(file.stat().st_size for file in (self.storage.root / "submissions").rglob("*.zip"))


def test_seven_gigabytes_of_refused_files_leave_room_and_no_hole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ended = [store.hand_in(number) for number in range(3)]
    kinds: tuple[Kind, ...] = ("refused", "failed", "refused")
    for submission, kind in zip(ended, kinds, strict=True):
        end(store.state, submission, kind)
    for number in range(3, 70):
        end(store.state, store.hand_in(number), "refused")
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
    end(store.state, store.hand_in(0))
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
