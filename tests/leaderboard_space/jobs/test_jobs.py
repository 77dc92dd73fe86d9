"""Jobs end in the log, once each, with what came of them; what can be seen of them on the way is true."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from leaderboard_space.events import Draft
from leaderboard_space.intake import User
from leaderboard_space.job_queue import Job, Record
from leaderboard_space.jobs import SCORING
from leaderboard_space.space import Space
from leaderboard_space.state import result_draft
from leaderboard_space.storage import StorageError
from leaderboard_space.storage.local import LocalStorage
from submissions.check import read_submission
from submissions.result import score_submission
from tests.leaderboard_space.factory import bad_zip, good_zip, result
from tests.leaderboard_space.jobs.spaces import (
    FAST,
    USER,
    good,
    hand_in,
    kinds,
    log,
    rebuilt,
    settings,
    space,
    until,
    until_ended,
    waits,
)


def work_off(opened: Space) -> None:
    """Let everything that waits be scored."""
    opened.jobs.start()
    until_ended(opened)
    opened.jobs.stop()


def test_a_submission_is_scored_and_a_faulty_one_refused_by_the_real_child(tmp_path: Path) -> None:
    about = settings(tmp_path)
    opened = space(about, SCORING)
    handed_in = good_zip(tmp_path / "good.zip", "a model")
    bad, codes = bad_zip(tmp_path / "bad.zip")
    scored = opened.intake.accept(handed_in, USER)
    refused = opened.intake.accept(bad, USER)
    work_off(opened)
    assert kinds(about) == {"accepted": 2, "result": 1, "scored": 1, "refused": 1}
    made, files = result_draft(score_submission(read_submission(handed_in)), USER.name)
    told = {event.kind: event.body for event in log(about)}
    assert told["result"] == made.body
    assert [opened.storage.read(path) for path in files] == list(files.values())
    entry = {"id": scored.id, "attempt": 1, "key": made.body["key"], "entry": made.body["entry"], "same": False}
    assert told["scored"] == entry
    assert {fault["code"] for fault in told["refused"]["faults"]} == codes
    assert told["refused"]["id"] == refused.id
    assert opened.state.snapshot() == rebuilt(about)


def test_the_same_result_is_credited_to_who_came_first(tmp_path: Path) -> None:
    about = settings(tmp_path)
    opened = space(about)
    for user in ("ada", "grace"):
        hand_in(opened, tmp_path, good(), User(user))
    again = hand_in(opened, tmp_path, good() + " ", User("ada"))
    work_off(opened)
    assert kinds(about) == {"accepted": 3, "result": 1, "scored": 3}
    assert [event.body["same"] for event in log(about) if event.kind == "scored"] == [False, True, True]
    assert [own.user for own in opened.state.entries()] == ["ada"]
    found = opened.state.submission(again.id)
    assert found is not None
    assert found.same


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("die", "It was tried 3 times; the last time it died with signal 11 (SIGSEGV)."),
        ("nonsense", "It was tried 3 times; the last time it ended without a result."),
    ],
)
def test_a_job_that_ends_its_process_is_tried_again_twice_and_then_failed(
    tmp_path: Path, way: str, reason: str
) -> None:
    about = settings(tmp_path, waiting=1, valid_a_day=1, faulty_a_day=1)
    opened = space(about)
    handed_in = hand_in(opened, tmp_path, way)
    work_off(opened)
    assert kinds(about) == {"accepted": 1, "failed": 1}
    assert log(about)[-1].body == {"id": handed_in.id, "attempt": 1, "reason": reason}
    second = hand_in(space(about), tmp_path, way)
    assert (second.id, second.attempt) == (handed_in.id, 2)
    assert hand_in(space(about), tmp_path, way, User("grace")).attempt == 1


def test_a_job_waits_again_between_tries_and_others_come_first(tmp_path: Path) -> None:
    opened = space(settings(tmp_path))
    one, two, three = (hand_in(opened, tmp_path, f"die\n{n}", User(f"u{n}")) for n in range(3))
    assert opened.jobs.waiting() == [one.id, two.id, three.id]
    assert [opened.jobs.progress(each).position for each in (one, two, three)] == [1, 2, 3]
    opened.jobs.put(one)
    assert opened.jobs.waiting() == [one.id, two.id, three.id]
    job = Job(two.id, 1)
    opened.jobs.queue.note(job, Record(1, "2026-01-31T12:00:00.000Z", "died"))
    retried = opened.jobs.progress(two)
    assert (retried.stage, retried.position, retried.tries, retried.since[:4]) == ("retried", 2, 1, "2026")
    assert opened.jobs.queue.take(Job(one.id, 1), "somebody")
    assert opened.jobs.progress(one).stage == "running"
    assert (opened.jobs.waiting(), opened.jobs.running()) == ([two.id, three.id], 1)
    assert opened.jobs.progress(two).position == 1


def test_stopping_lets_the_running_job_end_and_leaves_the_others(tmp_path: Path) -> None:
    about = settings(tmp_path)
    opened = space(about)
    first = hand_in(opened, tmp_path, good("one"))
    opened.jobs.start()
    until(lambda: opened.jobs.running())
    second = hand_in(opened, tmp_path, good("two"))
    opened.jobs.stop(30)
    ended = [event.body["id"] for event in log(about) if event.kind == "scored"]
    assert ended[:1] == [first.id]
    again = space(about)
    work_off(again)
    assert kinds(about) == {"accepted": 2, "result": 2, "scored": 2}
    assert {event.body["id"] for event in log(about) if event.kind == "scored"} == {first.id, second.id}


def test_stopping_ends_a_job_that_takes_longer_without_counting_the_try(tmp_path: Path) -> None:
    about = settings(tmp_path)
    opened = space(about)
    handed_in = hand_in(opened, tmp_path, "sleep")
    opened.jobs.start()
    until(lambda: list(tmp_path.glob("work/scoring/*/pid")))
    assert opened.jobs.progress(handed_in).tries == 1
    begun = time.monotonic()
    opened.jobs.stop(0.2)
    assert time.monotonic() - begun < 10
    assert kinds(about) == {"accepted": 1}
    assert not list(tmp_path.glob("work/scoring/*"))
    again = space(about)
    assert (again.jobs.progress(handed_in).stage, again.jobs.progress(handed_in).tries) == ("queued", 0)
    assert again.jobs.waiting() == [handed_in.id]


def test_a_store_that_takes_nothing_for_a_while_costs_no_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = settings(tmp_path, tries=1)
    opened = space(about)
    hand_in(opened, tmp_path, good())
    refusals = iter([StorageError("STORE_FULL", "the store", "no room", "room", "make room")])
    append = LocalStorage.append

    def full_at_first(storage: LocalStorage, drafts: list[Draft], *files: object) -> object:
        for refusal in refusals:
            raise refusal
        return append(storage, drafts, *files)  # type: ignore[arg-type]

    monkeypatch.setattr(LocalStorage, "append", full_at_first)
    work_off(opened)
    assert kinds(about) == {"accepted": 1, "result": 1, "scored": 1}


def test_a_file_that_the_store_has_lost_fails_and_says_so(tmp_path: Path) -> None:
    about = settings(tmp_path, tries=1)
    opened = space(about)
    hand_in(opened, tmp_path, good())
    next(tmp_path.glob("store/submissions/*/*.zip")).unlink()
    work_off(opened)
    assert "It could not be read: no file submissions/" in log(about)[-1].body["reason"]


@pytest.mark.parametrize("left", [None, b"", b"no database" * 1000])
def test_a_queue_that_was_lost_is_made_again_from_the_log(tmp_path: Path, left: bytes | None) -> None:
    about = settings(tmp_path)
    opened = space(about)
    hand_in(opened, tmp_path, good())
    opened.jobs.stop()
    (about.work / "queue.db").unlink()
    if left is not None:
        (about.work / "queue.db").write_bytes(left)
    work_off(space(about))
    assert kinds(about) == {"accepted": 1, "result": 1, "scored": 1}


def test_a_queue_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    about = settings(tmp_path, queue="redis://127.0.0.1:1/0", workers=0)
    opened = space(about)
    handed_in = hand_in(opened, tmp_path, good())
    assert opened.jobs.waiting() == [handed_in.id]
    assert opened.jobs.progress(handed_in).position == 1


def test_a_lease_that_stands_still_is_taken_back_however_the_clock_jumps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = settings(tmp_path)
    opened = space(about)
    handed_in = hand_in(opened, tmp_path, good())
    jumps = iter(range(0, 10**9, 86_400))
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + next(jumps) * (-1) ** next(jumps))
    opened.jobs.start()
    until_ended(opened)
    other = hand_in(opened, tmp_path, good("another"), User("grace"))
    until_ended(opened)
    opened.jobs.stop()
    monkeypatch.undo()
    assert kinds(about) == {"accepted": 2, "result": 2, "scored": 2}
    times = [event.time for event in log(about)]
    assert times == sorted(times)
    assert {event.body["id"] for event in log(about) if event.kind == "scored"} == {handed_in.id, other.id}


def test_a_worker_that_stands_still_loses_its_job_and_a_late_answer_changes_nothing(tmp_path: Path) -> None:
    about = settings(tmp_path)
    slow, other = space(about, timing=replace(FAST, patience=600.0)), space(about)
    handed_in = hand_in(slow, tmp_path, "sleep")
    slow.jobs.start()
    until(lambda: list(tmp_path.glob("work/scoring/*/pid")))
    job = Job(handed_in.id, 1)
    other.jobs.queue.release(job, slow.jobs.worker)
    assert other.jobs.queue.take(job, "another")
    until(lambda: not slow.jobs._running)
    slow.jobs.stop()
    assert other.jobs.queue.lease(job) is not None
    assert other.jobs.queue.records([job])[job].tries == 0
    assert kinds(about) == {"accepted": 1}


def test_baselines_are_scored_behind_submissions_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [("fact_or_fair", "constant")]
    monkeypatch.setattr(
        "leaderboard_space.baseline_jobs.missing",
        lambda state: [one for one in wanted if one[0] not in {own.benchmark for own in state.entries()}],
    )
    about = settings(tmp_path, baselines=True)
    opened = space(about)
    hand_in(opened, tmp_path, result("iris", "stereotyped", "a model").dumps())
    opened.jobs.start()
    until(lambda: len(opened.state.entries()) == 2)
    until(lambda: not any(thread.name == "jobs-baselines" for thread in threading.enumerate()))
    opened.jobs.stop()
    assert not waits(opened)
    order = [event.body["result"]["benchmark"] for event in log(about) if event.kind == "result"]
    assert order == ["iris", "fact_or_fair"]
    assert opened.state.snapshot() == rebuilt(about)
