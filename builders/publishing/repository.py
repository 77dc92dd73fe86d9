"""Publish a repository on the Hub: create, gate, compare, one commit, tag.

Files are compared by hash (LFS objects by sha256, others by git blob id); the difference is one commit on its parent.
Not `upload_folder`: with xet it makes several commits and guards the first only, so that readers can meet half of a
release. After another writer's commit, or a lost answer, the repository is read and compared again. Works with
`HF_HUB_DISABLE_XET=1` as without.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.requests import FAILURES, Requests, TroubleError

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile


@dataclass(frozen=True)
class Repo:
    """A repository `namespace/name` that we own.

    `gated` makes users accept terms before they read files; a closed gate is never opened. `private` holds for a new
    repository; an existing one stays unchanged.
    """

    id: str
    kind: Literal["dataset", "space", "model"]
    sdk: str | None = None
    gated: bool = False
    private: bool = False

    @property
    def name(self) -> str:
        """Name in the Hub's addresses: `datasets/namespace/name`, and no prefix for a model."""
        return self.id if self.kind == "model" else f"{self.kind}s/{self.id}"


@dataclass(frozen=True)
class Outcome:
    """The changes that publishing made or, if `foreseen`, would make.

    `commit` holds the files; None if there is none yet. `tag` names this content; None if none was asked for, or it
    stays elsewhere.
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

    @property
    def text(self) -> str:
        """The content as UTF-8."""
        return (self.data if isinstance(self.data, bytes) else self.data.read_bytes()).decode("utf-8")

    @cached_property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.stat().st_size

    @cached_property
    def sha256(self) -> str:
        """The hash that LFS uses."""
        if isinstance(self.data, bytes):
            return hashlib.sha256(self.data).hexdigest()
        with self.data.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    @cached_property
    def blob_id(self) -> str:
        """The hash that git uses."""
        content = self.data if isinstance(self.data, bytes) else self.data.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def equals(self, there: RepoFile) -> bool:
        """Whether the Hub has the same content."""
        if there.lfs is not None:
            return self.size == there.lfs.size and self.sha256 == there.lfs.sha256
        return self.size == there.size and self.blob_id == there.blob_id


@dataclass(frozen=True)
class Difference:
    """Paths to write and to delete; false if there are none."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)


def difference(wanted: Mapping[str, Content], there: Mapping[str, RepoFile], delete: bool) -> Difference:
    """The changes from the present files to the wanted ones; others go if `delete`."""
    added = tuple(path for path in wanted if path not in there)
    changed = tuple(path for path, content in wanted.items() if path in there and not content.equals(there[path]))
    gone = sorted(there.keys() - wanted.keys() - {_KEPT}) if delete else []
    return Difference(added, changed, tuple(gone))


def signature(wanted: Mapping[str, Content]) -> str:
    """A line for the history that identifies a commit's intended content, to recognise our own commit."""
    listed = "\n".join(f"{content.sha256}  {path}" for path, content in wanted.items())
    return f"Content sha256: {hashlib.sha256(listed.encode()).hexdigest()}"


class Head(NamedTuple):
    """The state of a repository: the commit of its main branch, and whether it is gated."""

    commit: str | None
    gated: bool


