"""Propose a file to somebody else's repository: one pull request, which a second proposal changes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from fairspace.builders.publishing.repository import Content
from fairspace.builders.publishing.requests import Requests, TroubleError


@dataclass(frozen=True)
class Proposal:
    """The result of a proposal, with the address of the pull request, or of the repository if it has the file.

    `state` is `there` if the repository has the file already, `open` if an open pull request does, else the change
    made.
    """

    state: Literal["there", "open", "opened", "changed"]
    address: str


def propose(
    repo_id: str,
    path: str,
    content: bytes,
    *,
    title: str,
    description: str,
    endpoint: str | None = None,
    token: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
    draw: Callable[[], float] = random.random,
) -> Proposal:
    """Propose a file of a model's repository, in the open pull request of this title and user if there is one.

    A lost answer is looked for before a repeat, so there is never a second pull request. BuildError HUB_REFUSED,
    HUB_CONFLICT, HUB_UNAVAILABLE.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    hub, requests = HfApi(endpoint=endpoint, token=token), Requests(repo_id, sleep, draw)
    wanted, user = Content(content), str(requests.ask(hub.whoami)["name"])

    def has(revision: str) -> bool:
        infos = requests.ask(partial(hub.get_paths_info, repo_id, [path], revision=revision))
        return any(getattr(info, "blob_id", None) == wanted.blob_id for info in infos)

    def pull_request() -> int | None:
        listed = partial(hub.get_repo_discussions, repo_id, author=user, discussion_type="pull_request")
        opened = requests.ask(lambda: list(listed(discussion_status="open")))
        return next((each.num for each in opened if each.title == title), None)

    if has("main"):
        return Proposal("there", f"{hub.endpoint}/{repo_id}")
    commit = partial(
        hub.create_commit,
        repo_id,
        [CommitOperationAdd(path, content)],
        commit_message=title,
        commit_description=description,
    )
    tried = False
    while True:
        number = pull_request()
        address = f"{hub.endpoint}/{repo_id}/discussions/{number}"
        if number is not None and has(f"refs/pr/{number}"):
            return Proposal("opened" if tried else "open", address)
        try:
            if number is not None:
                requests.once(partial(commit, revision=f"refs/pr/{number}"))
                return Proposal("changed", address)
            return Proposal("opened", str(requests.once(partial(commit, create_pr=True)).pr_url))
        except TroubleError as trouble:
            tried = True
            requests.missed(trouble)
