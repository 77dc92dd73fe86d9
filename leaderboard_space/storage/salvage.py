"""Which lines of a damaged log are sound.

A line with the hash of its content proves itself. A line of an earlier version has none: it is sound unless the line
after it follows from another one. Lines that were swapped or doubled are put in order by their numbers; two lines whose
break was lost are parted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from fairspace.leaderboard_space.events import START, Event, digest, digests
from fairspace.leaderboard_space.storage.log import similar

_BEGIN = re.compile(rb'(?=\{"body":)')


@dataclass(frozen=True)
class Piece:
    """A part of a damaged log that is one event, or nothing that can be read.

    Args:
        begin: where it begins in the file.
        size: bytes of it in the file.
        number: of its event; 0 for none.
        previous: as the event has it.
        sha256: of its line.
        proven: whether the hash of its content is right; None for an event of an earlier version, which has none.
        is_ended: whether its line has a break.
    """

    begin: int
    size: int
    number: int = 0
    previous: str = ""
    sha256: str = ""
    proven: bool | None = False
    is_ended: bool = True


@dataclass(frozen=True)
class Salvaged:
    """What of a log is sound.

    Args:
        sound: number -> the piece that is that event.
        altered: the pieces that are none, in the order of the file.
        length: number of the last event.
    """

    sound: dict[int, Piece]
    altered: list[Piece]
    length: int

    @property
    def lost(self) -> list[int]:
        """The numbers without a sound line."""
        return [number for number in range(1, self.length + 1) if number not in self.sound]


def event_at(stream: IO[bytes], piece: Piece) -> Event:
    """The event of a sound piece."""
    stream.seek(piece.begin)
    return Event.of_line(_line(stream.read(piece.size)))


def salvage(stream: IO[bytes]) -> Salvaged:
    """Read a log to its end, whatever is in it. A torn end, which nobody was told of, counts as no event."""
    pieces = list(_pieces(stream))
    follows = {piece.previous for piece in pieces if piece.number}
    sound: dict[int, Piece] = {}
    altered: list[Piece] = []
    number = longest = 0
    for piece in pieces:
        if _is_sound(piece, number + 1, pieces, follows):
            number = piece.number
            if number not in sound or (piece.sha256 in follows and sound[number].sha256 not in follows):
                sound[number] = piece
        else:
            number += piece.is_ended
            altered.append(piece)
        longest = max(longest, number)
    return Salvaged(sound, altered, longest)


def _pieces(stream: IO[bytes]) -> Iterator[Piece]:
    """The parts of a log, in the order of the file."""
    stream.seek(0)
    begin, before = 0, START
    for raw in stream:
        whole = _piece(begin, raw, before)
        parts = [whole] if whole.number else _parted(begin, raw, before)
        yield from parts
        begin += len(raw)
        before = parts[-1].sha256


def _parted(begin: int, raw: bytes, before: str) -> list[Piece]:
    """The events in bytes that are no line: one line, or several whose breaks are damaged."""
    pieces: list[Piece] = []
    for part in filter(None, _BEGIN.split(raw)):
        pieces.append(_piece(begin, part, before, is_ended=raw.endswith(b"\n")))
        begin += len(part)
        before = pieces[-1].sha256
    return pieces


def _line(raw: bytes) -> bytes:
    """A line with its break, of bytes whose break may be damaged."""
    return raw[: raw.rfind(b"}") + 1] + b"\n"


def _piece(begin: int, raw: bytes, before: str, *, is_ended: bool = True) -> Piece:
    """What some bytes are; `before` is the hash of the line before them, which an altered `previous` gives way to."""
    line = _line(raw)
    try:
        event = Event.of_line(line)
    except ValueError:
        return Piece(begin, len(raw), is_ended=is_ended)
    content = digests(line)[1]
    if event.line() != line or event.sha256 not in ("", content):
        return Piece(begin, len(raw), is_ended=is_ended)
    if similar(event.previous, before):
        event = replace(event, previous=before)
    proven = True if event.sha256 else None
    return Piece(begin, len(raw), event.number, event.previous, digest(event.line()), proven, is_ended)


def _is_sound(piece: Piece, expected: int, pieces: Sequence[Piece], follows: set[str]) -> bool:
    if piece.proven is not None:
        return piece.proven
    if piece.sha256 in follows:
        return True
    after = [other for other in pieces if other.number == piece.number + 1]
    return piece.number == expected and not after
