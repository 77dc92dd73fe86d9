"""A running Hub for tests, and environments for processes that use it.

    with Hub.start(tmp_path / "hub") as hub:
        env = hub.environment(tmp_path / "owner", OWNER)
        subprocess.run([sys.executable, "-c", "..."], env=env, check=True)

Clients read their environment at import: start the Hub first. In the test's own process, pass `hub.address` as
`endpoint` and `OWNER` as `token`, within `online()`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from tests.hub.faults import Fault
from tests.loopback import ROOT as ROOT
from tests.loopback import Loopback

OWNER = "hf_owner"
"""Token of a user who writes to the organisation `fairspace`."""
STRANGER = "hf_stranger"
_CLIENTS = ("HF_", "HUGGINGFACE", "TRANSFORMERS_")
COMMIT = r"^/api/[a-z]+/[^/]+/[^/]+/commit/"


@dataclass
class Hub(Loopback):
    root: Path

    @classmethod
    def start(cls, root: Path) -> Self:
        return cls(root).begin()

    def words(self, port: int) -> list[str]:
        return ["tests.hub", "--root", str(self.root), "--port", str(port)]

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
        self.control("POST", "/_faults", [asdict(fault) for fault in faults])

    def faults_left(self) -> list[dict[str, Any]]:
        left: list[dict[str, Any]] = self.control("GET", "/_faults")
        return left

    def heal(self) -> None:
        self.control("DELETE", "/_faults")

    def log(self, *, clear: bool = False) -> list[dict[str, Any]]:
        """Requests so far: method, path, fault; `done` if a fault came behind the effect."""
        entries: list[dict[str, Any]] = self.control("DELETE" if clear else "GET", "/_log")
        return entries


@contextmanager
def online(**constants: object) -> Iterator[None]:
    """Let this process' Hub client go online, by plain LFS, without progress bars."""
    from huggingface_hub import constants as known

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True, **constants}.items():
            patch.setattr(known, name, value)
        yield
