"""Two Spaces on the Hub share one log, whatever the Hub answers and whenever a process is killed."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import Intake, User, add_result, result_draft
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.hub import HubStorage, Pace, segment_path
from fairspace.submissions.results.result import Result
from tests.hub.faults import DROP, SLOW, Fault
from tests.hub.running import COMMIT, OWNER, ROOT, STRANGER, Hub, online
from tests.leaderboard_space.factory import full_of, renamed, result
from tests.leaderboard_space.jobs.spaces import hand_in
from tests.leaderboard_space.waiting import until

Open = Callable[..., HubStorage]
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload:DeprecationWarning")  # by the client


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with Hub.start(tmp_path_factory.mktemp("hub")) as running, online():
        yield running


@pytest.fixture(scope="module")
def scored() -> Result:
    return result("fact_or_fair", "stereotyped", "model")


@pytest.fixture
def opened(hub: Hub, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Open]:
    stores: list[HubStorage] = []
    repo_id = f"fairspace/store-{hashlib.sha256(request.node.name.encode()).hexdigest()[:20]}"

    def start(work: str = "work", **options: Any) -> HubStorage:
        given = {"endpoint": hub.address, "token": OWNER, "segment": 2000, "sleep": lambda seconds: None, **options}
        stores.append(HubStorage(repo_id, tmp_path / work, 100_000, **given))
        return stores[-1]

    yield start
    hub.heal()
    for store in stores:
        store.close()


def draft(number: int) -> Draft:
    return Draft("failed", f"key-{number}", {"number": number})


def keys(store: HubStorage) -> list[str]:
    store.sync()
    return [event.key for event in store.events()]


def state_of(store: HubStorage) -> State:
    store.sync()
    state = State(store)
    state.refresh()
    return state


def test_what_is_appended_is_there_for_another_space_and_after_a_restart(
    hub: Hub, opened: Open, scored: Result, tmp_path: Path
) -> None:
    one, other = opened("one"), opened("other")
    added = [add_result(one, renamed(scored, f"m{number}")) for number in range(3)]
    assert add_result(other, renamed(scored, "m1")) == added[1], "the same result stands once"
    add_result(other, renamed(scored, "m3"))
    states = [state_of(store) for store in (one, other, opened("from-nothing"))]
    assert states[0].snapshot() == states[1].snapshot() == states[2].snapshot()
    assert [own.result.meta["model"] for own in states[0].entries()] == ["m0", "m1", "m2", "m3"]
    found = full_of(states[2], added[0].body["entry"])
    assert found.dumps() == renamed(scored, "m0").dumps()
    with pytest.raises(StorageError, match="STORE_MISSING"):
        one.read("results/iris/00/nothing.json")


def upload(hub: Hub, store: HubStorage, path: str, content: bytes) -> None:
    """Change a file of the store as its owner may."""
    from huggingface_hub import HfApi

    api = HfApi(hub.address, OWNER)
    api.upload_file(path_or_fileobj=content, path_in_repo=path, repo_id=store.repo_id, repo_type="dataset")


def test_a_log_that_was_changed_on_the_hub_is_told_and_not_believed(hub: Hub, opened: Open) -> None:
    store, log = opened(), segment_path(1)
    store.append([draft(1), draft(2)])
    assert len(keys(store)) == 2
    content = store._repository.content(log, store._repository.head())
    half = content[: len(content) // 2]
    for changed in (content.replace(b"key-2", b"key-3"), content + b"{}\n", content[:-10], half):
        upload(hub, store, log, changed)
        for action in (store.sync, partial(store.append, [draft(5)])):
            with pytest.raises(StorageError, match="STORE_CORRUPT"):
                action()
        assert [event.key for event in store.events()] == ["key-1", "key-2"], "what was read stays readable"
    upload(hub, store, log, content)
    store.append([draft(5)])
    assert keys(store) == keys(opened("again")) == ["key-1", "key-2", "key-5"]


@pytest.mark.parametrize(
    "faults",
    [
        [Fault("POST", COMMIT, 409, times=2)],
        [Fault("POST", COMMIT, 412, times=2)],
        [Fault("POST", COMMIT, 412, after=True)],
        [Fault("POST", COMMIT, 429, seconds=7)],
        [Fault("POST", COMMIT, 500, after=True)],
        [Fault("POST", COMMIT, 500, after=True), Fault("GET", "/resolve/", 502), Fault("GET", "/tree/", 503)],
        [Fault("POST", COMMIT, DROP), Fault("POST", COMMIT, DROP, after=True)],
        [Fault("POST", COMMIT, 504), Fault("POST", "/preupload/", 500)],
        [Fault("PUT", "/objects/", 500), Fault("POST", "/info/lfs/", 503)],
    ],
    ids=["409", "412", "412-done", "429", "500-done", "500-done-blind", "reset", "5xx", "lfs-5xx"],
)
def test_an_answer_of_the_hub_loses_and_doubles_nothing(
    hub: Hub, opened: Open, scored: Result, faults: list[Fault]
) -> None:
    slept: list[float] = []
    one = opened("one", sleep=slept.append, draw=lambda: 0.5)
    one.append([draft(1)])
    hub.inject(*faults)
    own, content = result_draft(scored)
    path = "submissions/00/file.zip"
    zipped = b"PK\0" + one.repo_id.encode()
    events = one.append([draft(2), own], {**content, path: zipped})
    assert [event.number for event in events] == [2, 3]
    assert not [fault for fault in hub.faults_left() if fault["path"] == COMMIT]
    assert slept or faults[0].path != COMMIT, "the client itself tries uploads again"
    assert all(fault.status != 429 for fault in faults) or max(slept) >= 7, "the Hub's wish is obeyed"
    hub.heal()
    assert one.append([draft(2), own, draft(4)])[:2] == events
    assert keys(one) == keys(opened("other")) == ["key-1", "key-2", own.key, "key-4"]
    other = opened("other")
    assert other.read(path) == zipped
    assert state_of_results(one) == state_of_results(other)


def state_of_results(store: HubStorage) -> list[str]:
    store.sync()
    return [event.body["entry"] for event in store.events() if event.kind == "result"]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault("POST", COMMIT, 500, times=50), "STORE_UNAVAILABLE"),
        (Fault("POST", COMMIT, 412, times=100), "STORE_UNAVAILABLE"),
        (Fault("POST", COMMIT, 400), "STORE_REFUSED"),
    ],
    ids=["failing", "always another head", "refusing"],
)
def test_a_hub_that_keeps_failing_or_refuses_makes_appending_fail_and_reading_old(
    hub: Hub, opened: Open, fault: Fault, code: str
) -> None:
    store = opened()
    store.append([draft(1)])
    hub.inject(fault)
    with pytest.raises(StorageError, match=code):
        store.append([draft(2)])
    hub.heal()
    assert [event.key for event in store.events()] == ["key-1"]
    store.append([draft(2)])
    assert keys(store) == ["key-1", "key-2"]
    with pytest.raises(StorageError, match="STORE_REFUSED"):
        opened("stranger", token=STRANGER).append([draft(3)])


def during_a_commit(
    store: HubStorage, first: Callable[[], object], others: Sequence[Callable[[], object]], *, in_order: bool = False
) -> tuple[int, list[str]]:
    """Call the others while the commit of the first waits; the number of commits, and the codes of errors."""
    begun, goes_on, commit = threading.Event(), threading.Event(), store._repository.commit

    def waits(*about: Any) -> str:
        begun.set()
        assert goes_on.wait(30)
        return commit(*about)

    with mock.patch.object(store._repository, "commit", side_effect=waits) as commits, ThreadPoolExecutor(20) as pool:
        calls = [pool.submit(first)]
        assert begun.wait(30)
        for call in others:
            calls.append(pool.submit(call))
            if in_order:
                until(lambda: len(store._waiting) == len(calls) - 1)
        until(lambda: len(store._waiting) + sum(call.done() for call in calls) == len(others))
        goes_on.set()
    errors = [error for call in calls if (error := call.exception()) is not None]
    return commits.call_count, [getattr(error, "code", repr(error)) for error in errors]


def test_what_waits_becomes_one_commit_and_one_refused_file_does_not_take_the_others_with_it(opened: Open) -> None:
    store = opened()
    store.append([draft(0)])
    appends = [partial(store.append, [draft(number)]) for number in range(24)]
    assert during_a_commit(store, appends[1], appends[2:12]) == (2, [])
    refused = partial(store.append, [draft(21)], {"../x": b"x"})
    assert during_a_commit(store, appends[20], [refused, *appends[22:]])[1] == ["STORE_REFUSED"]
    assert sorted(keys(store)) == sorted(f"key-{n}" for n in (*range(12), 20, 22, 23))


def test_of_two_drafts_with_one_key_the_first_brings_event_and_file(opened: Open, scored: Result) -> None:
    store = opened()
    store.append([draft(0)])
    own, files = result_draft(scored)
    ((path, content),) = files.items()
    calls = [partial(store.append, [own], files), partial(store.append, [Draft("failed", own.key)], {path: b"another"})]
    assert during_a_commit(store, partial(store.append, [draft(1)]), calls, in_order=True) == (2, [])
    other = opened("other")
    assert keys(other) == ["key-0", "key-1", own.key]
    assert other.read(path) == content


def test_submissions_that_come_at_once_are_one_commit_and_count_for_the_quota(opened: Open, tmp_path: Path) -> None:
    store = opened()
    store.append([draft(0)])
    state = State(store)
    state._folded.number = 1  # the draft is no event of a board
    intake = Intake(state, Settings(waiting=2))
    files = [("a", 0), *((user, number) for user in "bcd" for number in range(3)), ("b", 0)]
    calls = [partial(hand_in, intake, tmp_path, f"{user} {number}", User(user)) for user, number in files]
    commits, refused = during_a_commit(store, calls[0], calls[1:])
    assert (commits, {*refused}) == (2, {"TOO_MANY_WAITING"})
    assert len(state.submissions()) == 1 + 2 * 3


def test_two_spaces_that_write_at_once_have_one_log(hub: Hub, opened: Open, scored: Result) -> None:
    stores = [opened("one", sleep=short), opened("other", sleep=short)]
    added: dict[int, list[str]] = {0: [], 1: []}

    def write(place: int) -> None:
        for number in range(6):
            model = f"m{number}" if number % 2 else f"m{number}-{place}"
            added[place].append(add_result(stores[place], renamed(scored, model)).key)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, (0, 1)))
    assert set(keys(stores[0])) == {*added[0], *added[1]}
    assert len(keys(stores[0])) == 3 + 3 + 3
    states = [state_of(store) for store in (*stores, opened("from-nothing"))]
    assert states[0].snapshot() == states[1].snapshot() == states[2].snapshot()
    assert [event.line() for event in stores[0].events()] == [event.line() for event in stores[1].events()]


def short(seconds: float) -> None:
    time.sleep(min(seconds, 0.05))


CHILD = """
import sys
from pathlib import Path
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.storage.hub import HubStorage
store = HubStorage(sys.argv[1], Path(sys.argv[2]), 1000, segment=2000)
files = {"submissions/00/file.zip": b"PK\\0" + sys.argv[1].encode()}
print(store.append([Draft("failed", "key-2", {"number": 2})], files)[0].number)
"""
TRANSITIONS = {
    "before-the-head": Fault("GET", "/api/datasets/", SLOW, seconds=60),
    "at-the-upload": Fault("PUT", "/objects/", SLOW, seconds=60),
    "behind-the-upload": Fault("PUT", "/objects/", SLOW, seconds=60, after=True),
    "before-the-commit": Fault("POST", COMMIT, SLOW, seconds=60),
    "behind-the-commit": Fault("POST", COMMIT, SLOW, seconds=60, after=True),
}


@pytest.mark.parametrize("fault", TRANSITIONS.values(), ids=TRANSITIONS.keys())
def test_a_process_that_is_killed_while_it_commits_loses_and_doubles_nothing(
    hub: Hub, opened: Open, tmp_path: Path, fault: Fault
) -> None:
    first = opened("first")
    first.append([draft(1)])
    hub.log(clear=True)
    hub.inject(fault)
    command = [sys.executable, "-c", CHILD, first.repo_id, str(tmp_path / "work")]
    environment = hub.environment(tmp_path / "home", OWNER, FAIRSPACE_STORE=f"hf://datasets/{first.repo_id}")
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as child:
        done = fault.after
        until(lambda: any(entry["fault"] and entry.get("done", False) == done for entry in hub.log()))
        os.kill(child.pid, signal.SIGKILL)
        assert child.stdout is not None
        assert child.stdout.read() == b"", "nobody was told"
    hub.heal()
    again = opened("work")
    committed = "key-2" in keys(again)
    assert committed == (fault is TRANSITIONS["behind-the-commit"])
    content = b"PK\0" + first.repo_id.encode()
    again.append([draft(2)], {"submissions/00/file.zip": content})
    again.append([draft(3)])
    assert keys(again) == keys(first) == keys(opened("from-nothing")) == ["key-1", "key-2", "key-3"]
    assert first.read("submissions/00/file.zip") == content


def test_the_head_is_asked_for_only_while_somebody_reads_and_a_dead_hub_is_no_hindrance(hub: Hub, opened: Open) -> None:
    one, other = opened("one", every=0.0), opened("other")
    assert list(one.events()) == []
    other.append([draft(1)])
    until(lambda: len(list(one.events())) == 1)
    until(lambda: not one._polling.locked())
    hub.inject(Fault("GET", "/api/datasets/", 500, times=100))
    until(lambda: len(list(one.events())) == 1 and one.trouble is not None)
    assert one.trouble is not None
    assert one.trouble.code == "STORE_UNAVAILABLE"
    hub.heal()
    until(lambda: len(list(one.events())) == 1 and one.trouble is None)


def test_a_file_is_fetched_once_and_not_asked_for_while_the_hub_is_known_to_fail(
    hub: Hub, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "submissions/00/file.txt"
    opened("one").append([draft(1)], {path: b"content"})
    store = opened("other")
    store.sync()
    hub.inject(Fault("GET", "/resolve/", 503, times=100))
    hub.log(clear=True)
    for _ in range(3):
        with pytest.raises(StorageError, match="STORE_UNAVAILABLE"):
            store.read(path)
    assert len(hub.log()) == 2, "two tries, and then none"
    hub.heal()
    monkeypatch.setattr("fairspace.leaderboard_space.storage.hub._QUIET", 0.0)
    hub.inject(Fault("GET", "/resolve/", SLOW, seconds=0.2))
    hub.log(clear=True)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(store.read, [path] * 4)) == [b"content"] * 4
    assert len(hub.log()) == 1
    assert store.trouble is None


def test_a_thread_that_goes_wrong_is_told_and_goes_on(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(every=0.0)
    store.append([draft(1)])

    def wrong() -> None:
        raise RuntimeError("nobody thought of it")

    whole = store.sync
    monkeypatch.setattr(store, "sync", wrong)
    until(lambda: len(list(store.events())) == 1 and store.trouble is not None)
    assert store.trouble is not None
    assert store.trouble.code == "STORE_FAULT"
    monkeypatch.setattr(store, "sync", whole)
    until(lambda: len(list(store.events())) == 1 and store.trouble is None)
    store.append([draft(2)])
    assert keys(store) == ["key-1", "key-2"]


def test_an_append_that_was_committed_is_told_so_without_room_for_a_copy(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, content: object) -> None:
        raise OSError(28, "No space left on device")

    store = opened()
    with monkeypatch.context() as patched:
        patched.setattr(store._files, "put", full)
        store.append([draft(1)], {"submissions/00/file.txt": b"content"})
    assert store.trouble is None
    assert store.read("submissions/00/file.txt") == b"content"


def test_a_commit_that_others_were_faster_than_counts_for_no_pace(
    hub: Hub, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened()
    taken: list[int] = []
    monkeypatch.setattr(store._pace, "take", lambda: taken.append(1))
    hub.inject(Fault("POST", COMMIT, 409, times=3), Fault("POST", COMMIT, 500, after=True))
    store.append([draft(1)])
    assert len(taken) == 1, "the one that nobody knew of was found when the log was read"


def test_a_head_of_a_moment_ago_is_no_damage(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened()
    store.append([draft(1)])
    before = store._repository.head()
    store.append([draft(2)])
    assert len(list(store.events())) == 2
    monkeypatch.setattr(store._repository, "head", lambda: before)
    store.sync()
    assert len(list(store.events())) == 2
    monkeypatch.setattr("fairspace.leaderboard_space.storage.hub._STALE", 0.0)
    with pytest.raises(StorageError, match="STORE_CORRUPT"):
        store.sync()


def test_a_torn_copy_of_a_file_is_fetched_again(hub: Hub, opened: Open, scored: Result, tmp_path: Path) -> None:
    content = b"PK a file that was handed in"
    path = f"submissions/00/{hashlib.sha256(content).hexdigest()}.zip"
    entry = add_result(opened("one"), scored).body["entry"]
    opened("one").append([Draft("lost", "a line")], {path: content})
    store = opened("other")
    state = state_of(store)
    whole = full_of(state, entry)
    assert store.read(path) == content
    for copy in [file for file in (tmp_path / "other").rglob("*") if file.suffix in (".zip", ".json")]:
        torn = copy.read_bytes()[:-1]
        copy.unlink()
        copy.write_bytes(torn)
    fresh = opened("other")
    for reader in (store, fresh):
        assert reader.read(path) == content
        found = full_of(state_of(reader), entry)
        assert found.dumps() == whole.dumps()
    upload(hub, store, path, b"other")
    with pytest.raises(StorageError, match=r"STORE_CORRUPT.*the file that the log speaks of"):
        opened("third").read(path)


@pytest.mark.parametrize("fault", [None, Fault("POST", COMMIT, 412), Fault("POST", COMMIT, 500, after=True)])
def test_files_are_removed_with_their_event_unless_others_were_faster(
    hub: Hub, opened: Open, fault: Fault | None
) -> None:
    store, other = opened("one"), opened("other")
    path = "submissions/00/file.txt"
    store.append([draft(1)], {path: b"content"})
    pruned = Draft("pruned", "pruned:2", {"sha256": []})
    assert not store.remove([path], pruned, 0)
    if fault is not None:
        hub.inject(fault)
    assert store.remove([path], pruned, 1)
    assert keys(other) == ["key-1", "pruned:2"]
    with pytest.raises(StorageError, match="STORE_MISSING"):
        other.read(path)
    assert not other.remove([path], Draft("pruned", "pruned:3"), 1)


def test_a_closed_store_takes_nothing(opened: Open) -> None:
    store = opened()
    store.append([draft(1)])
    store.close()
    with pytest.raises(StorageError, match="STORE_UNAVAILABLE"):
        store.append([draft(2)])


def test_no_hour_has_more_commits_than_it_may() -> None:
    now = [0.0]
    pace = Pace(100, lambda: now[0])
    taken: list[float] = []
    while len(taken) < 400:
        now[0] += pace.wait()
        pace.take()
        taken.append(now[0])
    assert all(taken[number + 100] - taken[number] > 3599 for number in range(300))
    assert taken[19] == 0.0, "a fifth of them come at once"
    for _ in range(50):
        pace.take()
    assert pace.wait() <= 3600 / 80, "what came unasked makes nobody wait longer than for one"


def test_copies_of_files_give_way_where_there_is_no_room(tmp_path: Path) -> None:
    from fairspace.leaderboard_space.storage.hub import CachedFiles

    files = CachedFiles(tmp_path, room=250)
    for number, name in enumerate(("a/1", "a/2", "a/3")):
        files.put(name, bytes(100))
        os.utime(tmp_path / name, (number, number))
    assert not (tmp_path / "a/1").exists()
    with files.held("a/2"):
        files.put("a/4", bytes(100))
        assert (tmp_path / "a/2").is_file()
    assert not (tmp_path / "a/3").exists()
    (tmp_path / "parts" / "another").write_bytes(bytes(1000))
    files.put("a/5", bytes(10))
    assert {file.name for file in (tmp_path / "a").iterdir()} == {"2", "4", "5"}
    assert [file.name for file in (tmp_path / "parts").iterdir()] == ["another"]
