"""Sign-in at the Hub with huggingface_hub's OAuth, limited to this Space and to the data that it needs."""

import re
import secrets
import warnings

from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client._compat import httpx2  # authlib chooses between httpx2 and httpx
from fastapi import FastAPI
from huggingface_hub import attach_huggingface_oauth, parse_huggingface_oauth
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.web.identity import CALLBACK, ID, LOGIN, LOGOUT, revoke_token, space_of, with_store
from fairspace.leaderboard_space.web.refusals import refuse

_STATE = "_state_huggingface_"
_BEGUN = 3
"""Unfinished sign-ins of a browser, all stored in its cookie."""
_ORGANISATIONS = 2400
"""Most characters of a user's organisations in the cookie: browsers drop one of more than 4,096."""
_LOCAL_TARGET = re.compile(r"/(?![/\\\\])[A-Za-z0-9_./?&=%+:,~-]{0,500}")


def attach_routes(app: FastAPI) -> None:
    """Add the sessions of sign-ins, and their three addresses."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*experimental", category=UserWarning)
        attach_huggingface_oauth(app)
    for route in app.routes:
        if getattr(route, "path", "") in (LOGIN, CALLBACK, LOGOUT):
            route.include_in_schema = False  # type: ignore[attr-defined]


class SignIn:
    """Middleware that keeps only the needed data of a sign-in and allows no redirect to other sites.

    The cookie holds the user's name and organisations without the Hub's tokens: a thief could act on the Hub with them,
    and they exceed the size of a cookie. Signing out revokes every copy of it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"] not in (LOGIN, CALLBACK, LOGOUT):
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and (
                scope["path"] == LOGOUT or "oauth_info" in request.session
            ):
                session_user = _session_of(request)
                request.session.clear()
                request.session.update(session_user)
            await send(message)

        try:
            _check(request)
            if scope["path"] == LOGOUT and (session := request.session.get("user", {}).get("id")):
                await with_store(revoke_token, space_of(request).state, session, request.session["user"]["name"])
            await self.app(scope, receive, sent)
        except SpaceError as error:
            await refuse(request, error)(scope, receive, send)
        except (OAuthError, JoseError, ValueError, httpx2.HTTPError) as error:  # ValueError: an answer that is no JSON
            await refuse(request, _failed(type(error).__name__))(scope, receive, send)


def _session_of(request: Request) -> dict[str, object]:
    answer = parse_huggingface_oauth(request)
    if request.url.path == LOGOUT or answer is None or not answer.user_info.preferred_username:
        return {}
    organisations = [
        organisation.preferred_username
        for organisation in answer.user_info.orgs or ()
        if organisation.preferred_username
    ]
    while sum(map(len, organisations)) + 4 * len(organisations) > _ORGANISATIONS:
        organisations.pop()
    until = int(answer.access_token_expires_at.timestamp())
    about = {"name": answer.user_info.preferred_username, "organisations": organisations, "until": until}
    return {"user": about | {"id": secrets.token_hex(ID // 2)}}


def _check(request: Request) -> None:
    """Check that a step of signing in leads back here, and belongs to a sign-in of this browser."""
    for target in request.query_params.getlist("_target_url"):
        if not _LOCAL_TARGET.fullmatch(target):
            expected = "an address of this Space, such as /submit"
            raise SpaceError("BAD_PARAMETER", "_target_url", repr(target[:100]), expected, "sign in from /submit")
    path, begun = request.url.path, [key for key in request.session if key.startswith(_STATE)]
    if path == LOGIN:
        for key in begun[: 1 - _BEGUN]:
            del request.session[key]
    if path == LOGOUT and request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise SpaceError("FORM_FORGED", "signing out", "a request of another site", "one of this Space", "use /submit")
    if path == CALLBACK and _STATE + request.query_params.get("state", "") not in begun:
        raise _failed("this browser did not start a sign-in; it may block cookies in frames")
    if path == CALLBACK and "error" in request.query_params:
        raise _failed(repr(request.query_params["error"][:100]))


def _failed(problem: str) -> SpaceError:
    mend = "open the Space in a new tab and sign in there"
    return SpaceError("SIGN_IN_FAILED", "signing in", problem, "a confirmation by the Hub", mend)
