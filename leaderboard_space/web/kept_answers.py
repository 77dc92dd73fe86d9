"""Answers that were made, and how long each is given."""

from __future__ import annotations

import gzip
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from starlette.types import Scope, Send

from fairspace.leaderboard_space.web.wanted import LONGEST_ADDRESS

STAYS = 20.0
"""Times as long as it took to make, an answer is not made again."""
LATELY = 30.0
"""Seconds since an answer was made, for which it is given at least, while the next one is made."""
OVERHEAD = 2048
"""Bytes that an answer takes besides its content, at most."""
clock = time.monotonic
"""In seconds."""
Header = tuple[bytes, bytes]


@dataclass(frozen=True)
class Answer:
    """An answer of the application.

    Args:
        status: of the answer.
        headers: as they were sent.
        content: as it was sent: packed, if its headers say so.
        route: that answered, for the metrics.
        version: of the board at that time.
        made, took: when it was made and how long that took, in monotonic seconds.
    """

    status: int
    headers: list[Header]
    content: bytes
    route: Any = None
    version: int = 0
    made: float = 0.0
    took: float = 0.0

    @property
    def stays(self) -> bool:
        """Whether it is too early to make it again."""
        return clock() < self.made + STAYS * self.took

    @property
    def is_late(self) -> bool:
        """Whether it is too old for who asks now, if its board has changed."""
        return not self.stays and clock() >= self.made + LATELY

    @property
    def is_for_all(self) -> bool:
        """Whether others may have it."""
        return self.status == 200 and all(name.lower() != b"set-cookie" for name, _ in self.headers)

    async def send(self, scope: Scope, send: Send) -> None:
        """Answer a request, with 304 if its client has this already."""
        if self.route is not None:
            scope["route"] = self.route
        headers, content, status = self.headers, self.content, self.status
        if status == 200 and _tags(scope["headers"], b"if-none-match") & _tags(headers, b"etag"):
            dropped = (b"content-length", b"content-type", b"content-encoding")
            headers, content, status = _without(headers, dropped), b"", 304
        elif (b"content-encoding", b"gzip") in headers and not _takes_gzip(scope):
            headers, content = _without(headers, (b"content-length", b"content-encoding")), gzip.decompress(content)
            headers.append((b"content-length", b"%d" % len(content)))
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": content})


class KeptAnswers:
    """The most recently used answers.

    Args:
        most: bytes of them all; a single one may take an eighth of it.
    """

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self._kept: OrderedDict[Hashable, Answer] = OrderedDict()

    def find(self, key: Hashable, version: int | None) -> Answer | None:
        """The answer of that version of its board; None for `version` asks for that of any."""
        kept = self._kept.get(key)
        if kept is None or version not in (None, kept.version):
            return None
        self._kept.move_to_end(key)
        return kept

    def keep(self, key: Hashable, answer: Answer) -> None:
        """Keep an answer that everybody may have, in the place of the one before."""
        before = self._kept.pop(key, None)
        if before is not None:
            self.size -= _size(before)
        if answer.is_for_all and 8 * _size(answer) <= self.most:
            self._kept[key] = answer
            self.size += _size(answer)
        while self.size > self.most:
            self.size -= _size(self._kept.popitem(last=False)[1])


def _without(headers: list[Header], names: tuple[bytes, ...]) -> list[Header]:
    return [header for header in headers if header[0].lower() not in names]


def _takes_gzip(scope: Scope) -> bool:
    return any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])


def _size(answer: Answer) -> int:
    return len(answer.content) + OVERHEAD + LONGEST_ADDRESS


def _tags(headers: list[Header], name: bytes) -> set[bytes]:
    """The tags of a header; that they are weak says nothing here."""
    values = [value for key, value in headers if key.lower() == name]
    return {tag.strip().removeprefix(b"W/") for value in values for tag in value.split(b",")}
