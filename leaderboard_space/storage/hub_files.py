"""Local copies of a Hub store's files and log, and requests to the Hub."""

from __future__ import annotations

import secrets
import stat
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from fairspace.builders.publishing.requests import TIMEOUT
from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, Event, LogIndex
from fairspace.leaderboard_space.storage.local import PARTS, place, tidy, write_part

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile


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
