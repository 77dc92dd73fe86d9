"""Publish a repository on the Hub: create, gate, compare, one commit, tag.

Files are compared by hash (LFS objects by sha256, others by git blob id); the difference is one commit on its parent.
Not `upload_folder`: with xet it makes several commits and guards the first only, so that readers can meet half of a
release. Every pass begins with reading, so after another writer's commit, or a lost answer, the whole pass is simply
made again. Works with `HF_HUB_DISABLE_XET=1` as without.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairspace.builders.engine.build import file_hash
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.requests import FAILURES, Requests

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile


@dataclass(frozen=True)
class Repo:
    """A repository `namespace/name` that we own.

    `gated` makes users accept terms before they read files; a closed gate is never opened.
    """

    id: str
    kind: Literal["dataset", "space", "model"]
    sdk: str | None = None
    gated: bool = False

    @property
    def name(self) -> str:
        """Name in the Hub's addresses: `datasets/namespace/name`, and no prefix for a model."""
        return self.id if self.kind == "model" else f"{self.kind}s/{self.id}"


@dataclass(frozen=True)
class PublishedChanges:
    """The changes that publishing made or, if `foreseen`, would make.

    `commit` holds the files; None if there is none yet. `tag` names this content; None if none was asked for.
    """

    repo: Repo
    commit: str | None
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    tag: str | None = None
    note: str = ""
    foreseen: bool = False

    def text(self) -> str:
        """A summary for people, with a line per path."""
        by_sign = {"+": self.added, "~": self.changed, "-": self.deleted}
        counts = zip(("added", "changed", "deleted"), by_sign.values(), strict=True)
        summary = ", ".join(f"{len(paths)} {what}" for what, paths in counts if paths) or "unchanged"
        commit = "" if self.nothing or self.commit is None else f", commit {self.commit[:8]}"
        tag = f", tag {self.tag}" if self.tag else ""
        note = f" ({self.note})" if self.note else ""
        head = f"{self.repo.name}: {'would be ' * self.foreseen}{summary}{commit}{tag}{note}"
        return "\n".join([head, *(f"  {sign} {path}" for sign, paths in by_sign.items() for path in paths)])

    @property
    def nothing(self) -> bool:
        """Whether no file differed."""
        return not (self.added or self.changed or self.deleted)


_KEPT = ".gitattributes"


@dataclass(frozen=True)
class Content:
    """A file to publish: its place or its bytes. Hashes are taken once, when needed."""

    data: Path | bytes

    def read(self) -> bytes:
        """The content."""
        return self.data if isinstance(self.data, bytes) else self.data.read_bytes()

    @cached_property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.stat().st_size

    @cached_property
    def sha256(self) -> str:
        """The hash that LFS uses."""
        return hashlib.sha256(self.data).hexdigest() if isinstance(self.data, bytes) else file_hash(self.data)

    @cached_property
    def blob_id(self) -> str:
        """The hash that git uses."""
        return hashlib.sha1(b"blob %d\0" % self.size + self.read(), usedforsecurity=False).hexdigest()

    def equals(self, there: RepoFile) -> bool:
        """Whether the Hub has the same content."""
        if there.lfs is not None:
            return self.size == there.lfs.size and self.sha256 == there.lfs.sha256
        return self.size == there.size and self.blob_id == there.blob_id


