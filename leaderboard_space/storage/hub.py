"""A store in a dataset repository on the Hub: the log in segments that only grow, and the files beside it.

    events/00000001.jsonl   the first events; a new segment begins after 512 KB

An append is one commit on top of the last commit read (`parent_commit`), so two Spaces on one repository cannot
overwrite each other: the second reads the other's events, drops what exists, renumbers the rest and tries again, also
if the outcome of a commit is unknown. All waiting appends share one commit, within the Hub's hourly limit.

Reads use a copy of the log, which every process makes anew (`mirror`); a thread polls the head while somebody reads. If
the Hub fails, appends fail after many tries and reads are old. Files are fetched on first use with few tries, because a
waiting reader holds a thread; copies that contradict the log are fetched again.
"""

from __future__ import annotations

import hashlib
import logging
import math
import random
import secrets
import stat
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.repository import Content
from fairspace.builders.publishing.requests import FAILURES, TIMEOUT, Requests, TroubleError
from fairspace.leaderboard_space.errors import StorageError, write_error
from fairspace.leaderboard_space.events import Draft, Event, LogIndex, vouched_by
from fairspace.leaderboard_space.storage.local import PARTS, place, tidy, write_part

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile

_CODES = {"HUB_REFUSED": "STORE_REFUSED", "HUB_CONFLICT": "STORE_UNAVAILABLE", "HUB_UNAVAILABLE": "STORE_UNAVAILABLE"}
_BATCH = 64
"""Maximum appends in one commit."""
_READ_TRIES = 2
_READ_TIMEOUT = 10.0
"""Maximum seconds without a byte."""
_QUIET = 5.0
"""Pause in requests for files after trouble with the Hub, in seconds."""
_STALE = 60.0
"""Seconds for which the Hub may still report the previous head."""
_BACK = "put the repository back to a commit that holds it"
Answer = TypeVar("Answer")
log = logging.getLogger(__name__)


@dataclass
class _Waiting:
    """An append that waits for its commit."""

    drafts: Sequence[Draft]
    files: Mapping[str, Path | bytes]
    done: Future[list[Event]] = field(default_factory=Future)


