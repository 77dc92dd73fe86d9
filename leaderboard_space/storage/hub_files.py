"""Local copies of a Hub store's files and log, and requests to the Hub."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, Event, LogIndex

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile


ROOM = 4 << 30
"""Default bytes of all copies."""
_PART = ".part-"
_ABANDONED = 86_400.0
"""Age in seconds of a part whose writer is gone."""


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

    def put(self, path: str, write: Callable[[Path], object]) -> None:
        """Make a copy."""
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=file.parent, prefix=_PART)
        os.close(handle)
        part = Path(name)
        try:
            write(part)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
        self._make_room(file)

    def keep(self, path: str, content: Path | bytes) -> None:
        """Copy a local file or bytes into the cache."""
        if isinstance(content, bytes):
            self.put(path, lambda part: part.write_bytes(content))
        else:
            self.put(path, lambda part: shutil.copyfile(content, part))

    def _make_room(self, newest: Path) -> None:
        with self._lock:
            copies = sorted(self._copies())
            total = sum(size for _, size, _ in copies)
            for _, size, file in copies:
                if total > self._room and file != newest and not self._held[file]:
                    total -= size
                    file.unlink(missing_ok=True)

    def _copies(self) -> Iterator[tuple[float, int, Path]]:
        """Last use, bytes and path of each copy, and of parts whose writer is long gone."""
        abandoned = time.time() - _ABANDONED
        for file in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # another process made room
                about = file.stat()
                if stat.S_ISREG(about.st_mode) and not (file.name.startswith(_PART) and about.st_mtime > abandoned):
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
        from huggingface_hub import get_session, hf_raise_for_status

        answer = get_session().get(self._address(path, commit), headers=self._headers(), follow_redirects=True)
        hf_raise_for_status(answer)
        return bytes(answer.content)

    def download(self, path: str, commit: str, target: Path, timeout: float) -> bool:
        """Write a file at a commit; whether it exists. `timeout`: seconds without a byte."""
        from huggingface_hub import get_session, hf_raise_for_status
        from huggingface_hub.errors import EntryNotFoundError

        address, headers = self._address(path, commit), self._headers()
        with get_session().stream("GET", address, headers=headers, follow_redirects=True, timeout=timeout) as answer:
            if answer.status_code >= 400:
                answer.read()
            try:
                hf_raise_for_status(answer)
            except EntryNotFoundError:
                return False
            with target.open("wb") as file:
                for chunk in answer.iter_bytes(1 << 20):
                    file.write(chunk)
        return True

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

    def _address(self, path: str, commit: str) -> str:
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.repo_id, path, repo_type="dataset", revision=commit, endpoint=self._hub.endpoint)

    def _headers(self) -> dict[str, str]:
        from huggingface_hub import get_token

        token = self._hub.token or get_token()
        return {"authorization": f"Bearer {token}"} if isinstance(token, str) else {}


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
