"""Whether users sign in at the Hub, and where; `oauth` lets them, and loads what takes a fifth of a server's start."""

from __future__ import annotations

import os

from huggingface_hub import constants

from fairspace.leaderboard_space.settings import Settings
from fairspace.submissions.errors import UsageError

LOGIN, CALLBACK, LOGOUT = (f"/oauth/huggingface/{name}" for name in ("login", "callback", "logout"))


def signs_in() -> bool:
    """Whether users sign in at the Hub: in a Space with `hf_oauth: true`.

    Elsewhere huggingface_hub would let everybody in as one user, with a cookie that anybody can sign.
    """
    settings = (constants.OAUTH_CLIENT_ID, constants.OAUTH_CLIENT_SECRET, os.environ.get("SPACE_ID"))
    return all(settings) and bool(constants.OPENID_PROVIDER_URL and constants.OAUTH_SCOPES)


def check_local(settings: Settings) -> None:
    """UsageError for `insecure_local` in a Space."""
    if settings.insecure_local and os.environ.get("SPACE_ID"):
        raise UsageError("--insecure-local lets everybody submit: use it on your own machine only, not for a Space.")
