from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.served.counts import Requests
from tests.served.faults import Fault
from tests.served.options import Options

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Served(AbstractContextManager["Served"]):
    options: Options
    address: str
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, **options: Any) -> Served:
        return cls._started(Options(**options))

    @classmethod
    def _started(cls, options: Options) -> Served:
        command = [sys.executable, "-m", "tests.served", options.dumps(), str(os.getpid())]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the served models ended with status {process.wait()}")
        return cls(options, address, process)

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    @property
    def key(self) -> str:
        return self.options.key

    def environment(self, service: str = "SERVED") -> dict[str, str]:
        """Variables for `openai` clients, and for Inspect's `openai-api/<service>/<model>`."""
        return {
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": self.key,
            f"{service}_BASE_URL": self.url,
            f"{service}_API_KEY": self.key,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }

    def requests(self, *, reset: bool = False) -> Requests:
        """Requests so far; `reset` starts all counts anew, also of attempts."""
        return Requests(**self._control("DELETE" if reset else "GET", "/_requests"))

    def inject(self, *faults: Fault) -> None:
        """Replace the faults; attempts stay counted."""
        self._control("PUT", "/_faults", [asdict(fault) for fault in faults])

    def kill_at(self, requests: int, group: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Signal a process group right after this many answers; an outside watcher may be too late for a fast run."""
        self._control("PUT", "/_kill", {"group": group, "requests": requests, "signal": how})

    def end_at(self, requests: int) -> None:
        self._control("PUT", "/_kill", {"group": None, "requests": requests, "signal": signal.SIGKILL})

    def restart(self) -> None:
        """Kill the server and start it at the same address, with its first faults and nothing counted."""
        self.stop()
        port = int(self.address.rsplit(":", 1)[1])
        self.process = self._started(replace(self.options, port=port)).process

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _control(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
