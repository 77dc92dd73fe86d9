"""What the Hub's own leaderboard of a dataset lists: results that repositories of models state."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairspace.builders.publishing.requests import Requests

_TRIES = 3


def hub_leaderboard(repo_id: str, *, endpoint: str | None = None) -> list[dict[str, Any]]:
    """Its entries, best first, also of models that derive from another; empty where the Hub has no leaderboard.

    An entry has rank, model, value, who states it (the model's owner, or the number of an open pull request), whether
    the Hub verified it, the source's address, and notes.

    Errors: BuildError HUB_REFUSED, HUB_UNAVAILABLE.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import DatasetLeaderboardEntry

    read = partial(HfApi(endpoint=endpoint).get_dataset_leaderboard, repo_id, base_model_only=False)

    def entries() -> list[DatasetLeaderboardEntry]:
        try:
            return read()
        except HfHubHTTPError as error:
            if error.response.status_code not in (400, 404):
                raise
            return []

    return [
        {
            "rank": entry.rank,
            "model": entry.model_id,
            "value": entry.value,
            "stated_by": "its repository" if entry.pull_request is None else f"pull request {entry.pull_request}",
            "verified": entry.verified,
            "source": (entry.source or {}).get("url"),
            "notes": entry.notes or "",
        }
        for entry in Requests(f"datasets/{repo_id}", tries=_TRIES).ask(entries)
    ]
