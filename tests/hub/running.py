"""A running Hub for tests, and environments for processes that use it.

    with Hub.start(tmp_path / "hub") as hub:
        env = hub.environment(tmp_path / "owner", OWNER)
        subprocess.run([sys.executable, "-c", "..."], env=env, check=True)

Clients read their environment at import: start the Hub first. In the test's own process, pass `hub.address` as
`endpoint` and `OWNER` as `token`, within `online()`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tests.hub.faults import Fault

ROOT = Path(__file__).resolve().parents[2]
OWNER = "hf_owner"
"""Token of a user who writes to the organisation `fairspace`."""
STRANGER = "hf_stranger"
_CLIENTS = ("HF_", "HUGGINGFACE", "TRANSFORMERS_")
COMMIT = r"^/api/[a-z]+/[^/]+/[^/]+/commit/"


@dataclass
class Hub(AbstractContextManager["Hub"]):
    root: Path
    address: str
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, root: Path, *, port: int = 0) -> Hub:
        command = [sys.executable, "-m", "tests.hub", "--root", str(root), "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the Hub ended with status {process.wait()}")
        return cls(root, address, process)

    def restart(self) -> None:
        """Kill the server and start it again at the same address, with its disk content."""
        self._stop()
        self.process = Hub.start(self.root, port=int(self.address.rsplit(":", 1)[1])).process

    def environment(self, home: Path, token: str = "", **more: str) -> dict[str, str]:
        """Environment of a process that uses this Hub, with its own caches in `home`."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_CLIENTS)}
        return {
            **kept,
            "HF_ENDPOINT": self.address,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "PYTHONPATH": str(ROOT),
            "NO_PROXY": "127.0.0.1",
            **({"HF_TOKEN": token} if token else {}),
            **more,
        }

    def run(self, code: str, home: Path, token: str = "", **more: str) -> str:
        """Run Python code in a fresh process against this Hub; return its output. AssertionError if it failed."""
        command = [sys.executable, "-c", code]
        environment = self.environment(home, token, **more)
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def inject(self, *faults: Fault) -> None:
        self._control("POST", "/_faults", [asdict(fault) for fault in faults])

    def faults_left(self) -> list[dict[str, Any]]:
        left: list[dict[str, Any]] = self._control("GET", "/_faults")
        return left

    def heal(self) -> None:
        self._control("DELETE", "/_faults")

    def log(self, *, clear: bool = False) -> list[dict[str, Any]]:
        """Requests so far: method, path, query, token, range, status (None: not yet, 0: cut), fault, done behind it."""
        entries: list[dict[str, Any]] = self._control("DELETE" if clear else "GET", "/_log")
        return entries

    def _control(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)

    def _stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()


@contextmanager
def online(**constants: object) -> Iterator[None]:
    """Let this process' Hub client go online, by plain LFS, without progress bars."""
    from huggingface_hub import constants as known

    changed: Mapping[str, object] = {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True, **constants}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in changed.items():
            patch.setattr(known, name, value)
        yield
