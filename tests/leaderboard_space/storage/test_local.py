"""A store in a folder: kills, a full disk, a damaged log or clock, several writers."""

import hashlib
import os
import resource
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, Event, sealed, submission_path
from fairspace.leaderboard_space.intake import add_result, result_draft
from fairspace.leaderboard_space.storage.checking import check, mend
from fairspace.leaderboard_space.storage.local import LOG, LocalStorage
from fairspace.submissions.results.result import Result
from tests.leaderboard_space.factory import renamed, result

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def scored() -> Result:
    return result("fact_or_fair", "stereotyped", "model")


def content_of(number: int) -> bytes:
    return b"PK%d" % number


def path_of(number: int) -> str:
    return submission_path(hashlib.sha256(content_of(number)).hexdigest())


def draft(number: int) -> Draft:
    about = {"id": f"{number}", "attempt": 1, "user": "u", "organisation": "", "size": number}
    return Draft("accepted", f"key-{number}", {**about, "sha256": hashlib.sha256(content_of(number)).hexdigest()})


def keys(root: Path) -> list[str]:
    return [event.key for event in LocalStorage(root).events()]


def in_child(action: Callable[[], object]) -> int:
    """Run in a forked process; return its exit status, or minus the signal that ended it."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(number: int, action: Callable[[], object]) -> Callable[[], None]:
    """The action, with SIGKILL before or after the given disk call, counted from 1."""

    def run() -> None:
        steps = iter(range(1, 1000))

        def step() -> None:
            if next(steps) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*given: Any, **named: Any) -> Any:
                step()
                answer = function(*given, **named)
                step()
                return answer

            return call

        for name in ("write", "fsync", "replace", "mkdir", "truncate", "ftruncate", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        action()

    return run


def fresh_append(root: Path, drafts: list[Draft], files: dict[str, Path | bytes]) -> None:
    LocalStorage(root).append(drafts, files)


@pytest.mark.process
def test_a_kill_at_any_step_loses_and_doubles_nothing(tmp_path: Path, scored: Result) -> None:
    own, content = result_draft(scored)
    files: dict[str, Path | bytes] = {**content, path_of(1): content_of(1)}
    whole = LocalStorage(tmp_path / "whole")
    whole.append([draft(0)])
    whole.append([own, draft(1)], files)
    expected, lines = check(whole).snapshot, keys(whole.root)
    seen: set[int] = set()
    outcomes: set[tuple[int, int]] = set()
    for number in range(1, 100):
        root = tmp_path / str(number)
        storage = LocalStorage(root)
        storage.append([draft(0)], {path_of(0): content_of(0)})
        before = (root / LOG).read_bytes()
        status = in_child(killed_at(number, partial(fresh_append, root, [own, draft(1)], files)))
        log = (root / LOG).read_bytes()
        assert log.startswith(before)
        seen.add(len(keys(root)))
        outcome = len(log), sum(path.is_file() for path in root.rglob("*"))
        for again in (storage, LocalStorage(root)):
            again.append([own, draft(1)], files)
            assert keys(root) == lines
        if outcome not in outcomes:  # rebuilding each board is slow
            found = check(storage)
            assert (found.snapshot, found.faults) == (expected, ())
        outcomes.add(outcome)
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert number > 20, "there were many steps"
    assert seen == {1, 3}, "some kills came before the log was written, some behind"


def test_a_kill_while_the_log_is_written_leaves_a_torn_line_that_is_put_aside(tmp_path: Path) -> None:
    length = len(sealed(Event(2, "2026-01-31T12:00:00.000Z", "accepted", "key-1", "0" * 64, draft(1).body)).line())
    for cut in (1, length // 2, length - 1, length + 1, length + length // 2):
        root = tmp_path / str(cut)
        storage = LocalStorage(root)
        storage.append([draft(0)])
        size = (root / LOG).stat().st_size

        def die(root: Path = root, limit: int = size + cut) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            LocalStorage(root).append([draft(1), draft(2)])

        assert in_child(die) == -signal.SIGXFSZ
        assert (root / LOG).stat().st_size == size + cut
        complete = ["key-0", "key-1"] if cut > length else ["key-0"]
        assert [event.key for event in storage.events()] == keys(root) == complete, "a reader is not disturbed"
        storage.append([draft(1)])
        storage.append([draft(2)])
        assert keys(root) == ["key-0", "key-1", "key-2"]
        (torn,) = (root / "torn").iterdir()
        assert torn.stat().st_size == (cut - length if cut > length else cut)


@pytest.mark.parametrize("what", ["log", "file"])
def test_a_full_disk_is_told_and_harms_nothing(tmp_path: Path, scored: Result, what: str) -> None:
    storage = LocalStorage(tmp_path)
    add_result(storage, renamed(scored, "before"))
    size = (tmp_path / LOG).stat().st_size
    path = path_of(1)
    files = {path: bytes(2 * size)} if what == "file" else {}

    def fill() -> None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
        for _ in range(2):
            with pytest.raises(StorageError, match="STORE_FULL"):
                storage.append([draft(1), draft(2)], files)
        assert len(list(storage.events())) == 1
        assert (tmp_path / LOG).stat().st_size == size
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        storage.append([draft(1), draft(2)], files)

    assert in_child(fill) == 0
    assert [event.key for event in storage.events()][1:] == keys(tmp_path)[1:] == ["key-1", "key-2"]
    assert not list((tmp_path / "parts").glob("*"))
    assert (tmp_path / path).exists() == (what == "file")


def test_a_reader_never_sees_what_a_writer_takes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = LocalStorage(tmp_path), LocalStorage(tmp_path)
    writer.append([draft(0)])
    assert len(list(reader.events())) == 1
    whole = os.fsync

    def fails(handle: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(StorageError, match="STORE_FULL"):
        writer.append([draft(1)])
    monkeypatch.setattr(os, "fsync", whole)
    assert len(list(reader.events())) == 1
    writer.append([draft(2)])
    assert [event.key for event in reader.events()] == keys(tmp_path) == ["key-0", "key-2"]


Lines = Callable[[bytes, bytes, bytes, bytes], list[bytes]]
DAMAGES: dict[str, tuple[Lines, int, tuple[int, ...]]] = {
    "a line changed": (lambda a, b, c, d: [a, b.replace(b'"size":1,', b'"size":7,'), c, d], 2, (2,)),
    "two lines swapped": (lambda a, b, c, d: [a, c, b, d], 2, ()),
    "the last line doubled": (lambda a, b, c, d: [a, b, c, d, d], 5, ()),
    "a line gone": (lambda a, b, c, d: [a, c, d], 2, (2,)),
    "the last line damaged": (lambda a, b, c, d: [a, b, c, d[:40] + b"\0\n"], 4, (4,)),
    "spaces in a line": (lambda a, b, c, d: [a, b.replace(b",", b", "), c, d], 2, (2,)),
    "another kind": (lambda a, b, c, d: [a, b, c, d.replace(b'"kind":"accepted"', b'"kind":"made_up"')], 4, (4,)),
}
"""Damage to a log of four lines, the line that an error names, and the lost ones."""


@pytest.mark.parametrize(("damage", "named", "lost"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_line_is_refused_until_it_is_mended(
    tmp_path: Path, damage: Lines, named: int, lost: tuple[int, ...]
) -> None:
    LocalStorage(tmp_path).append([draft(number) for number in range(4)])
    damaged = b"".join(damage(*(tmp_path / LOG).read_bytes().splitlines(keepends=True)))
    (tmp_path / LOG).write_bytes(damaged)
    for action in (lambda s: list(s.events()), lambda s: s.append([draft(9)])):
        with pytest.raises(StorageError, match=f"STORE_CORRUPT at .*line {named}:.*fairspace store .*--mend"):
            action(LocalStorage(tmp_path))
    assert (tmp_path / LOG).read_bytes() == damaged, "nothing is changed unasked"
    mended = mend(tmp_path)
    assert (mended.events, mended.lost) == (5, lost)
    expected = [f"lost:{number}" if number in lost else f"key-{number - 1}" for number in range(1, 5)]
    assert keys(tmp_path) == [*expected, "mended:5"]
    LocalStorage(tmp_path).append([draft(9)])
    assert len(keys(tmp_path)) == 6
    assert mend(tmp_path).aside == (), "a sound log is left as it is"


@pytest.mark.parametrize("hours", [-24 * 4000, 24 * 4000])
def test_a_clock_that_once_was_wrong_stamps_no_other_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    start = datetime.now().astimezone()
    for number, jump in enumerate((0, hours * 3600, 10, 5, 400)):

        class Clock(datetime):
            moment = start + timedelta(seconds=jump)

            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return cls.moment.astimezone(tz)

        monkeypatch.setattr("fairspace.leaderboard_space.events.datetime", Clock)
        LocalStorage(tmp_path).append([draft(number)])
    times = [datetime.fromisoformat(event.time) - start for event in LocalStorage(tmp_path).events()]
    sane = [time.total_seconds() for place, time in enumerate(times) if place != 1]
    assert sane == pytest.approx([0, 10, 10, 400], abs=0.01), "and a clock a little behind makes no event earlier"


def test_readers_do_not_wait_for_a_slow_disk_and_see_what_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, goes_on, waits, fsync = LocalStorage(tmp_path), Flag(), Flag(), os.fsync
    store.append([draft(0)])

    def slow(handle: int) -> None:
        waits.set()
        assert goes_on.wait(60)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", slow)
    with ThreadPoolExecutor(2) as pool:
        appended = pool.submit(store.append, [draft(1)])
        assert waits.wait(60)
        assert (tmp_path / LOG).read_bytes().count(b"\n") == 2, "it is written, and not yet durable"
        reading = pool.submit(
            lambda: [[event.key for event in store.events()], store.find("key-0"), store.find("key-1")]
        )
        known, first, second = reading.result(30)
        assert (known, first is None, second) == (["key-0"], False, None)
        assert not appended.done()
        goes_on.set()
        assert [event.key for event in appended.result(60)] == ["key-1"]
    assert [event.key for event in store.events()] == ["key-0", "key-1"]


def test_writers_at_once_and_one_that_is_killed_have_one_log(tmp_path: Path) -> None:
    root = tmp_path / "store"
    children, told = [], []
    for writer in range(3):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            storage = LocalStorage(root)
            for number in range(200):
                own = number if number % 2 else number + 1000 * (writer + 1)
                storage.append([draft(own)], {path_of(7): content_of(7)} if number == 7 else None)
                os.write(writing, f"key-{own}\n".encode())
            os._exit(0)
        os.close(writing)
        children.append(child)
        told.append(os.fdopen(reading, "r"))
    acknowledged = [told[2].readline().strip() for _ in range(50)]
    os.kill(children[2], signal.SIGKILL)
    reader = LocalStorage(root)
    follow = [event.key for event in reader.events()]
    for stream in told:
        with stream:
            acknowledged += [line.strip() for line in stream if line.endswith("\n")]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert statuses == [0, 0, -signal.SIGKILL]
    found = keys(root)
    assert len(found) == len(set(found))
    assert set(acknowledged) <= set(found)
    assert {f"key-{number}" for number in range(1, 200, 2)} <= set(found)
    assert len(set(found) - set(acknowledged)) <= 1, "at most the event whose writer was killed before it could tell"
    follow += [event.key for event in reader.events(len(follow))]
    assert follow == found


def test_what_killed_writers_left_is_removed_after_a_day(tmp_path: Path) -> None:
    LocalStorage(tmp_path).append([draft(0)], {path_of(0): content_of(0)})
    for name, age in (("old", 90_000), ("new", 0)):
        (tmp_path / "parts" / name).write_bytes(b"x")
        stat = (tmp_path / LOG).stat()
        os.utime(tmp_path / "parts" / name, (stat.st_mtime - age, stat.st_mtime - age))
    LocalStorage(tmp_path).append([draft(1)])
    assert [part.name for part in (tmp_path / "parts").iterdir()] == ["new"]


def test_a_long_log_is_read_without_holding_it(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    storage.append([Draft("failed", f"key-{number}", {"text": "x" * 1000}) for number in range(2000)])
    reading = LocalStorage(tmp_path).events(1000)
    assert next(reading).number == 1001
    storage.append([draft(2000)])
    assert sum(1 for _ in reading) == 1000, "what is appended meanwhile is read, too"
    assert storage.find("key-7") == next(storage.events(7))
    assert storage.find("nothing") is None
    assert [event.number for event in storage.append([draft(5000), draft(1), draft(5000)])] == [2002, 2, 2002]


def shortened(log: Path) -> None:
    os.truncate(log, log.read_bytes().index(b"\n") + 1)


def replaced(log: Path) -> None:
    other = LocalStorage(log.parent / "other")
    other.append([draft(number) for number in range(20, 30)])
    (other.root / LOG).replace(log)


@pytest.mark.parametrize("change", [shortened, Path.unlink, replaced])
def test_a_log_that_is_changed_under_a_process_is_refused_and_not_written(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    storage = LocalStorage(tmp_path)
    storage.append([draft(number) for number in range(3)])
    whole = (tmp_path / LOG).read_bytes()
    change(tmp_path / LOG)
    changed = (tmp_path / LOG).read_bytes() if (tmp_path / LOG).exists() else None
    for action in (
        lambda: storage.append([draft(9)]),
        lambda: list(storage.events(3)),
        lambda: list(storage.events()),
        lambda: storage.find("key-1"),
    ):
        with pytest.raises(StorageError, match=r"STORE_CORRUPT.*stop every process"):
            action()
    assert changed == ((tmp_path / LOG).read_bytes() if (tmp_path / LOG).exists() else None)
    (tmp_path / LOG).write_bytes(whole)
    storage.append([draft(9)])
    assert keys(tmp_path) == ["key-0", "key-1", "key-2", "key-9"]


def test_a_torn_submission_is_repaired_by_handing_it_in_again(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    storage.append([draft(1)], {path_of(1): content_of(1)})
    before = (tmp_path / path_of(1)).stat().st_ino
    storage.append([draft(1)], {path_of(1): content_of(1)})
    assert (tmp_path / path_of(1)).stat().st_ino == before, "a whole one is left as it is"
    (tmp_path / path_of(1)).write_bytes(bytes(len(content_of(1))))
    storage.append([draft(1)], {path_of(1): content_of(1)})
    assert storage.read(path_of(1)) == content_of(1)


def test_mending_leaves_what_is_being_written(tmp_path: Path) -> None:
    LocalStorage(tmp_path).append([draft(1)], {path_of(1): content_of(1)})
    (tmp_path / "parts" / "new").write_bytes(b"x")
    mend(tmp_path)
    assert (tmp_path / "parts" / "new").exists()
