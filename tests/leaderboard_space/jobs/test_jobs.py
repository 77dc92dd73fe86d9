import threading
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import pytest

from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import Usage, User, result_draft
from fairspace.leaderboard_space.jobs.child import ChildEnd
from fairspace.leaderboard_space.jobs.jobs import SCORING, Attempt, Job, Record, fair_order
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.scoring import score_submission
from tests.leaderboard_space.factory import bad_zip, good_zip, result
from tests.leaderboard_space.jobs.spaces import (
    CHILDREN,
    USER,
    good,
    hand_in,
    kinds,
    log,
    rebuilt,
    settings,
    space,
    until_ended,
    waits,
)
from tests.leaderboard_space.waiting import until


def test_accounts_take_turns_and_each_is_served_in_its_order() -> None:
    accounts = enumerate(["a1", "a2", "a3", "b1", "b2", "c1", "A4"])
    queue = [LoggedSubmission(name, name[0], "", "", 1, f"2026-01-31T12:{minute:02}") for minute, name in accounts]
    for submissions in (queue, queue[::-1]):
        order = [submission.id for submission in fair_order(submissions)]
        assert order == ["a1", "b1", "c1", "a2", "b2", "a3", "A4"]
    assert fair_order([]) == []


@pytest.fixture
def opened(tmp_path: Path) -> Space:
    return space(settings(tmp_path))


def work_off(opened: Space) -> None:
    opened.jobs.start()
    until_ended(opened)
    opened.jobs.stop()


@pytest.mark.process
def test_a_submission_is_scored_and_a_faulty_one_refused_by_the_real_child(tmp_path: Path) -> None:
    opened = space(settings(tmp_path), SCORING)
    handed_in = good_zip(tmp_path / "good.zip", "a model")
    bad, codes = bad_zip(tmp_path / "bad.zip")
    scored = opened.intake.accept(handed_in, USER)
    refused = opened.intake.accept(bad, USER)
    work_off(opened)
    assert kinds(opened) == {"accepted": 2, "result": 1, "scored": 1, "refused": 1}
    made, files = result_draft(score_submission(read_submission(handed_in)), USER.name)
    told = {event.kind: dict(event.body) for event in log(opened)}
    assert told["result"].pop("identity")["sketch"].keys() == {"llm_subjective"}
    assert told["result"] == made.body
    assert [opened.storage.read(path) for path in files] == list(files.values())
    entry = {"id": scored.id, "attempt": 1, "key": made.body["key"], "entry": made.body["entry"], "same": False}
    assert told["scored"] == entry | {"tries": 1}
    assert {fault["code"] for fault in told["refused"]["faults"]} == codes
    assert told["refused"]["id"] == refused.id
    assert opened.state.snapshot() == rebuilt(opened)


def test_the_same_result_is_credited_to_who_came_first(opened: Space, tmp_path: Path) -> None:
    for user in ("ada", "grace"):
        hand_in(opened, tmp_path, good(), User(user))
    again = hand_in(opened, tmp_path, good() + " ", User("ada"))
    work_off(opened)
    assert kinds(opened) == {"accepted": 3, "result": 1, "scored": 3}
    assert [event.body["same"] for event in log(opened) if event.kind == "scored"] == [False, True, True]
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
    assert kinds(opened) == {"accepted": 1, "failed": 1}
    assert log(opened)[-1].body == {"id": handed_in.id, "attempt": 1, "tries": 3, "reason": reason}
    second = hand_in(space(about), tmp_path, way)
    assert (second.id, second.attempt) == (handed_in.id, 2)
    assert hand_in(space(about), tmp_path, way, User("grace")).attempt == 1


def test_a_job_waits_again_between_tries_and_others_come_first(opened: Space, tmp_path: Path) -> None:
    one, two, three = (hand_in(opened, tmp_path, f"die\n{n}", User(f"u{n}")) for n in range(3))
    assert opened.jobs.waiting() == [one.id, two.id, three.id]
    assert [opened.jobs.progress(each).position for each in (one, two, three)] == [1, 2, 3]
    job = Job(two.id, 1)
    opened.jobs.records[job] = Record(1, "2026-01-31T12:00:00.000Z", "died")
    retried = opened.jobs.progress(two)
    assert (retried.stage, retried.position, retried.tries, retried.since[:4]) == ("retried", 2, 1, "2026")
    opened.jobs._running[Job(one.id, 1)] = threading.Event()
    assert opened.jobs.progress(one).stage == "running"
    assert (opened.jobs.waiting(), opened.jobs.running()) == ([two.id, three.id], 1)
    assert opened.jobs.progress(two).position == 1


