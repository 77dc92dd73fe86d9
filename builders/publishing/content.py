"""What is to be in a repository, and how it differs from what is there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile

_KEPT = ".gitattributes"
"""The Hub writes it itself."""


@dataclass(frozen=True)
class Content:
    """A file to publish: where it lies, or its bytes. Hashes are taken when they are asked for, and once."""

    data: Path | bytes

    @property
    def text(self) -> str:
        """As UTF-8."""
        return (self.data if isinstance(self.data, bytes) else self.data.read_bytes()).decode("utf-8")

    @cached_property
    def size(self) -> int:
        """Bytes."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.stat().st_size

    @cached_property
    def sha256(self) -> str:
        """What LFS calls it."""
        if isinstance(self.data, bytes):
            return hashlib.sha256(self.data).hexdigest()
        with self.data.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    @cached_property
    def blob_id(self) -> str:
        """What git calls it."""
        content = self.data if isinstance(self.data, bytes) else self.data.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def equals(self, there: RepoFile) -> bool:
        """Whether the Hub has the same content."""
        if there.lfs is not None:
            return self.size == there.lfs.size and self.sha256 == there.lfs.sha256
        return self.size == there.size and self.blob_id == there.blob_id


@dataclass(frozen=True)
class Difference:
    """Paths that are to be written and deleted; false if there are none."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.changed or self.deleted)


def difference(wanted: Mapping[str, Content], there: Mapping[str, RepoFile], delete: bool) -> Difference:
    """What turns the files that are there into the wanted ones; others go if `delete`."""
    added = tuple(path for path in wanted if path not in there)
    changed = tuple(path for path, content in wanted.items() if path in there and not content.equals(there[path]))
    gone = sorted(there.keys() - wanted.keys() - {_KEPT}) if delete else []
    return Difference(added, changed, tuple(gone))


def signature(wanted: Mapping[str, Content]) -> str:
    """A line for the history that says which content a commit was meant to bring; so we know our own again."""
    listed = "\n".join(f"{content.sha256}  {path}" for path, content in wanted.items())
    return f"Content sha256: {hashlib.sha256(listed.encode()).hexdigest()}"
