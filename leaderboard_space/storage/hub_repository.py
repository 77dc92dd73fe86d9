"""The requests that a store makes to its Hub repository; `fairspace.builders.publishing.requests` repeats them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile


class Repository:
    """A dataset repository on the Hub.

    Args:
        repo_id: `namespace/name`.
        endpoint: of the Hub; HF_ENDPOINT, or the public one.
        token: HF_TOKEN, or that of `hf auth login`.
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
        """The files that the log consists of at a commit, in order."""
        from huggingface_hub.errors import EntryNotFoundError
        from huggingface_hub.hf_api import RepoFile

        try:
            tree = list(self._hub.list_repo_tree(self.repo_id, "events", repo_type="dataset", revision=commit))
        except EntryNotFoundError:
            return []
        return sorted((entry for entry in tree if isinstance(entry, RepoFile)), key=lambda entry: entry.path)

    def content(self, path: str, commit: str) -> bytes:
        """A file as it is at a commit."""
        from huggingface_hub import get_session, hf_raise_for_status

        answer = get_session().get(self._address(path, commit), headers=self._headers(), follow_redirects=True)
        hf_raise_for_status(answer)
        return bytes(answer.content)

    def download(self, path: str, commit: str, target: Path, timeout: float) -> bool:
        """Write a file as it is at a commit; whether there is one. `timeout`: seconds without a byte."""
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
        """The commit that adds and removes files on top of `parent`, if that is still the head."""
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