def test_an_error_of_ours_is_tried_again_and_costs_no_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    about = settings(tmp_path, attempts=1, waiting=1, valid_a_day=1, failed_a_day=1)
    opened = space(about)
    handed_in = hand_in(opened, tmp_path, good())
    errors = [ValueError("filedescriptor out of range in select()"), OSError(24, "Too many open files")]

    def broken(*_: object) -> ChildEnd:
        if errors:
            raise errors.pop()
        return ChildEnd("died with signal 9 (SIGKILL)", "", False, 0.0, killed=True)

    monkeypatch.setattr("fairspace.leaderboard_space.jobs.jobs.run_child", broken)
    job, records = Job(handed_in.id, 1), opened.jobs.records
    for tries in (1, 2, 3):
        Attempt(opened.state, about, records, job, CHILDREN, threading.Event()).run()
        assert records.get(job, Record()).tries == (tries if tries < 3 else 0)
    broke = [vars(line)["code"] for line in caplog.records if line.exc_info]
    assert broke == ["OUR_FAULT"] * 3
    ended = opened.state.submission(handed_in.id)
    assert ended is not None
    assert (ended.outcome, ended.ours, ended.tries) == ("failed", True, 3)
    assert opened.intake.usage(USER) == Usage([], [], [], [])
    again = hand_in(opened, tmp_path, good())
    assert (again.attempt, again.failed) == (2, ())


def test_a_job_that_goes_beyond_a_limit_is_failed_at_once(tmp_path: Path) -> None:
    opened = space(settings(tmp_path, scoring_seconds=0))
    handed_in = hand_in(opened, tmp_path, "sleep")
    work_off(opened)
    reason = "It took longer than 0 seconds."
    assert log(opened)[-1].body == {"id": handed_in.id, "attempt": 1, "tries": 1, "reason": reason}


def test_a_file_that_is_not_what_was_handed_in_is_our_fault(opened: Space, tmp_path: Path) -> None:
    hand_in(opened, tmp_path, good())
    file = next(tmp_path.glob("store/submissions/*/*.zip"))
    file.write_bytes(file.read_bytes()[:-10])
    work_off(opened)
    assert kinds(opened) == {"accepted": 1, "failed": 1}
    assert log(opened)[-1].body["reason"] == "It could not be read: the stored file is not what was submitted."


def test_an_attempt_that_somebody_else_ended_puts_no_row_on_the_board(opened: Space, tmp_path: Path) -> None:
    handed_in = hand_in(opened, tmp_path, f"wait\n{good()}")
    opened.jobs.start()
    until(lambda: list(tmp_path.glob("work/scoring/*/waits")))
    body = {"id": handed_in.id, "attempt": 1, "reason": "It was ended elsewhere."}
    opened.storage.append([Draft("failed", f"ended:{handed_in.id}:1", body)])
    next(tmp_path.glob("work/scoring/*/waits")).with_name("go").touch()
    until(lambda: not opened.jobs.records)
    opened.jobs.stop()
    assert kinds(opened) == {"accepted": 1, "failed": 1}


def test_stopping_lets_the_running_job_end_and_leaves_the_others(opened: Space, tmp_path: Path) -> None:
    first = hand_in(opened, tmp_path, f"wait\n{good('one')}")
    opened.jobs.start()
    until(lambda: list(tmp_path.glob("work/scoring/*/waits")))
    second = hand_in(opened, tmp_path, good("two"))
    stopping = threading.Thread(target=opened.jobs.stop, args=[60])
    stopping.start()
    until(opened.jobs._stopping.is_set)
    next(tmp_path.glob("work/scoring/*/waits")).with_name("go").touch()
    stopping.join()
    assert [event.body["id"] for event in log(opened) if event.kind == "scored"] == [first.id]
    again = space(opened.settings)
    work_off(again)
    assert kinds(opened) == {"accepted": 2, "result": 2, "scored": 2}
    assert {event.body["id"] for event in log(opened) if event.kind == "scored"} == {first.id, second.id}


