"""Revoke tokens: one by one, or all that a user has made so far. The log keeps who did it, and no token."""

from __future__ import annotations

import re
from datetime import timedelta

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Draft, Event, clock
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.tokens import ID, MARK, token_id

A_DAY = 50
"""Revocations of one user: the log keeps each for ever."""


def revoke_token(state: State, token: str, by: str) -> Event:
    """Revoke a token, given as it is or by its id; whoever has it may do so, and a second time adds no event.

    SpaceError BAD_PARAMETER for what is neither; others as `revoke_all`.
    """
    text = token.strip()
    name = token_id(text) if text.startswith(MARK) else text
    if not re.fullmatch(f"[0-9a-f]{{{ID}}}", name):
        expected = f"a token, which begins with {MARK}, or its id of {ID} hexadecimal digits"
        raise SpaceError("BAD_PARAMETER", "the token", f"{len(text)} characters", expected, "copy the whole token")
    return _append(state, Draft("revoked", f"revoked:{name}", {"token": name, "user": "", "by": by}))


def revoke_all(state: State, user: str, by: str) -> Event:
    """Revoke all tokens that a user has made so far; new ones are valid. SpaceError TOO_MANY_REQUESTS; StorageError."""
    number = state.refresh()
    return _append(state, Draft("revoked", f"revoked:{user}:{number + 1}", {"token": "", "user": user, "by": by}))


def _append(state: State, draft: Draft) -> Event:
    state.refresh()
    if state.revocations(draft.body["by"], clock(-timedelta(days=1))) >= A_DAY:
        problem, mend = f"{A_DAY} revocations in 24 hours", "ask a maintainer, or do it tomorrow"
        raise SpaceError("TOO_MANY_REQUESTS", "the log", problem, f"at most {A_DAY} of one user", mend)
    (event,) = state.storage.append([draft])
    state.refresh()
    return event
