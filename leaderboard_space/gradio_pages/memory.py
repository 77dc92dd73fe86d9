"""Limits what Gradio keeps of calls; it would hold unfetched results until the process ends."""

from __future__ import annotations

import time
from collections.abc import Callable

from gradio.queueing import Queue

SESSIONS = 200
"""Of which Gradio remembers how their pages stand."""
RESULTS = 400
"""Sessions whose calls have ended, with what came of them."""
FETCH_SECONDS = 60
"""For which what came of a call waits to be fetched."""
RECORDS = 100
"""Of calls, of which Gradio makes statistics after each."""


class Results:
    """Drops unfetched results of calls, the oldest first.

    Args:
        queue: Gradio's.
        clock: monotonic seconds.
    """

    def __init__(self, queue: Queue, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue, self._clock = queue, clock
        self._ended: dict[str, float] = {}
        queue.ANALYTICS_MAX_EVENTS = RECORDS

    def prune(self) -> None:
        """Drop old results; to be called within Gradio's loop, before each call."""
        queue, now = self._queue, self._clock()
        running = {event.session_hash for event in list(queue.event_ids_to_events.values())}
        sessions = {*queue.pending_event_ids_session, *queue.pending_messages_per_session} - running
        self._ended = {name: then for name, then in self._ended.items() if name in sessions}
        self._ended.update(dict.fromkeys(sessions - set(self._ended), now))
        old = [name for name, then in self._ended.items() if now - then > FETCH_SECONDS]
        for name in {*old, *list(self._ended)[: max(0, len(self._ended) - RESULTS)]}:
            del self._ended[name]
            queue.pending_event_ids_session.pop(name, None)
            queue.pending_messages_per_session.pop(name, None)