def test_stopping_ends_a_job_that_takes_longer_without_counting_the_try(opened: Space, tmp_path: Path) -> None:
    handed_in = hand_in(opened, tmp_path, "sleep")
    opened.jobs.start()
    until(lambda: list(tmp_path.glob("work/scoring/*/pid")))
    assert opened.jobs.progress(handed_in).tries == 1
    begun = time.monotonic()
    opened.jobs.stop(0.2)
    assert time.monotonic() - begun < 60  # the job sleeps for 600
    assert kinds(opened) == {"accepted": 1}
    assert not list(tmp_path.glob("work/scoring/*"))
    again = space(opened.settings)
    assert (again.jobs.progress(handed_in).stage, again.jobs.progress(handed_in).tries) == ("queued", 0)
    assert again.jobs.waiting() == [handed_in.id]


def test_a_store_that_takes_nothing_for_a_while_costs_no_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = space(settings(tmp_path, tries=1))
    hand_in(opened, tmp_path, good())
    refusals = iter([StorageError("STORE_FULL", "the store", "no room", "room", "make room")])
    append = LocalStorage.append

    def full_at_first(storage: LocalStorage, drafts: list[Draft], *files: object) -> object:
        for refusal in refusals:
            raise refusal
        return append(storage, drafts, *files)  # type: ignore[arg-type]

    monkeypatch.setattr(LocalStorage, "append", full_at_first)
    work_off(opened)
    assert kinds(opened) == {"accepted": 1, "result": 1, "scored": 1}


def test_a_file_that_the_store_has_lost_fails_and_says_so(tmp_path: Path) -> None:
    opened = space(settings(tmp_path, tries=1))
    hand_in(opened, tmp_path, good())
    next(tmp_path.glob("store/submissions/*/*.zip")).unlink()
    work_off(opened)
    assert "It could not be read: no file submissions/" in log(opened)[-1].body["reason"]


class Clock(datetime):
    ahead = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) + cls.ahead


def test_quotas_count_however_the_clock_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairspace.leaderboard_space.events.datetime", Clock)
    opened = space(settings(tmp_path, valid_a_day=1, failed_a_day=1))
    for day, days in enumerate((2, -2, 0)):
        monkeypatch.setattr(Clock, "ahead", timedelta(days))
        hand_in(opened, tmp_path, good(f"model {day}"))
        if day == 0:
            opened.jobs.start()
        until_ended(opened)
        with pytest.raises(SpaceError, match="QUOTA_VALID"):
            hand_in(opened, tmp_path, good("one more"))
    opened.jobs.stop()
    assert kinds(opened) == {"accepted": 3, "result": 3, "scored": 3}
    times = [event.time for event in log(opened)]
    assert max(times[3:6]) < min(times[6:]) <= max(times[6:]) < min(times[:3]), "a wrong clock stamps its own events"
    clocks = [event.body["clock"] for event in log(opened) if event.kind == "accepted"]
    assert clocks[1] < clocks[2] < clocks[0]


@pytest.mark.process
def test_baselines_are_scored_behind_submissions_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [("fact_or_fair", "constant")]
    monkeypatch.setattr(
        "fairspace.leaderboard_space.jobs.jobs.missing",
        lambda state: [one for one in wanted if one[0] not in {own.benchmark for own in state.entries()}],
    )
    monkeypatch.setattr("fairspace.leaderboard_space.jobs.jobs.add_shipped", lambda state: 0)
    opened = space(settings(tmp_path, baselines=True))
    hand_in(opened, tmp_path, result("iris", "stereotyped", "a model").dumps())
    opened.jobs.start()
    until(lambda: len(opened.state.entries()) == 2)
    assert opened.jobs.alive()
    opened.jobs.stop()
    assert not waits(opened)
    order = [event.body["result"]["benchmark"] for event in log(opened) if event.kind == "result"]
    assert order == ["iris", "fact_or_fair"]
    assert opened.state.snapshot() == rebuilt(opened)


@pytest.mark.parametrize(("name", "least"), [("TRIES", 1), ("QUEUE_LENGTH", 1), ("SCORING_MEMORY", 1), ("WORKERS", 0)])
def test_a_number_that_lets_nothing_work_is_refused(name: str, least: int) -> None:
    assert Settings.from_environment({f"FAIRSPACE_{name}": str(least)})
    for wrong in ("-1", str(least - 1)):
        with pytest.raises(UsageError, match=f"FAIRSPACE_{name}"):
            Settings.from_environment({f"FAIRSPACE_{name}": wrong})
