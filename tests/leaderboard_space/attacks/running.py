"""A Space as it runs on the Hub: a process of its own, a sign-in provider, and its log."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.identity import Tokens
from tests.leaderboard_space.provider import CLIENT, SECRET, Provider
from tests.leaderboard_space.waiting import free_port, until

SIGNING = "a secret of the tests, long enough for a Space"
SERVE = (
    "import sys; from fairspace.leaderboard_space.serving import serve; "
    "from fairspace.leaderboard_space.settings import Settings; "
    "serve(Settings.from_environment(), port=int(sys.argv[1]))"
)


@dataclass
class Served:
    """A board that is served by a process of its own, with its log."""

    address: str
    root: Path
    process: subprocess.Popen[bytes]

    def lines(self, **fields: Any) -> list[dict[str, Any]]:
        text = (self.root / "log").read_text(encoding="utf-8")
        logged = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [line for line in logged if fields.items() <= line.items()]

    def await_lines(self, **fields: Any) -> list[dict[str, Any]]:
        return until(lambda: self.lines(**fields), fields)

    def is_live(self) -> bool:
        assert self.process.poll() is None, (self.root / "log").read_text(encoding="utf-8")
        try:
            return httpx.get(f"{self.address}/health/live", timeout=5).status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def serving(root: Path, port: int, arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[Served]:
    """A board served by Python with these arguments, once it answers."""
    with (root / "log").open("w") as log:
        command = [sys.executable, *arguments]
        streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": log}
        process = subprocess.Popen(command, cwd=root, env={**os.environ, **environment}, **streams)
    try:
        served = Served(f"http://127.0.0.1:{port}", root, process)
        until(served.is_live, "the board did not start")
        yield served
    finally:
        process.terminate()
        process.wait(60)


@dataclass
class Running(Served):
    """A Space with its sign-in provider and the clients that tests made."""

    provider: Provider
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, **headers: str) -> httpx.Client:
        client = httpx.Client(base_url=self.address, headers=headers, timeout=120)

        def keep(answer: httpx.Response) -> None:
            """Send secure cookies on loopback, as browsers do."""
            for cookie in client.cookies.jar:
                cookie.secure = False

        client.event_hooks["response"].append(keep)
        self.clients.append(client)
        return client

    def program(self, name: str, *organisations: str) -> httpx.Client:
        return self.client(**token(name, *organisations))

    def signed_in(self, name: str, *organisations: str) -> httpx.Client:
        self.provider.name, self.provider.organisations = name, organisations
        client = self.client()
        answer = client.get("/oauth/huggingface/login?_target_url=/queue", follow_redirects=True)
        assert answer.status_code == 200, answer.text
        return client

    def refused(self, answer: httpx.Response, code: str) -> None:
        """Assert that a request was refused with that code, and left one log line."""
        assert answer.status_code >= 400, answer.text
        (line,) = self.await_lines(logger="fairspace.refused", request=answer.headers["x-request-id"])
        assert line["code"] == code
        assert line["path"] == answer.request.url.path
        assert line["client"]

    def events(self) -> list[dict[str, Any]]:
        log = self.root / "store" / "events.jsonl"
        return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


def token(name: str, *organisations: str) -> dict[str, str]:
    """Headers of a user's program."""
    return {"X-Fairspace-Token": Tokens(SIGNING).make(User(name, organisations))}


def gradio_events(client: httpx.Client) -> dict[str, dict[str, Any]]:
    """Name -> event of Gradio's page."""
    return {event["api_name"]: event for event in client.get("/config").json()["dependencies"]}


@contextmanager
def running(root: Path, **settings: str) -> Iterator[Running]:
    """A Space over the store in `root`; its log may hold no failure at the end."""
    provider, port = Provider(), free_port()
    root.mkdir(parents=True, exist_ok=True)
    environment = {
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
    try:
        with serving(root, port, ["-c", SERVE, str(port)], environment) as served:
            space = Running(served.address, root, served.process, provider)
            yield space
            for client in space.clients:
                client.close()
    finally:
        provider.stop()
    text = (root / "log").read_text(encoding="utf-8")
    assert "Traceback" not in text, text[text.index("Traceback") - 500 :][:4000]
