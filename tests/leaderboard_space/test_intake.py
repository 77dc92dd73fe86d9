"""Quotas at their limits, one by one and at once; a pause inside the lock shows that it holds."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space import intake as intake_module
from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import Intake, Usage, User
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.jobs.children import ZIP_END, disguised
from tests.submissions.sample import write_zip

ADA = User("ada", ("lab", "school"))
PAUSE_SECONDS = 0.2


def opened(folder: Path, kind: type[Intake] = Intake, **settings: Any) -> Intake:
    about = replace(Settings(store=str(folder / "store"), work=folder / "work"), **settings)
    return kind(State(LocalStorage(folder / "store")), about)


def hand_in(intake: Intake, folder: Path, text: str, user: User = ADA, organisation: str = "") -> LoggedSubmission:
    file = folder / f"{text}-{threading.get_ident()}"
    file.write_bytes(disguised(text.encode()))
    return intake.accept(file, user, organisation)


def end(intake: Intake, submission: LoggedSubmission, outcome: str = "failed") -> None:
    about: dict[str, Any] = {"reason": "It died."} if outcome == "failed" else {"faults": []}
    body = {"id": submission.id, "attempt": submission.attempt} | about
    key = f"ended:{submission.id}:{submission.attempt}"
    intake.state.storage.append([Draft(outcome, key, body)])  # type: ignore[arg-type]
    intake.state.refresh()


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
    assert hand_in(intake, tmp_path, "one", User("grace")).id != accepted.id


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
        hand_in(intake, tmp_path, "one", User("grace"), organisation="lab")
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


def test_a_store_that_ends_with_its_container_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "keeps_the_store", lambda self: False)
    assert code(lambda: hand_in(opened(tmp_path), tmp_path, "one")) == "STORE_NOT_KEPT"


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
    assert hand_in(intake, tmp_path, "three", User("grace")).outcome == "waiting"


def test_the_queue_admits_as_many_as_it_says(tmp_path: Path) -> None:
    intake = opened(tmp_path, queue_length=2)
    first = hand_in(intake, tmp_path, "one")
    coming = replace(first, id="0" * 20, user="grace")
    intake._coming[coming.id] = coming
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "QUEUE_FULL"
    intake._coming[first.id] = first  # in the log already, so counted once
    del intake._coming[coming.id]
    assert hand_in(intake, tmp_path, "two").outcome == "waiting"
    assert code(lambda: hand_in(intake, tmp_path, "three", User("grace"))) == "QUEUE_FULL"


def test_what_is_being_written_counts_for_its_user_alone(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=1)
    other = opened(tmp_path / "other")
    (tmp_path / "other").mkdir(exist_ok=True)
    coming = hand_in(other, tmp_path / "other", "elsewhere", User("Ada"))
    intake._coming[coming.id] = coming
    assert hand_in(intake, tmp_path, "one", User("grace")).outcome == "waiting"
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "TOO_MANY_WAITING"


def test_a_later_attempt_that_is_being_written_counts_beside_the_earlier_one(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=1)
    first = hand_in(intake, tmp_path, "one")
    end(intake, first)
    intake._coming[first.id] = replace(first, attempt=2)
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "TOO_MANY_WAITING"


def test_an_earlier_attempt_that_is_still_being_written_counts_once_with_the_later_one(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=2)
    first = hand_in(intake, tmp_path, "one")
    end(intake, first)
    hand_in(intake, tmp_path, "one")
    intake._coming[first.id] = first
    assert hand_in(intake, tmp_path, "two").outcome == "waiting"
    assert code(lambda: hand_in(intake, tmp_path, "three")) == "TOO_MANY_WAITING"


def test_what_ended_makes_room_and_counts_for_its_own_quota(tmp_path: Path) -> None:
    intake = opened(tmp_path, waiting=1, faulty_a_day=2, failed_a_day=2, attempts=9)
    for text in ("one", "two"):
        end(intake, hand_in(intake, tmp_path, text), "refused")
    used = intake.usage(ADA)
    assert (len(used.waiting), len(used.scored), len(used.faulty), len(used.failed)) == (0, 0, 2, 0)
    assert code(lambda: hand_in(intake, tmp_path, "three")) == "QUOTA_FAULTY"
    assert intake.usage(User("grace")) == Usage([], [], [], [])


def test_failed_attempts_are_bounded_for_a_submission_and_for_a_user(tmp_path: Path) -> None:
    intake = opened(tmp_path, failed_a_day=3, attempts=2)
    first = hand_in(intake, tmp_path, "one")
    end(intake, first)
    second = hand_in(intake, tmp_path, "one")
    assert (second.id, second.attempt, second.failed) == (first.id, 2, (first.clock,))
    end(intake, second)
    with pytest.raises(SpaceError, match=r"2 attempts at it failed.*at most 2 attempts") as refused:
        hand_in(intake, tmp_path, "one")
    assert refused.value.code == "QUOTA_FAILED"
    end(intake, hand_in(intake, tmp_path, "two"))
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
    ago: timedelta, counts: bool, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = opened(tmp_path)
    with monkeypatch.context() as patch:
        then = (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        patch.setattr(intake_module, "clock", lambda *later: then)
        accepted = hand_in(intake, tmp_path, "one")
    assert accepted.clock == then
    end(intake, accepted, outcome)
    used = intake.usage(ADA)
    assert len(used.faulty if outcome == "refused" else used.failed) == counts


def test_what_waits_counts_however_long_it_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = opened(tmp_path, waiting=1)
    with monkeypatch.context() as patch:
        patch.setattr(intake_module, "clock", lambda *later: "2020-01-01T00:00:00.000Z")
        hand_in(intake, tmp_path, "one")
    assert code(lambda: hand_in(intake, tmp_path, "two")) == "TOO_MANY_WAITING"
