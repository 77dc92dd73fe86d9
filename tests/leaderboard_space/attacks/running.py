"""A Space as it runs on the Hub: a process of its own, a sign-in provider, and its log."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.identity import Tokens
from tests.leaderboard_space.provider import CLIENT, SECRET, Provider

SIGNING = "a secret of the tests, long enough for a Space"
SERVE = (
    "import sys; from fairspace.leaderboard_space.serving import serve; "
    "from fairspace.leaderboard_space.settings import Settings; "
    "serve(Settings.from_environment(), port=int(sys.argv[1]))"
)


@dataclass
class Running:
    address: str
    provider: Provider
    root: Path
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, **headers: str) -> httpx.Client:
        found = httpx.Client(base_url=self.address, headers=headers, timeout=120)

        def keep(answer: httpx.Response) -> None:
            """Send secure cookies on loopback, as browsers do."""
            for cookie in found.cookies.jar:
                cookie.secure = False

        found.event_hooks["response"].append(keep)
        self.clients.append(found)
        return found

    def program(self, name: str, *organisations: str) -> httpx.Client:
        return self.client(**{"X-Fairspace-Token": Tokens(SIGNING).make(User(name, organisations))})

    def signed_in(self, name: str, *organisations: str) -> httpx.Client:
        self.provider.name, self.provider.organisations = name, organisations
        client = self.client()
        answer = client.get("/oauth/huggingface/login?_target_url=/queue", follow_redirects=True)
        assert answer.status_code == 200, answer.text
        return client

    def lines(self, **fields: Any) -> list[dict[str, Any]]:
        text = (self.root / "log").read_text(encoding="utf-8")
        found = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [line for line in found if all(line.get(name) == value for name, value in fields.items())]

    def refused(self, answer: httpx.Response, code: str) -> None:
        """Assert that a request was refused with that code, and left one log line."""
        assert answer.status_code >= 400, answer.text
        (line,) = self.await_lines(logger="fairspace.refused", request=answer.headers["x-request-id"])
        assert line["code"] == code
        assert line["path"] == answer.request.url.path
        assert line["client"]

    def await_lines(self, **fields: Any) -> list[dict[str, Any]]:
        deadline = time.monotonic() + 240
        while not (found := self.lines(**fields)):
            assert time.monotonic() < deadline, fields
            time.sleep(0.02)
        return found

    def events(self) -> list[dict[str, Any]]:
        log = self.root / "store" / "events.jsonl"
        return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


@contextmanager
def running(root: Path, **settings: str) -> Iterator[Running]:
    """A Space over the store in `root`; its log may hold no failure at the end."""
    provider = Provider()
    root.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = {
        "SPACE_ID": "fairspace/leaderboard",
        "SPACE_HOST": f"127.0.0.1:{port}",
        "OAUTH_CLIENT_ID": CLIENT,
        "OAUTH_CLIENT_SECRET": SECRET,
        "OAUTH_SCOPES": "openid profile",
        "OPENID_PROVIDER_URL": provider.start(),
        "FAIRSPACE_STORE": str(root / "store"),
        "FAIRSPACE_STORE_IS_KEPT": "1",
        "FAIRSPACE_WORK": str(root / "work"),
        "FAIRSPACE_SECRET": SIGNING,
        "FAIRSPACE_ADMINS": "the-maintainer",
        "FAIRSPACE_BASELINES": "0",
        "FAIRSPACE_BOARD_SECONDS": "0",
    } | {f"FAIRSPACE_{name.upper()}": value for name, value in settings.items()}
    with (root / "log").open("w") as out:
        command = [sys.executable, "-c", SERVE, str(port)]
        process = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | told)
    space = Running(f"http://127.0.0.1:{port}", provider, root)
    try:
        _wait_for(space, process)
        yield space
    finally:
        for client in space.clients:
            client.close()
        process.terminate()
        process.wait(60)
        provider.stop()
    text = (root / "log").read_text(encoding="utf-8")
    assert "Traceback" not in text, text[text.index("Traceback") - 500 :][:4000]


def _wait_for(space: Running, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 240
    while True:
        assert process.poll() is None, (space.root / "log").read_text(encoding="utf-8")
        assert time.monotonic() < deadline, "the Space did not start within four minutes"
        try:
            if httpx.get(f"{space.address}/health/live", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
