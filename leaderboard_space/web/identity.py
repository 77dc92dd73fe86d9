"""Identity: the user of a request, tokens with which programs act for a user, their revocation; rates per client.

The log keeps who revoked a token, and no token. `Guard` finds the user of each request once and keeps it in its scope.
"""

import hashlib
import ipaddress
import os
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from huggingface_hub import constants
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Draft, Event, clock
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.submissions.errors import UsageError

USER = "fairspace.user"
"""Key of a request's scope: the user, or None for a visitor."""
LOCAL = User("local")
"""Everybody, with `--insecure-local`."""
HEADER = "x-fairspace-token"
LOGIN, CALLBACK, LOGOUT = (f"/oauth/huggingface/{name}" for name in ("login", "callback", "logout"))


def space_of(request: HTTPConnection) -> Space:
    """The Space that a request came to."""
    space: Space = request.app.state.space
    return space


def site_of(request: HTTPConnection) -> str:
    """The address of this Space, for code on other sites: the setting, or the listening address.

    Headers of the request are not trusted: answers are cached for others.
    """
    address = space_of(request).settings.site()
    if address:
        return address
    host, port = request.scope.get("server") or ("127.0.0.1", None)
    host = f"[{host}]" if ":" in host else host
    return f"{request.scope['scheme']}://{host}" + (f":{port}" if port not in (None, 80, 443) else "")


def signs_in() -> bool:
    """Whether users sign in at the Hub: in a Space with `hf_oauth: true`.

    Elsewhere huggingface_hub would sign everybody in as one user, with a forgeable cookie.
    """
    settings = (constants.OAUTH_CLIENT_ID, constants.OAUTH_CLIENT_SECRET, os.environ.get("SPACE_ID"))
    return all(settings) and bool(constants.OPENID_PROVIDER_URL and constants.OAUTH_SCOPES)


def current_user(request: HTTPConnection) -> User | None:
    """The user of a request; None for a visitor."""
    user: User | None = request.scope[USER]
    return user


def required_user(request: HTTPConnection) -> User:
    """The user of a request. SpaceError SIGN_IN_REQUIRED for a visitor."""
    user = current_user(request)
    if user is None:
        raise SpaceError("SIGN_IN_REQUIRED", "the request", "no user", "a signed-in user", "sign in, or send a token")
    return user


def token_of(request: HTTPConnection) -> str:
    """The Space's token in a request, '' for none. `Authorization` may hold a token of the Hub instead."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" and token.strip().startswith(MARK) else ""
    return request.headers.get(HEADER, "").strip() or bearer


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


CLIENTS = 10_000
"""Clients remembered by a `Rate`; the least recently active are forgotten first."""


class Rate:
    """A rate per client: `burst` units at once (0: no limit), restored over `seconds`. `clock`: monotonic seconds."""

    def __init__(self, burst: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.burst, self.seconds, self._clock = burst, seconds, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, client: str, units: float = 1) -> bool:
        """Take units of a client's; False, and none taken, if there are not enough left."""
        enough = not self.burst or self.left(client) >= units
        if enough:
            self.spend(client, units)
        return enough

    def left(self, client: str) -> float:
        """Units that a client may still take; below 0 after overspending."""
        with self._lock:
            return self._of(client, self._clock())

    def spend(self, client: str, units: float) -> None:
        """Take units that were used, even if fewer are left."""
        with self._lock:
            now = self._clock()
            left = self._of(client, now)
            self._left.pop(client, None)
            self._left[client] = (left - units, now)
            if len(self._left) > CLIENTS:
                self._left.popitem(last=False)

    def _of(self, client: str, now: float) -> float:
        left, then = self._left.get(client, (self.burst, now))
        return min(self.burst, left + (now - then) * self.burst / self.seconds)


def client(request: HTTPConnection) -> str:
    """The key of a rate limit: the user, or the address of a visitor."""
    user = request.scope.get(USER)
    return user.name if user else address(request)


def address(request: HTTPConnection) -> str:
    """The client's address by `Forwarded`; addresses of one IPv6 network count as one."""
    return network(request.client.host if request.client else "")


def network(peer: str) -> str:
    """The address that counts: itself, or its IPv6 network."""
    try:
        parsed = ipaddress.ip_address(peer)
    except ValueError:
        return peer
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


THREADS = 8
Given = ParamSpec("Given")
Found = TypeVar("Found")
_LIMITER: RunVar[CapacityLimiter] = RunVar("threads for the store")
"""One per event loop."""


async def with_store(function: Callable[Given, Found], *arguments: Given.args, **named: Given.kwargs) -> Found:
    """Run a function that waits for the store in one of these threads."""
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = CapacityLimiter(THREADS)
        _LIMITER.set(limiter)
    return await to_thread.run_sync(partial(function, *arguments, **named), limiter=limiter)
