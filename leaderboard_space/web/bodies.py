"""Limits on the body of a request: length, parts, speed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from python_multipart.multipart import parse_options_header
from starlette.requests import Request
from starlette.types import Message, Receive

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.web.refusals import CUT

ENVELOPE_BYTES = 64 << 10
"""What an upload holds besides its file."""


PARTS = 8
"""Of an upload: the file, and fields such as the organisation."""


SLOWEST = 4 << 10
"""Bytes a second that an upload brings on average, once `PATIENCE` has passed."""


PATIENCE = 15.0


class BodyCut(Exception):  # noqa: N818 the body is refused, and nothing has gone wrong
    """Ends the reading of a body that is refused; `Guard` answers."""


@dataclass(frozen=True)
class BodyLimits:
    """Of the body of one request.

    Args:
        most: bytes.
        seconds: until the whole must have come.
        parts: of a form with files; 0 where none is taken.
    """

    most: int
    seconds: float
    parts: int = 0


class Body:
    """The body of a request as it comes in, up to its limits.

    Args:
        request: whose body.
        receive: where it comes from.
        limits: what of it is taken.
    """

    def __init__(self, request: Request, receive: Receive, limits: BodyLimits) -> None:
        self.request, self.limits, self._receive = request, limits, receive
        self.refused: SpaceError | None = None
        self.received = 0
        self._ended = False
        self._began = time.monotonic()
        self._parts, self._tail, self._boundary = 0, b"", _boundary(request)

    def check_length(self) -> None:
        """SpaceError if the head of the request says already that the body is too large."""
        length = self.request.headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > self.limits.most:
            raise self._too_large(f"{length[:20]} bytes")

    async def receive(self) -> Message:
        """The next part of the body. Ends the reading once the body is refused."""
        if self._ended:
            return await self._receive()
        if self.refused is not None:
            raise BodyCut
        left = self.limits.seconds - (time.monotonic() - self._began)
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, min(left, PATIENCE)))
            if message["type"] == "http.request":
                self._count(message.get("body", b""))
                self._ended = not message.get("more_body", False)
            else:
                self._ended = True
        except TimeoutError:
            self.refused = self._too_slow()
        except SpaceError as error:
            self.refused = error
        if self.refused is not None:
            self.request.scope[CUT] = self.refused
            raise BodyCut
        return message

    def _count(self, chunk: bytes) -> None:
        self.received += len(chunk)
        seconds = time.monotonic() - self._began
        if self.received > self.limits.most:
            raise self._too_large(f"more than {self.limits.most:,} bytes")
        if seconds > self.limits.seconds or (seconds > PATIENCE and self.received < SLOWEST * (seconds - PATIENCE)):
            raise self._too_slow()
        if self._boundary:
            seen = self._tail + chunk
            self._parts += seen.count(self._boundary)
            self._tail = seen[-(len(self._boundary) - 1) :]
            if self._parts > self.limits.parts + 1:  # the end of the form is marked, too
                problem, mend = f"more than {self.limits.parts} parts", "submit one .zip file"
                raise SpaceError("UPLOAD_TOO_MANY_PARTS", "the form", problem, "one file", mend)

    def _too_large(self, problem: str) -> SpaceError:
        if self.limits.parts:
            mend = "submit tables as Parquet; see FORMAT.md"
            return SpaceError("UPLOAD_TOO_LARGE", "the upload", problem, f"at most {self.limits.most:,} bytes", mend)
        return SpaceError("REQUEST_TOO_LARGE", "the body", problem, f"at most {self.limits.most:,} bytes", "see /api")

    def _too_slow(self) -> SpaceError:
        problem = f"{self.received:,} bytes in {time.monotonic() - self._began:.0f} seconds"
        expected = f"all of it within {self.limits.seconds:g} seconds"
        return SpaceError("UPLOAD_TOO_SLOW", "the body", problem, expected, "use a faster connection")


def _boundary(request: Request) -> bytes:
    """What stands before each part of a form with files, b'' for another body; read as the form will be."""
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data":
        return b""
    if not options.get(b"boundary"):
        problem, mend = "a form with files without a boundary", "use a library to encode the form"
        raise SpaceError("BAD_PARAMETER", "content-type", problem, "multipart/form-data; boundary=...", mend)
    return b"--" + options[b"boundary"]
