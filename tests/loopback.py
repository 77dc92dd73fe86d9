"""Servers on loopback, each in a process of its own that prints its address first."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from abc import abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ROOT = Path(__file__).resolve().parents[1]


class Loopback(AbstractContextManager["Loopback"]):
    """A running server."""

    address: str
    process: subprocess.Popen[str]

    @abstractmethod
    def words(self, port: int) -> list[str]:
        """The words after `python -m` that start it at a port; 0 is any free one."""

    def begin(self, port: int = 0) -> Self:
        """Start the server. RuntimeError if it ends without an address."""
        command = [sys.executable, "-m", *self.words(port)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError(f"{command[2]} ended with status {self.process.wait()}")
        return self

    def restart(self) -> None:
        """Kill the server and start it again at the same address."""
        self.stop()
        self.begin(int(self.address.rsplit(":", 1)[1]))

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def control(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


async def serve(application: ASGIApp, port: int) -> None:
    """Serve a port of loopback, 0 for any free one, and print the address."""
    import uvicorn

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio delays answers
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        application, http="h11", log_level="error", access_log=False, lifespan="off", timeout_keep_alive=60
    )
    await uvicorn.Server(config).serve([listener])