Difference = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Paths to add, to change and to delete."""


class _Release:
    """One publication of a repository: a pass that can be made again, whatever the one before it achieved."""

    def __init__(
        self, hub: HfApi, repo: Repo, wanted: Mapping[str, Content], message: str, tag: str | None, dry_run: bool
    ) -> None:
        self.hub, self.repo, self.wanted, self.message, self.tag = hub, repo, wanted, message, tag
        self.dry_run = dry_run
        self.written: Difference = ((), (), ())
        """Paths of this publication's commit, also where its answer was lost."""

    def publish(self) -> PublishedChanges:
        """Create and gate the repository before it has content, write the difference, and tag; or foresee it."""
        notes, info = self._card_warnings(), self._info()
        if info is not None and self.tag and self._has_tag() and any(self._difference(self.tag)):
            what = f"the tag {self.tag} names other content"
            expected = "a tag that is free, since released content never moves"
            raise BuildError("TAG_RELEASED", self.repo.name, what, expected, "choose another --tag, or none")
        kind, close = self.repo.kind, self.repo.gated and not (info and info.gated)
        if self.dry_run:
            difference = self._difference(info.sha if info else None)
            notes += ["would create the repository"] * (info is None) + ["would gate it"] * close
            commit = info.sha if info and not any(difference) else None
            return PublishedChanges(self.repo, commit, *difference, self.tag, "; ".join(notes), foreseen=True)
        if info is None:
            self.hub.create_repo(self.repo.id, repo_type=kind, space_sdk=self.repo.sdk, exist_ok=True)
            info = self.hub.repo_info(self.repo.id, repo_type=kind)
        if close:
            self.hub.update_repo_settings(self.repo.id, repo_type=kind, gated="auto")
        elif not self.repo.gated and getattr(info, "gated", False):
            notes.append("the repository is gated by hand and stays so")
        commit, difference = info.sha, self._difference(info.sha)
        if any(difference):
            self.written = difference
            commit = self._commit(difference, commit)
        if self.tag and not self._has_tag():
            self.hub.create_tag(self.repo.id, tag=self.tag, repo_type=kind, revision=commit)
        return PublishedChanges(self.repo, commit, *self.written, self.tag, "; ".join(notes))

    def _card_warnings(self) -> list[str]:
        """The Hub's warnings about README.md. BuildError CARD_INVALID with its errors."""
        from huggingface_hub import get_session, get_token, hf_raise_for_status

        card = self.wanted.get("README.md")
        if card is None:
            return []
        where, mend = f"{self.repo.name}, README.md", "mend the card, or what it is rendered from"
        try:
            request = {"content": card.read().decode("utf-8"), "repoType": self.repo.kind}
        except UnicodeDecodeError as error:
            raise BuildError("CARD_INVALID", where, str(error), "UTF-8", mend) from error
        token = self.hub.token or get_token()
        headers = {"authorization": f"Bearer {token}"} if isinstance(token, str) else {}
        answer = get_session().post(f"{self.hub.endpoint}/api/validate-yaml", json=request, headers=headers)
        if answer.status_code != 400:
            hf_raise_for_status(answer)
        messages: dict[str, list[dict[str, str]]] = answer.json()
        if errors := [error["message"] for error in messages.get("errors", [])]:
            raise BuildError("CARD_INVALID", where, "; ".join(errors), "YAML by the Hub's rules", mend)
        return [f"the Hub warns: {warning['message']}" for warning in messages.get("warnings", [])]

    def _info(self) -> Any:
        """The repository as the Hub describes it; None if there is none visible."""
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            return self.hub.repo_info(self.repo.id, repo_type=self.repo.kind)
        except RepositoryNotFoundError:
            return None

    def _difference(self, revision: str | None) -> Difference:
        """The difference from the files of a revision, or from an empty repository."""
        from huggingface_hub.hf_api import RepoFile

        there: dict[str, RepoFile] = {}
        if revision:
            tree = self.hub.list_repo_tree(self.repo.id, repo_type=self.repo.kind, recursive=True, revision=revision)
            there = {entry.path: entry for entry in tree if isinstance(entry, RepoFile)}
        added = tuple(path for path in self.wanted if path not in there)
        changed = (path for path, content in self.wanted.items() if path in there and not content.equals(there[path]))
        return added, tuple(changed), tuple(sorted(there.keys() - self.wanted.keys() - {_KEPT}))

    def _commit(self, difference: Difference, parent: str | None) -> str:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        added, changed, deleted = difference
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            CommitOperationAdd(path, self.wanted[path].data) for path in (*added, *changed)
        ]
        operations += [CommitOperationDelete(path, is_folder=False) for path in deleted]
        commit = self.hub.create_commit(
            self.repo.id, operations, commit_message=self.message, repo_type=self.repo.kind, parent_commit=parent
        )
        return commit.oid

    def _has_tag(self) -> bool:
        refs = self.hub.list_repo_refs(self.repo.id, repo_type=self.repo.kind)
        return any(ref.name == self.tag for ref in refs.tags)


DRY_RUN_TRIES = 2
"""Tries of a dry run, which reports an absent Hub at once."""
_RESERVED = re.compile(r"v?\d+(\.\d+)+\S*|v\d+|main|HEAD|refs/.*|[0-9a-f]{7,40}")


def publish_repo(
    repo: Repo,
    files: Mapping[str, Path | bytes],
    *,
    message: str,
    tag: str | None = None,
    endpoint: str | None = None,
    token: str | None = None,
    dry_run: bool = False,
    sleep: Callable[[float], None] = time.sleep,
    draw: Callable[[], float] = random.random,
) -> PublishedChanges:
    """Make a repository, created if need be, hold these files and no others, by at most one commit.

    `files` has a file or its content for each path in the repository; `tag` names this content and never moves. The Hub
    is HF_ENDPOINT or the public one, the token HF_TOKEN or that of `hf auth login`. A `dry_run` reports the changes
    alone. Between tries, `sleep` waits for times that `draw` spreads, a random number in [0, 1).

    Errors: BuildError CARD_INVALID, TAG_RELEASED, TAG_RESERVED (before any change), BUILD_INCOMPLETE, BUILD_CHECK for a
    file that a dataset may not hold, HUB_REFUSED, HUB_CONFLICT, HUB_UNAVAILABLE.
    """
    from huggingface_hub import HfApi

    if tag is not None and _RESERVED.fullmatch(tag):
        what = f"the tag {tag!r}, which `evaluate` or git would take for a version, a branch or a commit"
        raise BuildError("TAG_RESERVED", repo.name, what, "a word, such as a standard's name", "choose another --tag")
    requests = Requests(repo.name, sleep, draw, DRY_RUN_TRIES if dry_run else FAILURES)
    hub = HfApi(endpoint=endpoint, token=token)
    return requests.ask(_Release(hub, repo, _contents(repo, files), message, tag, dry_run).publish)


def _contents(repo: Repo, files: Mapping[str, Path | bytes]) -> dict[str, Content]:
    script = f"{repo.id.rpartition('/')[2]}.py"
    if repo.kind == "dataset" and script in files:
        what, expected = f"{script}, which `datasets` takes for a loading script and refuses", "another file name"
        raise BuildError("BUILD_CHECK", repo.name, what, expected, "rename the file")
    for path, data in files.items():
        if isinstance(data, Path) and not data.is_file():
            what, mend = f"no file {data}", "build it again"
            raise BuildError("BUILD_INCOMPLETE", f"{repo.name}, {path}", what, "a file to publish", mend)
    return {path: Content(data) for path, data in sorted(files.items())}
