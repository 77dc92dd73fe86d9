"""Tokens with which programs act for a signed-in user, and their revocation; the log keeps who did it, and no token."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from itsdangerous import BadSignature, URLSafeTimedSerializer

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Draft, Event, clock
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.state import State
from fairspace.submissions.errors import UsageError

DAYS = 30
MARK = "fairspace_"
"""Prefix of every token of a Space; tokens of the Hub have another."""
SHORTEST = 32
"""Minimum characters of a configured secret: a shorter one might be guessed from a token."""
ID = 16


@dataclass(frozen=True)
class Token:
    """Content of a token. Its id serves for revocation and reveals nothing of it; `time` is as `Event.time`.

    `after`: number of the last event when it was made; None in tokens of earlier versions.
    """

    id: str
    user: User
    time: str
    after: int | None


class Tokens:
    """Makes and reads tokens, signed with `secret`; '' draws one, so that they end with this process.

    `is_revoked` takes a token's id, its user's name, its time and `after`; `number` gives the number of the last event.
    UsageError for a short secret.
    """

    def __init__(
        self,
        secret: str = "",
        is_revoked: Callable[[str, str, str, int | None], bool] = lambda *about: False,
        number: Callable[[], int] = lambda: 0,
    ) -> None:
        if secret and len(secret) < SHORTEST:
            raise UsageError(f"FAIRSPACE_SECRET has {len(secret)} characters; it needs at least {SHORTEST}.")
        self._is_revoked, self._number = is_revoked, number
        self._serializer = URLSafeTimedSerializer(
            secret or secrets.token_urlsafe(48),
            salt="fairspace token",
            signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
        )

    def make(self, user: User) -> str:
        """A new token of that user."""
        about = [user.name, list(user.organisations), secrets.token_hex(8), self._number()]
        return MARK + str(self._serializer.dumps(about))

    def user(self, token: str) -> User:
        """The user of a token. SpaceError TOKEN_REVOKED; others as `read`."""
        read = self.read(token)
        if self._is_revoked(read.id, read.user.name, read.time, read.after):
            problem, expected = f"the token {read.id}, which was revoked", "one that was not"
            raise SpaceError("TOKEN_REVOKED", "the token", problem, expected, "create a new one on /submit")
        return read.user

    def read(self, token: str) -> Token:
        """The content of a token. SpaceError TOKEN_INVALID if it was not made here, or is older than `DAYS`."""
        try:
            (name, organisations, *more), made = self._serializer.loads(
                token.removeprefix(MARK), max_age=DAYS * 86400, return_timestamp=True
            )
        except BadSignature:
            problem, expected = "a token of another Space, or an expired one", f"one of the last {DAYS} days"
            raise SpaceError("TOKEN_INVALID", "the token", problem, expected, "create a new one on /submit") from None
        time = made.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return Token(token_id(token), User(name, tuple(organisations)), time, more[1] if more[1:] else None)


def token_id(token: str) -> str:
    """The id of a token: a hash of its signed content, as one signature has several spellings."""
    signed = token.strip().removeprefix(MARK).rpartition(".")[0]
    return hashlib.sha256(signed.encode()).hexdigest()[:ID]


A_DAY = 50
"""Daily revocations of one user: the log keeps each for ever."""


def revoke_token(state: State, token: str, by: str) -> Event:
    """Revoke a token, itself or by its id, once; any holder may. SpaceError BAD_PARAMETER; others as `revoke_all`."""
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
