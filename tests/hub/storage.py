"""Repositories on disk: content by its hash, commits as whole trees, branches and tags as names of commits.

    repositories/<kind>/<owner>/<name>.json   settings, branches, tags
    commits/<id>.json                         a commit with its whole tree
    blobs/<git blob id>                       small files
    objects/<sha256>                          LFS objects

Only a repository's own file is ever replaced, as the last step of a change, so a killed server shows each change whole
or not at all. The server has one thread, and no method here waits: each is a critical section.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.hub.errors import RefusalError, not_found

KINDS = ("model", "dataset", "space")
ATTRIBUTES = ".gitattributes"


@dataclass(frozen=True)
class File:
    """A file of a tree: git blob id (for LFS: of the pointer), size, sha256 if it is an LFS object."""

    oid: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True)
class Commit:
    id: str
    parent: str | None
    title: str
    message: str
    author: str
    date: str
    files: dict[str, File]


@dataclass
class Repository:
    """A repository; `gated` is False, 'auto' or 'manual'."""

    kind: str
    id: str
    private: bool
    created: str
    sdk: str | None = None
    gated: str | bool = False
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        return self.id.split("/")[0]


class Store:
    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("repositories", "commits", "blobs", "objects"):
            (root / folder).mkdir(parents=True, exist_ok=True)

    def all(self, kind: str) -> Iterator[Repository]:
        for file in sorted((self.root / "repositories" / kind).glob("*/*.json")):
            yield Repository(**json.loads(file.read_text(encoding="utf-8")))

    def find(self, kind: str, name: str) -> Repository | None:
        file = self._file(kind, name)
        return Repository(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None

    def create(self, kind: str, name: str, author: str, *, private: bool, sdk: str | None) -> Repository:
        repository = Repository(kind, name, private, now(), sdk)
        attributes = "".join(f"*.{ending} filter=lfs diff=lfs merge=lfs -text\n" for ending in _LFS_ENDINGS).encode()
        first = self._write(None, "initial commit", "", author, {ATTRIBUTES: self.add_blob(attributes)})
        repository.branches["main"] = first.id
        self.save(repository)
        return repository

    def save(self, repository: Repository) -> None:
        _replace(self._file(repository.kind, repository.id), json.dumps(asdict(repository)).encode())

    def commit_of(self, repository: Repository, revision: str) -> Commit:
        """Commit of a branch, a tag or a commit id. RevisionNotFound otherwise."""
        named = repository.branches.get(revision) or repository.tags.get(revision)
        if named:
            return self._read(named)
        for head in [*repository.branches.values(), *repository.tags.values()]:
            for commit in self.history(head):
                if len(revision) >= 7 and commit.id.startswith(revision):
                    return commit
        raise not_found(f"Revision {revision}", "RevisionNotFound")

    def history(self, commit: str | None) -> Iterator[Commit]:
        while commit is not None:
            found = self._read(commit)
            yield found
            commit = found.parent

    def commit(
        self,
        repository: Repository,
        branch: str,
        parent: str | None,
        title: str,
        message: str,
        author: str,
        changed: Mapping[str, File | None],
    ) -> Commit:
        """Move a branch to a new commit; None deletes a file. 412 if the branch is not at `parent`."""
        if branch not in repository.branches:
            raise not_found(f"Branch {branch}", "RevisionNotFound")
        head = self._read(repository.branches[branch])
        if parent and not head.id.startswith(parent):
            raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
        files = dict(head.files)
        for path, file in changed.items():
            if file is not None:
                files[path] = file
            elif files.pop(path, None) is None:
                raise RefusalError(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
        commit = self._write(head.id, title, message, author, dict(sorted(files.items())))
        repository.branches[branch] = commit.id
        self.save(repository)
        return commit

    def add_blob(self, content: bytes) -> File:
        oid = git_blob_id(content)
        _replace(self.root / "blobs" / oid, content)
        return File(oid, len(content))

    def pointer(self, sha256: str, size: int) -> File:
        """The tree's entry of an uploaded LFS object. 400 without it."""
        content = self.root / "objects" / sha256
        if not content.is_file() or content.stat().st_size != size:
            raise RefusalError(400, f"LFS pointer pointed to a file that does not exist: {sha256}")
        text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
        return File(git_blob_id(text.encode()), size, sha256)

    def content(self, file: File) -> Path:
        return self.root / "objects" / file.sha256 if file.sha256 else self.root / "blobs" / file.oid

    def object(self, sha256: str) -> Path:
        return self.root / "objects" / sha256

    def lfs_patterns(self, commit: Commit) -> list[str]:
        """Patterns of `.gitattributes` that send files to LFS."""
        if ATTRIBUTES not in commit.files:
            return []
        lines = self.content(commit.files[ATTRIBUTES]).read_text(encoding="utf-8").splitlines()
        return [line.split()[0] for line in lines if "filter=lfs" in line]

    def _file(self, kind: str, name: str) -> Path:
        return self.root / "repositories" / kind / f"{name}.json"

    def _read(self, commit: str) -> Commit:
        data = json.loads((self.root / "commits" / f"{commit}.json").read_text(encoding="utf-8"))
        return Commit(**{**data, "files": {path: File(**file) for path, file in data["files"].items()}})

    def _write(self, parent: str | None, title: str, message: str, author: str, files: dict[str, File]) -> Commit:
        commit = Commit(secrets.token_hex(20), parent, title, message, author, now(), files)
        _replace(self.root / "commits" / f"{commit.id}.json", json.dumps(asdict(commit)).encode())
        return commit


def lfs_of(file: File) -> dict[str, str | int] | None:
    """A file's LFS object, as trees and infos describe it; None without one."""
    return {"oid": file.sha256, "sha256": file.sha256, "size": file.size, "pointerSize": 130} if file.sha256 else None


def git_blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _replace(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    part.write_bytes(content)
    part.replace(file)


_LFS_ENDINGS = (
    *("bin", "gz", "jpeg", "jpg", "model", "npy", "npz", "onnx", "parquet", "pickle", "pkl", "png", "pt", "pth"),
    *("safetensors", "tar", "webp", "zip", "zst"),
)
