import os
import signal
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from tests.loopback import Loopback
from tests.served.faults import Fault
from tests.served.options import Options, Requests


@dataclass
class Served(Loopback):
    """The served models; a restarted server has its first faults, and nothing counted."""

    options: Options

    @classmethod
    def start(cls, **options: Any) -> Self:
        return cls(Options(**options)).begin()

    def words(self, port: int) -> list[str]:
        return ["tests.served", replace(self.options, port=port).dumps(), str(os.getpid())]

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
        return Requests(**self.control("DELETE" if reset else "GET", "/_requests"))

    def inject(self, *faults: Fault) -> None:
        """Replace the faults; attempts stay counted."""
        self.control("PUT", "/_faults", [asdict(fault) for fault in faults])

    def kill_at(self, requests: int, group: int, how: signal.Signals = signal.SIGKILL) -> None:
        """Signal a process group right after this many answers; an outside watcher may be too late for a fast run."""
        self.control("PUT", "/_kill", {"group": group, "requests": requests, "signal": how})

    def end_at(self, requests: int) -> None:
        self.control("PUT", "/_kill", {"group": None, "requests": requests, "signal": signal.SIGKILL})
