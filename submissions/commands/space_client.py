"""Client of a Space's HTTP interface: pack a submission, hand it in, and follow its state.

Every request can be repeated: the same file of the same user is the same submission. After no answer, or the answer of
an overloaded or failing Space, it is repeated; waits double, or are as `Retry-After` says.
"""

import ipaddress
import re
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from fairspace.builders.errors import CodedError
from fairspace.leaderboard_space.errors import CODES as SPACE_CODES
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Collector, SubmissionError
from fairspace.submissions.format.writing import EPOCH
from fairspace.submissions.reading.containers import LIMITS, Limits, open_container
from fairspace.submissions.version import VERSION

CODES: dict[str, str] = {
    "SPACE_UNREACHABLE": "no Space answers at the address",
    "NOT_A_SPACE": "what answers at the address is no Space of fairspace",
    "SPACE_REFUSED": "the Space refused for a reason that this version does not know",
}
TOKEN = "FAIRSPACE_TOKEN"  # noqa: S105 the name of a variable
TRIES = 6
LONGEST_WAIT = 30.0
LONGEST_OBEYED = 300.0
"""Longest `Retry-After`, in seconds, that is obeyed."""
_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_AGAIN = frozenset({"SPACE_UNREACHABLE", "TOO_MANY_REQUESTS", "STORE_FAILED", "OUR_FAULT"})
"""Codes after which the same request may succeed soon; a full queue or a spent quota takes longer."""
_CHUNK = 1 << 18


class SpaceClientError(CodedError):
    """A failed request to a Space."""

    codes = CODES


def space_address(space: str) -> str:
    """The address of a Space, given as an address or as `owner/name` on the Hub.

    UsageError: neither, or an address to which a token would go unencrypted over a network.
    """
    if _ID.fullmatch(space):
        return f"https://{re.sub(r'[^a-z0-9]+', '-', space.lower())}.hf.space"
    parts = urlsplit(space)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise UsageError(f"{space!r} is no Space; name an address (https://...) or owner/name on the Hub.")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise UsageError(f"{space} would send your token unencrypted; use https://.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass
class SpaceClient:
    """Requests to the Space at an address without a slash at its end, with a `token` from its page /submit or ''."""

    address: str
    token: str = field(default="", repr=False)
    sleep: Callable[[float], None] = lambda seconds: time.sleep(seconds)

    def submit(self, file: Path, organisation: str = "") -> dict[str, Any]:
        """Hand in a zip and return its state. Errors: as `_ask`."""
        params = {"organisation": organisation} if organisation else {}
        return self._ask("POST", "/api/v1/submissions", file, params)

    def status(self, name: str) -> dict[str, Any]:
        """The state of a submission. Errors: as `_ask`."""
        return self._ask("GET", f"/api/v1/submissions/{quote(name, safe='')}")

    def result(self, benchmark: str, entry: str) -> dict[str, Any]:
        """The result behind a row as JSON data. Errors: as `_ask`."""
        return self._ask("GET", f"/api/v1/boards/{quote(benchmark, safe='')}/rows/{quote(entry, safe='')}/result")

    def act(self, entry: str, action: str, about: Mapping[str, Any]) -> dict[str, Any]:
        """Apply a maintainer's action to a row and return its event. Errors: as `_ask`."""
        return self._ask("POST", f"/api/v1/rows/{quote(entry, safe='')}/{action}", json=about)

    def watch(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the state of a submission until it has ended. Errors: as `_ask`."""
        wait = 1.0
        while True:
            state = self.status(name)
            yield state
            if state["outcome"] != "waiting":
                return
            self.sleep(wait)
            wait = min(15.0, wait * 1.3)

    def _ask(
        self, method: str, path: str, file: Path | None = None, params: Mapping[str, str] | None = None, **about: Any
    ) -> dict[str, Any]:
        """The Space's answer. Errors: SpaceError as the Space gives it; SpaceClientError."""
        headers = {"Accept": "application/json", "User-Agent": f"fairspace/{VERSION}"}
        if self.token:
            headers["X-Fairspace-Token"] = self.token
        if file is not None:
            headers |= {"Content-Type": "application/zip", "Content-Length": str(file.stat().st_size)}
        error: CodedError | None
        tries = 0
        while True:
            tries, wait_asked = tries + 1, 0.0
            about["content"] = None if file is None else _chunks(file)
            try:
                with httpx.Client(timeout=httpx.Timeout(60, connect=15), headers=headers) as client:
                    answer = client.request(method, f"{self.address}{path}", params=params or {}, **about)
                error, text = _refusal(answer, self.address), answer.headers.get("Retry-After", "")
                wait_asked = float(text) if text.isascii() and text.isdigit() else 0.0
                if error is None:
                    response: dict[str, Any] = answer.json()
                    return response
            except httpx.TransportError as trouble:
                what = f"no answer ({type(trouble).__name__}: {trouble})"
                mend = "check the address and the connection, and try again: nothing is handed in twice"
                error = SpaceClientError("SPACE_UNREACHABLE", self.address, what, "a Space that answers", mend)
            if error.code not in _AGAIN or tries == TRIES or wait_asked > LONGEST_OBEYED:
                raise error
            self.sleep(max(wait_asked, min(LONGEST_WAIT, 0.5 * 2 ** (tries - 1))))


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _refusal(answer: httpx.Response, address: str) -> CodedError | None:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.is_success and isinstance(body, dict) and body.keys() & {"outcome", "kind", "format"}:
        return None
    parts = ("code", "where", "what", "expected", "mend")
    if not isinstance(body, dict) or not all(isinstance(body.get(part), str) for part in parts):
        if answer.status_code in (429, 502, 503, 504):  # of a proxy before it
            what = f"status {answer.status_code}"
            return SpaceClientError("SPACE_UNREACHABLE", address, what, "a Space that answers", "try again later")
        what = f"an answer of status {answer.status_code} that no Space gives"
        return SpaceClientError("NOT_A_SPACE", address, what, "a Space of fairspace", "check the address")
    code, where, what, expected, mend = (body[part] for part in parts)
    if code in SPACE_CODES:
        return SpaceError(code, where, what, expected, mend)
    return SpaceClientError("SPACE_REFUSED", where, f"{code}: {what}", expected, mend)


_UNIX = 3


def pack(folder: Path, path: Path, limits: Limits = LIMITS) -> Path:
    """Write the files of the submission in `folder` into a new zip at `path`. SubmissionError: it cannot be packed."""
    faults = Collector(limits.faults)
    with open_container(folder, limits, faults) as members:
        if listed := faults.all():
            raise SubmissionError(list(listed))
        with zipfile.ZipFile(path, "x") as archive:
            for member in members:
                info = zipfile.ZipInfo(member.name, EPOCH)
                info.create_system = _UNIX
                info.compress_type = zipfile.ZIP_DEFLATED if member.name.endswith(("l", "n")) else zipfile.ZIP_STORED
                with member.open() as source, archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    return path
