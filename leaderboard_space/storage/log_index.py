"""What is known of the beginning of a log: a restart goes on behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.events import Event


@dataclass(frozen=True)
class LogIndex:
    """What a `Log` knows of the lines up to some event.

    Args:
        keys: of the events, in order.
        begins: offset of each line.
        end: where the last one ends.
        previous: hash of the last line.
        last: its event, without body; None of no event.
        sha256: of the file up to there.
    """

    keys: tuple[str, ...]
    begins: Sequence[int]
    end: int
    previous: str
    last: Event | None
    sha256: str