class HubStorage:
    """A dataset repository `namespace/name`; created as private if it does not exist. `work` is a folder for copies.

    Args:
        endpoint: address of the Hub; HF_ENDPOINT, or the public one.
        token: HF_TOKEN, or that of `hf auth login`.
        segment: bytes per segment of the log.
        every: seconds between polls of the head.
        sleep: waits between tries.
        draw: a random number in [0, 1), for the waits.
    """

    def __init__(
        self,
        repo_id: str,
        work: Path,
        commits_an_hour: int = 100,
        *,
        endpoint: str | None = None,
        token: str | None = None,
        segment: int = 512 << 10,
        every: float = 3.0,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.repo_id, self._segment, self._every = repo_id, segment, every
        self.trouble: StorageError | None = None
        self._since, self._trying = 0.0, threading.Lock()
        self._where = f"datasets/{repo_id}"
        self._requests = partial(Requests, self._where, sleep, draw)
        self._repository = Repository(repo_id, endpoint, token)
        folder = work / "hub" / repo_id.replace("/", "--")
        mend = "put the repository back to the commit before the one that changed the line"
        self._mirror = Mirror(folder, self._where, mend)
        self._files = CachedFiles(folder / "files")
        self._pace = Pace(commits_an_hour)
        self._syncing = threading.Lock()
        self._head: str | None = None
        self._heads: dict[str, float] = {}
        self._sizes: list[int] = []
        self._checked: set[tuple[str, str]] = set()
        self._whole: dict[str, tuple[int, int]] = {}
        self._asked = time.monotonic()
        self._waiting: deque[_Waiting] = deque()
        self._writing, self._polling = threading.Lock(), threading.Lock()
        self._closing = threading.Event()

    def append(self, drafts: Sequence[Draft], files: Mapping[str, Path | bytes] | None = None) -> list[Event]:
        """See `Storage.append`."""
        waiting = _Waiting(drafts, files or {})
        if self._closing.is_set():
            what, mend = "the store is closed", "do it again after the restart"
            raise StorageError("STORE_UNAVAILABLE", self._where, what, "an open one", mend)
        self._waiting.append(waiting)
        with self._writing:
            while not waiting.done.done():  # who had the lock before may have committed it
                if any(draft.key not in self._mirror.log for draft in waiting.drafts):
                    self._closing.wait(self._pace.wait())
                self._settle([self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))])
        return waiting.done.result()

    def remove(self, paths: Sequence[str], draft: Draft, number: int) -> bool:
        """See `Storage.remove`. The repository's history keeps removed files, and their space."""
        requests = self._requests()

        def commit() -> bool:
            self._catch_up(requests)
            if len(self._mirror.log) == number:
                self._commit_lines(requests, self._mirror.following([draft]), {}, paths)
            return draft.key in self._mirror.log

        return self._guarded(partial(self._insist, requests, commit))

    def events(self, after: int = 0) -> Iterator[Event]:
        """See `Storage.events`; events of other writers appear after some seconds, or at once after `sync`."""
        if self._head is None:
            self.sync()
        elif time.monotonic() - self._asked > self._every and self._polling.acquire(blocking=False):
            threading.Thread(target=self._poll, name="hub-storage", daemon=True).start()
        yield from self._mirror.events(after)

    def sync(self, tries: int = FAILURES) -> None:
        """Read events of other writers. Errors: StorageError."""
        with self._syncing:
            self._guarded(partial(self._catch_up, self._requests(tries=tries)))

    def find(self, key: str) -> Event | None:
        """See `Storage.find`."""
        return self._mirror.find(key)

    def read(self, path: str) -> bytes:
        """See `Storage.read`."""
        with self.local(path) as file:
            return file.read_bytes()

    @contextmanager
    def local(self, path: str) -> Iterator[Path]:
        """See `Storage.local`."""
        with self._files.held(path) as file:
            if not self._is_whole(path, file):
                with self._files.alone(path):
                    for _ in range(_READ_TRIES):
                        if not self._is_whole(path, file):
                            self._fetch(path)
                    if not self._is_whole(path, file):
                        what, expected = f"another {path}", "the file that the log speaks of"
                        raise StorageError("STORE_CORRUPT", self._where, what, expected, _BACK)
            yield file

    def _is_whole(self, path: str, file: Path) -> bool:
        """Whether there is a copy that matches the log; its bytes are read once."""
        if not file.is_file():
            return False
        about = file.stat()
        if self._whole.get(path) != (about.st_ino, about.st_size):
            event = self._mirror.find(vouched_by(path)) if vouched_by(path) else None
            sha256 = event.body.get("sha256") if event is not None else file.stem
            with file.open("rb") as stream:
                if len(str(sha256)) == 64 and hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                    log.warning("a copy is damaged and is fetched again", extra={"path": path})
                    return False
            self._whole[path] = about.st_ino, about.st_size
        return True

    def _fetch(self, path: str) -> None:
        """Copy a file from the Hub. StorageError; at once if the Hub has just failed to answer."""
        with self._trying:
            last, now = self.trouble, time.monotonic()
            if last is not None and last.code == "STORE_UNAVAILABLE":
                if now - self._since < _QUIET:
                    raise StorageError(last.code, last.where, last.what, last.expected, last.mend)
                self._since = now
        if self._head is None:
            self.sync(_READ_TRIES)
        if not self._guarded(partial(self._requests(tries=_READ_TRIES).ask, partial(self._download, path))):
            what, expected = f"no file {path}", "every file that the log names"
            raise StorageError("STORE_MISSING", self._where, what, expected, _BACK)

    def _download(self, path: str) -> bool:
        """Copy a file from the Hub; whether it exists."""
        from huggingface_hub.errors import EntryNotFoundError

        assert self._head is not None
        try:
            self._files.put(path, self._repository.chunks(path, self._head, timeout=_READ_TIMEOUT))
        except EntryNotFoundError:
            return False
        return True

    def close(self, seconds: float = 20.0) -> None:
        """See `Storage.close`; unfinished writes were never confirmed."""
        if self._closing.is_set():
            return
        self._closing.set()
        end = time.monotonic() + seconds
        while self._waiting and time.monotonic() < end:
            time.sleep(0.01)
        if all(lock.acquire(timeout=max(0.0, end - time.monotonic())) for lock in (self._writing, self._polling)):
            self._mirror.close()

    def _unexpected(self, what: str) -> StorageError:
        log.error("%s", what, exc_info=sys.exc_info()[0] is not None)
        mend = "see the log of this process; it is tried again by itself"
        self.trouble = StorageError("STORE_FAULT", self._where, what, "a store that can be read and written", mend)
        return self.trouble

    def _poll(self) -> None:
        """Poll the head in a separate thread, so that a slow Hub delays no reader."""
        try:
            self.sync()
        except StorageError as error:
            log.warning("the store on the Hub cannot be read: %s", error, extra={"code": error.code})
        except Exception as error:  # noqa: BLE001 -- nobody waits for it; the next reader asks again
            self._unexpected(f"reading the log failed: {type(error).__name__}: {error}")
        finally:
            self._asked = time.monotonic()
            self._polling.release()

    def _settle(self, batch: Sequence[_Waiting]) -> None:
        """Commit waiting appends and report to their callers; a refused one does not fail the others."""
        try:
            self._guarded(partial(self._commit, batch))
            stored = [[self._mirror.find(draft.key) for draft in waiting.drafts] for waiting in batch]
            for waiting, events in zip(batch, stored, strict=True):
                waiting.done.set_result([event for event in events if event is not None])
        except Exception as error:  # noqa: BLE001 -- goes to those who wait
            if not isinstance(error, StorageError):
                self._unexpected(f"a commit failed: {type(error).__name__}: {error}")
            if len(batch) > 1 and not (isinstance(error, StorageError) and error.code == "STORE_UNAVAILABLE"):
                for waiting in batch:
                    self._settle([waiting])
            else:
                for waiting in batch:
                    waiting.done.set_exception(error)

    def _commit(self, batch: Sequence[_Waiting]) -> None:
        requests, sure = self._requests(), self._head is not None

        def commit() -> None:
            nonlocal sure
            if not sure:
                self._catch_up(requests)
            sure = False  # should the commit be missed
            self._try(requests, batch)

        self._insist(requests, commit)

    def _insist(self, requests: Requests, action: Callable[[], Answer]) -> Answer:
        """Repeat an action on the log until the Hub has answered it, one at a time. Errors: as `Requests.missed`."""
        while True:
            try:
                with self._syncing:
                    return action()
            except TroubleError as trouble:
                requests.missed(trouble)

    def _try(self, requests: Requests, batch: Sequence[_Waiting]) -> None:
        """Make one commit on top of the last head read, if there is anything new."""
        lines = self._mirror.following([draft for waiting in batch for draft in waiting.drafts])
        if not lines:
            return
        files: dict[str, Path | bytes] = {}
        for waiting in batch:
            for path, content in waiting.files.items():
                if vouched_by(path) not in self._mirror.log:
                    files.setdefault(path, content)  # as of two drafts with one key, the first becomes the event
        self._commit_lines(requests, lines, files)
        try:
            for path, content in files.items():
                self._files.put(path, content)
        except OSError as error:
            log.warning("a committed file has no copy here: %s", error)

    def _commit_lines(
        self, requests: Requests, lines: Sequence[bytes], files: Mapping[str, Path | bytes], removed: Sequence[str] = ()
    ) -> None:
        full = not self._sizes or self._sizes[-1] >= self._segment
        *before, last = [*self._sizes, 0] if full else self._sizes
        grown = self._mirror.content(sum(before), sum(before) + last) + b"".join(lines)
        assert self._head is not None
        assert sum(self._sizes) == self._mirror.log.end
        added = {**files, segment_path(len(before) + 1): grown}
        try:
            message = f"{len(lines)} events"
            commit = requests.once(partial(self._repository.commit, added, message, self._head, removed))
        except TroubleError as trouble:
            if trouble.kind != "conflict":  # it may have been made all the same
                self._pace.take()
            raise
        self._pace.take()
        self._mirror.add(lines)
        self._remember_head(commit, [*before, len(grown)])

    def _remember_head(self, head: str, sizes: list[int]) -> None:
        """Remember `head` as the last commit read, and the time at which the previous one was left."""
        now = time.monotonic()
        self._heads = {before: then for before, then in self._heads.items() if now - then < _STALE}
        if self._head is not None:
            self._heads[self._head] = now
        self._head, self._sizes = head, sizes

    def _catch_up(self, requests: Requests) -> None:
        """Read the new part of the log at the head. StorageError STORE_CORRUPT, BuildError of `requests`."""
        head = requests.ask(self._repository.head)
        self._asked = time.monotonic()
        if head == self._head or time.monotonic() - self._heads.get(head, -math.inf) < _STALE:
            return  # nothing new, or an answer from before what was read last
        segments = requests.ask(partial(self._repository.segments, head))
        if sum(there.size for there in segments) < self._mirror.log.end:
            self._damaged("the log has become shorter since it was read")
        begin = 0
        for there in segments:
            mine = self._mirror.content(begin, min(self._mirror.log.end, begin + there.size))
            if (there.path, there.blob_id) not in self._checked and not Content(mine).equals(there):
                content = requests.ask(partial(self._repository.content, there.path, head))
                if len(content) != there.size or not content.endswith(b"\n"):
                    self._damaged(f"{there.path} has {len(content)} of {there.size} bytes, or ends within a line")
                if not content.startswith(mine):
                    self._damaged(f"the log has another {there.path} since it was read")
                self._mirror.add(content[len(mine) :].splitlines(keepends=True))
            begin += there.size
        self._checked = {(there.path, there.blob_id) for there in segments}
        self._remember_head(head, [there.size for there in segments])

    def _damaged(self, what: str) -> None:
        mend = "put the repository back to a commit that holds the whole log"
        raise StorageError("STORE_CORRUPT", self._where, what, "a log that only grows", mend)

    def _guarded(self, action: Callable[[], Answer]) -> Answer:
        """Run an action that contacts the Hub; its errors become `StorageError`."""
        try:
            result = action()
        except BuildError as error:
            self.trouble = StorageError(_CODES[error.code], error.where, error.what, error.expected, error.mend)
            self._since = time.monotonic()
            raise self.trouble from error
        except OSError as error:
            self.trouble = write_error(str(error.filename or "work"), error)
            raise self.trouble from error
        except StorageError as error:
            self.trouble = error
            raise
        self.trouble = None
        return result


