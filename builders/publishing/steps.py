"""The steps of publishing a repository; each can be repeated without doing anything twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.content import Content, Difference, difference, signature
from fairspace.builders.publishing.repo import Outcome, Repo
from fairspace.builders.publishing.requests import Requests, TroubleError

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile


class Head(NamedTuple):
    """Where a repository stands: the commit of its main branch, and whether it is gated."""

    commit: str | None
    gated: bool


@dataclass(frozen=True)
class Steps:
    """The steps, each of which can be repeated."""

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
        """Where the repository stands; None if there is none that we may see."""
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
        """What differs from the files of a revision; None: of no files at all."""
        return difference(self.wanted, self._files(revision) if revision else {}, self.delete)

    def _files(self, revision: str) -> dict[str, RepoFile]:
        from huggingface_hub.hf_api import RepoFile

        tree = partial(self.hub.list_repo_tree, self.repo.id, repo_type=self.repo.kind, recursive=True)
        entries = self.requests.ask(lambda: list(tree(revision=revision)))
        return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}

    def foresee(self, head: Head | None, tag: str | None, notes: list[str]) -> Outcome:
        """What would be done."""
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
        """The commit after `parent` that was ours, where its answer did not reach us; None if it was another's."""
        history = partial(self.hub.list_repo_commits, self.repo.id, repo_type=self.repo.kind)
        ours = signature(self.wanted)
        for commit in self.requests.ask(lambda: list(history())):
            if commit.commit_id == parent:
                return None
            if ours in f"{commit.title}\n{commit.message}":
                return commit.commit_id
        return None

    def tag_is_free(self, tag: str) -> bool:
        """Whether the tag is not there, or names the wanted content."""
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
