"""Who asks: a user who signed in at the Hub, one with a token made here, or `local` with `--insecure-local`."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from leaderboard_space.errors import SpaceError
from leaderboard_space.intake import User
from leaderboard_space.space import Space

LOCAL = User("local")


def space_of(request: HTTPConnection) -> Space:
    """The Space that a request came to."""
    space: Space = request.app.state.space
    return space


def current_user(request: HTTPConnection) -> User | None:
    """Who asks; None for a visitor."""
    return LOCAL if space_of(request).settings.insecure_local else None


def required_user(request: HTTPConnection) -> User:
    """Who asks. SpaceError SIGN_IN_REQUIRED for a visitor."""
    user = current_user(request)
    if user is None:
        raise SpaceError("SIGN_IN_REQUIRED", "the request", "no user", "a signed-in user", "sign in, or send a token")
    return user


def is_maintainer(request: HTTPConnection, user: User) -> bool:
    """Whether a user may withdraw rows."""
    settings = space_of(request).settings
    return user.name in settings.admins or (settings.insecure_local and user == LOCAL)