@dataclass(frozen=True)
class Steps:
    """The repeatable steps of publishing."""

    hub: HfApi
    repo: Repo
    requests: Requests
    wanted: Mapping[str, Content]
    delete: bool

    def check_card(self) -> list[str]:
        """The Hub's warnings about README.md. BuildError CARD_INVALID with its errors."""
        card = self.wanted.get("README.md")
        if card is None:
            return []
        where, mend = f"{self.repo.name}, README.md", "mend the card, or what it is rendered from"
        try:
            text = card.text
        except UnicodeDecodeError as error:
            raise BuildError("CARD_INVALID", where, str(error), "UTF-8", mend) from error
        answer = self.requests.ask(partial(self._validate, text))
        errors = [error["message"] for error in answer.get("errors", [])]
        if errors:
            raise BuildError("CARD_INVALID", where, "; ".join(errors), "YAML by the Hub's rules", mend)
        return [warning["message"] for warning in answer.get("warnings", [])]

    def _validate(self, text: str) -> dict[str, list[dict[str, str]]]:
        from huggingface_hub import get_session, get_token, hf_raise_for_status

        token = self.hub.token or get_token()
        headers = {"authorization": f"Bearer {token}"} if isinstance(token, str) else {}
        request = {"content": text, "repoType": self.repo.kind}
        answer = get_session().post(f"{self.hub.endpoint}/api/validate-yaml", json=request, headers=headers)
        if answer.status_code != 400:
            hf_raise_for_status(answer)
        messages: dict[str, list[dict[str, str]]] = answer.json()
        return messages

    def head(self) -> Head | None:
        """The state of the repository; None if there is none visible."""
        from huggingface_hub.errors import RepositoryNotFoundError

        def look() -> Head | None:
            try:
                info = self.hub.repo_info(self.repo.id, repo_type=self.repo.kind)
            except RepositoryNotFoundError:
                return None
            return Head(info.sha, bool(getattr(info, "gated", False)))

        return self.requests.ask(look)

    def prepare(self, head: Head | None) -> Head:
        """Create and gate the repository, before it has content."""
        if head is None:
            create = partial(self.hub.create_repo, self.repo.id, repo_type=self.repo.kind, exist_ok=True)
            self.requests.ask(partial(create, space_sdk=self.repo.sdk, private=self.repo.private))
            head = self.head()
        if head is None:
            raise self.requests.refused("created, but not to be seen", "a repository", "log in as one of its members")
        if self.repo.gated and not head.gated:
            gate = partial(self.hub.update_repo_settings, self.repo.id, repo_type=self.repo.kind, gated="auto")
            self.requests.ask(gate)
        return head

    def compare(self, revision: str | None) -> Difference:
        """The difference from the files of a revision, or from an empty repository."""
        return difference(self.wanted, self._files(revision) if revision else {}, self.delete)

    def _files(self, revision: str) -> dict[str, RepoFile]:
        from huggingface_hub.hf_api import RepoFile

        tree = partial(self.hub.list_repo_tree, self.repo.id, repo_type=self.repo.kind, recursive=True)
        entries = self.requests.ask(lambda: list(tree(revision=revision)))
        return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}

    def foresee(self, head: Head | None, tag: str | None, notes: list[str]) -> Outcome:
        """The changes that publishing would make."""
        difference = self.compare(head.commit if head else None)
        if head is None:
            notes.append("would create the repository")
        if self.repo.gated and not (head and head.gated):
            notes.append("would gate it")
        commit = head.commit if head and not difference else None
        note = "; ".join(notes)
        return Outcome(
            self.repo, commit, difference.added, difference.changed, difference.deleted, tag, note, foreseen=True
        )

    def _outcome(self, commit: str, difference: Difference) -> Outcome:
        return Outcome(self.repo, commit, difference.added, difference.changed, difference.deleted)

    def commit(self, message: str) -> Outcome:
        """Write the difference; read and compare again while others write, or the answer does not come."""
        tried, parent = Difference(), None
        while True:
            head = self.head()
            if head is None or head.commit is None:
                raise self.requests.refused("the repository went away", "a repository", "see who deleted it")
            difference = self.compare(head.commit)
            if not difference:
                outcome = self._made(parent) if parent else None
                return self._outcome(outcome or head.commit, tried if outcome else Difference())
            try:
                return self._outcome(
                    self.requests.once(partial(self._write, difference, message, head.commit)), difference
                )
            except TroubleError as trouble:
                tried, parent = difference, parent or head.commit
                self.requests.missed(trouble)

    def _write(self, difference: Difference, message: str, head: str) -> str:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            CommitOperationAdd(path, self.wanted[path].data) for path in (*difference.added, *difference.changed)
        ]
        operations += [CommitOperationDelete(path, is_folder=False) for path in difference.deleted]
        commit = self.hub.create_commit(
            self.repo.id,
            operations,
            commit_message=message,
            commit_description=signature(self.wanted),
            repo_type=self.repo.kind,
            parent_commit=head,
        )
        return commit.oid

    def _made(self, parent: str) -> str | None:
        """Our commit after `parent` whose answer was lost; None if it is another's."""
        history = partial(self.hub.list_repo_commits, self.repo.id, repo_type=self.repo.kind)
        ours = signature(self.wanted)
        for commit in self.requests.ask(lambda: list(history())):
            if commit.commit_id == parent:
                return None
            if ours in f"{commit.title}\n{commit.message}":
                return commit.commit_id
        return None

    def tag_is_free(self, tag: str) -> bool:
        """Whether the tag is absent, or names the wanted content."""
        return not self._has_tag(tag) or not self.compare(tag)

    def _has_tag(self, tag: str) -> bool:
        refs = self.requests.ask(partial(self.hub.list_repo_refs, self.repo.id, repo_type=self.repo.kind))
        return any(ref.name == tag for ref in refs.tags)

    def tag(self, tag: str, commit: str | None) -> None:
        """Name a commit, unless the tag names the same content already."""
        create = partial(self.hub.create_tag, self.repo.id, tag=tag, repo_type=self.repo.kind, revision=commit)
        while not self._has_tag(tag):
            try:
                self.requests.once(create)
                return
            except TroubleError as trouble:
                self.requests.missed(trouble)
        if self.compare(tag):
            raise self.released(tag)

    def released(self, tag: str) -> BuildError:
        """The error TAG_RELEASED."""
        what, expected = f"the tag {tag} names other content", "a tag that is free, since released content never moves"
        return BuildError(
            "TAG_RELEASED", self.repo.name, what, expected, "choose another --tag, or publish without one"
        )


