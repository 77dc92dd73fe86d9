"""Tokens with which programs act for a signed-in user."""

from __future__ import annotations

import hashlib
import secrets

from itsdangerous import BadSignature, URLSafeTimedSerializer

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.intake import User
from fairspace.submissions.errors import UsageError

DAYS = 30
MARK = "fairspace_"
"""The first characters of every token of a Space; a token of the Hub begins otherwise."""
SHORTEST = 32
"""Characters of a secret that somebody sets: a shorter one might be guessed from a token."""


class Tokens:
    """Makes and reads tokens.

    Args:
        secret: signs them; '' draws one, so that they end with this process. UsageError for a short one.
    """

    def __init__(self, secret: str = "") -> None:
        if secret and len(secret) < SHORTEST:
            raise UsageError(f"FAIRSPACE_SECRET has {len(secret)} characters; it needs at least {SHORTEST}.")
        self._serializer = URLSafeTimedSerializer(
            secret or secrets.token_urlsafe(48),
            salt="fairspace token",
            signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
        )

    def make(self, user: User) -> str:
        """A token of that user."""
        return MARK + str(self._serializer.dumps([user.name, list(user.organisations)]))

    def user(self, token: str) -> User:
        """Whose token it is. SpaceError TOKEN_INVALID if it was not made here, or more than `DAYS` days ago."""
        try:
            name, organisations = self._serializer.loads(token.removeprefix(MARK), max_age=DAYS * 86400)
        except BadSignature:
            problem, expected = "a token of another Space, or an expired one", f"one of the last {DAYS} days"
            raise SpaceError("TOKEN_INVALID", "the token", problem, expected, "create a new one on /submit") from None
        return User(name, tuple(organisations))
