"""An OpenID provider on loopback with the Hub's discovery, consent, tokens and userinfo."""

import base64
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.leaderboard_space.waiting import until

CLIENT, SECRET = "the-space", "the-secret-of-the-space-that-nobody-guesses"


@dataclass
class Provider:
    """The provider with its next user; `fails_with` is a status instead of a token, 0 for none."""

    name: str = "ann"
    organisations: tuple[str, ...] = ("lab",)
    requests: list[str] = field(default_factory=list)
    fails_with: int = 0

    def __post_init__(self) -> None:
        self._key = RSAKey.generate_key(2048, {"kid": "1", "alg": "RS256", "use": "sig"})
        self._codes: dict[str, dict[str, Any]] = {}
        routes = [
            Route("/.well-known/openid-configuration", self._discover),
            Route("/oauth/jwks", self._jwks),
            Route("/oauth/authorize", self._authorize),
            Route("/oauth/token", self._token, methods=["POST"]),
            Route("/{rest:path}", self._other, methods=["GET", "POST", "HEAD"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), port=0, log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def start(self) -> str:
        self._thread.start()
        until(lambda: self._server.started)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        return self.address

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)

    def _note(self, request: Request) -> None:
        self.requests.append(request.url.path)

    async def _discover(self, request: Request) -> Response:
        self._note(request)
        paths = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        told: dict[str, Any] = {f"{name}_endpoint": f"{self.address}/oauth/{path}" for name, path in paths.items()}
        told |= {"issuer": self.address, "jwks_uri": f"{self.address}/oauth/jwks"}
        return JSONResponse(told | {"id_token_signing_alg_values_supported": ["RS256"]})

    async def _jwks(self, request: Request) -> Response:
        self._note(request)
        return JSONResponse({"keys": [self._key.as_dict(private=False)]})

    async def _authorize(self, request: Request) -> Response:
        self._note(request)
        asked = request.query_params
        assert asked["client_id"] == CLIENT
        code = secrets.token_urlsafe(16)
        self._codes[code] = {"nonce": asked["nonce"], "redirect_uri": asked["redirect_uri"], "name": self.name}
        joint = "&" if "?" in asked["redirect_uri"] else "?"
        query = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}{joint}{query}", 302)

    async def _token(self, request: Request) -> Response:
        self._note(request)
        if self.fails_with:
            return Response("<html>no token here", self.fails_with)
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        known = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        code = self._codes.pop(form.get("code", ""), None)
        if request.headers.get("authorization") != known or not code or code["redirect_uri"] != form["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": code["name"],
            "iat": now,
            "exp": now + 600,
            "nonce": code["nonce"],
            "name": code["name"],
            "preferred_username": code["name"],
            "picture": "",
            "profile": "",
            "orgs": [{"sub": one, "name": one, "preferred_username": one} for one in self.organisations],
        }
        told = {"access_token": "hf_oauth_the_access_token", "token_type": "bearer", "expires_in": 28800}
        told |= {"scope": "openid profile", "id_token": jwt.encode({"alg": "RS256", "kid": "1"}, claims, self._key)}
        return JSONResponse(told)

    async def _other(self, request: Request) -> Response:
        self._note(request)
        return Response("nothing", 404)