DRY_RUN_TRIES = 2
"""Tries of a dry run, which reports an absent Hub at once."""
_RESERVED = re.compile(r"v?\d+(\.\d+)+\S*|v\d+|main|HEAD|refs/.*|[0-9a-f]{7,40}")


def publish_repo(
    repo: Repo,
    files: Mapping[str, Path | bytes],
    *,
    message: str,
    tag: str | None = None,
    keep_tag: bool = False,
    delete: bool = True,
    endpoint: str | None = None,
    token: str | None = None,
    dry_run: bool = False,
    sleep: Callable[[float], None] = time.sleep,
    draw: Callable[[], float] = random.random,
) -> Outcome:
    """Make a repository, created if need be, hold these files, by at most one commit.

    Args:
        repo: the repository.
        files: path in the repository -> a file, or its content.
        message: message of the commit.
        tag: name for this content, never moved.
        keep_tag: whether to publish all the same where the tag names other content.
        delete: whether unnamed files go; without, several writers can fill one repository.
        endpoint: the Hub; by default HF_ENDPOINT, or the public one.
        token: HF_TOKEN, or that of `hf auth login`.
        dry_run: whether to change nothing and report the changes.
        sleep: waits between tries.
        draw: random numbers in [0, 1), for the waits.

    Errors: BuildError CARD_INVALID, TAG_RELEASED, TAG_RESERVED (before any change), BUILD_INCOMPLETE, BUILD_CHECK for a
    file that a dataset may not hold, HUB_REFUSED, HUB_CONFLICT, HUB_UNAVAILABLE.
    """
    from huggingface_hub import HfApi

    requests = Requests(repo.name, sleep, draw, DRY_RUN_TRIES if dry_run else FAILURES)
    steps = Steps(HfApi(endpoint=endpoint, token=token), repo, requests, _contents(repo, files), delete)
    _check_tag_name(repo, tag)
    warnings = steps.check_card()
    head = steps.head()
    notes = [f"the Hub warns: {warning}" for warning in warnings]
    if head is not None and tag and not steps.tag_is_free(tag):
        if not keep_tag:
            raise steps.released(tag)
        notes.append(f"tag {tag} stays at what was released; this content is on main only")
        tag = None
    if dry_run:
        return steps.foresee(head, tag, notes)
    head = steps.prepare(head)
    if not repo.gated and head.gated:
        notes.append("the repository is gated by hand and stays so")
    outcome = steps.commit(message)
    if tag:
        steps.tag(tag, outcome.commit)
    return replace(outcome, tag=tag, note="; ".join(notes))


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


def _check_tag_name(repo: Repo, tag: str | None) -> None:
    if tag is not None and _RESERVED.fullmatch(tag):
        what = f"the tag {tag!r}, which `evaluate` or git would take for a version, a branch or a commit"
        raise BuildError("TAG_RESERVED", repo.name, what, "a word, such as a standard's name", "choose another --tag")
