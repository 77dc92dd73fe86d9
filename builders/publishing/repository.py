"""Publish one repository on the Hub: create, gate, compare, one commit, tag.

What is there is compared with what is to be there, file by file (LFS objects by sha256, others by git blob id), and
the difference is one commit on top of the one that was compared with: `create_commit` with `parent_commit`. Not
`upload_folder`: where the client has xet, that makes several commits and guards the first only, so that a reader can
meet half of a release. If another writer came first, or nobody knows whether the commit was made, the repository is
read and compared again; so nothing is lost and nothing is done twice, and a run that was killed goes on where it was.
Works with `HF_HUB_DISABLE_XET=1` as without.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.content import Content
from fairspace.builders.publishing.repo import Outcome, Repo
from fairspace.builders.publishing.requests import FAILURES, Requests
from fairspace.builders.publishing.steps import Steps

__all__ = ["Outcome", "Repo", "publish_repo"]

DRY_RUN_TRIES = 2
"""A dry run that meets no Hub says so at once."""
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
    """Make a repository hold these files, by at most one commit.

    Args:
        repo: created if it is not there.
        files: path in the repository -> a file, or its content.
        message: of the commit.
        tag: a name for this content, never moved.
        keep_tag: where the tag names other content already, leave it there and publish all the same.
        delete: whether files that are not named go; without, several writers can fill one repository.
        endpoint: of the Hub; HF_ENDPOINT, or the public one.
        token: HF_TOKEN, or that of `hf auth login`.
        dry_run: change nothing, say what would change.
        sleep: waits between tries.
        draw: a random number in [0, 1), for the waits.

    Returns:
        What was done. Nothing changed: no commit.

    Errors: BuildError with CARD_INVALID (before anything is changed), TAG_RELEASED, TAG_RESERVED (likewise),
    BUILD_INCOMPLETE for a file that is not there, BUILD_CHECK for one that a dataset may not hold, HUB_REFUSED,
    HUB_CONFLICT, HUB_UNAVAILABLE.
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