def segment_path(number: int) -> str:
    """Path of a segment of the log, numbered from 1."""
    return f"events/{number:08}.jsonl"


class Pace:
    """A token bucket of at most `an_hour` calls in any hour, a fifth of them at once. `clock`: seconds."""

    def __init__(self, an_hour: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._most = max(1.0, an_hour // 5)
        self._a_second = max(1.0, an_hour - self._most) / 3600
        self._left, self._at = self._most, clock()

    def wait(self) -> float:
        """Seconds until a token is free."""
        self._fill()
        return max(0.0, 1 - self._left) / self._a_second

    def take(self) -> None:
        """Spend one token, even if none is free."""
        self._fill()
        self._left = max(0.0, self._left - 1)

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._a_second)
        self._at = now


ROOM = 4 << 30
"""Default bytes of all copies."""


class CachedFiles:
    """A folder of copies of at most `room` bytes; the least recently used go first. A copy is complete or absent."""

    def __init__(self, folder: Path, room: int = ROOM) -> None:
        self._folder, self._room = folder, room
        self._lock = threading.Lock()
        self._held: Counter[Path] = Counter()
        self._flights: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    @contextmanager
    def held(self, path: str) -> Iterator[Path]:
        """Path of the copy of a file, whether it exists or not; it is not removed while the context lasts."""
        file = self._folder / path
        with self._lock:
            self._held[file] += 1
            if file.is_file():
                file.touch()
        try:
            yield file
        finally:
            with self._lock:
                self._held[file] -= 1

    @contextmanager
    def alone(self, path: str) -> Iterator[None]:
        """A lock per file against downloads in other threads of this process."""
        with self._lock:
            flight = self._flights.setdefault(path, threading.Lock())
        with flight:
            yield

    def put(self, path: str, content: Path | bytes | Iterable[bytes]) -> None:
        """Make a copy of a local file, of bytes or of parts of them."""
        place(write_part(self._folder / PARTS, content), self._folder / path)
        self._make_room(self._folder / path)

    def _make_room(self, newest: Path) -> None:
        tidy(self._folder)
        with self._lock:
            copies = sorted(self._copies())
            total = sum(size for _, size, _ in copies)
            for _, size, file in copies:
                if total > self._room and file != newest and not self._held[file]:
                    total -= size
                    file.unlink(missing_ok=True)

    def _copies(self) -> Iterator[tuple[float, int, Path]]:
        """Last use, bytes and path of each copy."""
        for file in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # another process made room
                about = file.stat()
                if stat.S_ISREG(about.st_mode) and file.parent != self._folder / PARTS:
                    yield about.st_mtime, about.st_size, file


class Repository:
    """A dataset repository `namespace/name` on the Hub.

    `endpoint` defaults to HF_ENDPOINT or the public one, `token` to HF_TOKEN or that of `hf auth login`.
    """

    def __init__(self, repo_id: str, endpoint: str | None, token: str | None) -> None:
        from huggingface_hub import HfApi

        self.repo_id, self._hub = repo_id, HfApi(endpoint=endpoint, token=token)

    def head(self) -> str:
        """The commit of the main branch; the repository is created if it does not exist or is not visible."""
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            info = self._hub.repo_info(self.repo_id, repo_type="dataset")
        except RepositoryNotFoundError:
            self._hub.create_repo(self.repo_id, repo_type="dataset", private=True, exist_ok=True)
            info = self._hub.repo_info(self.repo_id, repo_type="dataset")
        return str(info.sha)

    def segments(self, commit: str) -> list[RepoFile]:
        """The segments of the log at a commit, in order."""
        from huggingface_hub.errors import EntryNotFoundError
        from huggingface_hub.hf_api import RepoFile

        try:
            tree = list(self._hub.list_repo_tree(self.repo_id, "events", repo_type="dataset", revision=commit))
        except EntryNotFoundError:
            return []
        return sorted((entry for entry in tree if isinstance(entry, RepoFile)), key=lambda entry: entry.path)

    def content(self, path: str, commit: str) -> bytes:
        """A file at a commit."""
        return b"".join(self.chunks(path, commit))

    def chunks(self, path: str, commit: str, timeout: float = TIMEOUT) -> Iterator[bytes]:
        """The content of a file at a commit; `timeout`: seconds without a byte. EntryNotFoundError without the file."""
        from huggingface_hub import get_session, get_token, hf_hub_url, hf_raise_for_status

        address = hf_hub_url(self.repo_id, path, repo_type="dataset", revision=commit, endpoint=self._hub.endpoint)
        token = self._hub.token or get_token()
        headers = {"authorization": f"Bearer {token}"} if isinstance(token, str) else {}
        with get_session().stream("GET", address, headers=headers, follow_redirects=True, timeout=timeout) as answer:
            if answer.status_code >= 400:
                answer.read()
            hf_raise_for_status(answer)
            yield from answer.iter_bytes(1 << 20)

    def commit(self, added: Mapping[str, Path | bytes], message: str, parent: str, removed: Sequence[str] = ()) -> str:
        """Add and remove files on top of `parent` if it is still the head; return the commit."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        created = self._hub.create_commit(
            self.repo_id,
            [
                *(CommitOperationAdd(path, content) for path, content in added.items()),
                *(CommitOperationDelete(path) for path in removed),
            ],
            commit_message=message,
            repo_type="dataset",
            parent_commit=parent,
        )
        return str(created.oid)


class Mirror:
    """A process' copy of the log. Safe for several threads. `where` and `mend` (remedy) are for errors."""

    def __init__(self, folder: Path, where: str, mend: str) -> None:
        self._lock = threading.RLock()
        folder.mkdir(parents=True, exist_ok=True)
        self._stream = (folder / f"{secrets.token_hex(8)}.jsonl").open("a+b")
        Path(self._stream.name).unlink()  # gone with the process
        self.log = LogIndex(where, mend)

    def add(self, lines: Sequence[bytes]) -> None:
        """Add the lines that follow. StorageError STORE_CORRUPT for the first wrong one; those before it stay.

        OSError without room for them; then none is added.
        """
        with self._lock:
            self.log.write(self._stream, lines)
            try:
                for line in lines:
                    self.log.note(line)
            except StorageError:
                self._stream.truncate(self.log.end)
                raise

    def events(self, after: int) -> Iterator[Event]:
        """The events with a number above `after`."""
        while True:
            with self._lock:
                read = self.log.read(self._stream, after)
            if not read:
                return
            yield from read
            after = read[-1].number

    def find(self, key: str) -> Event | None:
        """The event of that key."""
        with self._lock:
            return self.log.find(self._stream, key)

    def following(self, drafts: Sequence[Draft]) -> list[bytes]:
        """See `LogIndex.following`."""
        with self._lock:
            return self.log.following(drafts)

    def content(self, begin: int, end: int) -> bytes:
        """The bytes of the log in a range."""
        with self._lock:
            self._stream.seek(begin)
            return self._stream.read(end - begin)

    def close(self) -> None:
        """Release the copy."""
        self._stream.close()
