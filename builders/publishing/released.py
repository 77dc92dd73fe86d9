"""The commit of a published dataset that has a given revision of the item plan."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.builders.publishing.requests import Requests

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TRIES = 3


def released_commit(repo_id: str, revision: str, tag: str, *, endpoint: str | None = None) -> str | None:
    """The commit that a tag names if its `manifest.json` states the revision, else the newest one if that one's does.

    None if neither does, or if the asker may not read the files of a gated dataset.

    Errors: BuildError HUB_REFUSED if there is no such dataset, HUB_UNAVAILABLE.
    """
    from huggingface_hub import HfApi

    hub, requests = HfApi(endpoint=endpoint), Requests(f"datasets/{repo_id}", tries=_TRIES)
    for name in (tag, "main"):
        commit, stated = requests.ask(partial(_state, hub, repo_id, name))
        if commit is not None and stated == revision:
            return commit
    return None


def _state(hub: HfApi, repo_id: str, name: str) -> tuple[str | None, str]:
    """The commit that a tag or branch names, and the revision that its manifest states; '' for none."""
    from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, RevisionNotFoundError

    try:
        commit = hub.dataset_info(repo_id, revision=name).sha
        manifest = hub.hf_hub_download(repo_id, "manifest.json", repo_type="dataset", revision=commit)
    except (RevisionNotFoundError, EntryNotFoundError, GatedRepoError):
        return None, ""
    return commit, str(json.loads(Path(manifest).read_text(encoding="utf-8")).get("revision", ""))
