"""Answers that follow from the boards: kept until their board changes, and made in turns that are fair to all clients.

A client may have so many seconds of making a minute; what is kept costs nobody anything. Where boards have a pace,
nobody waits for what somebody had lately: after a change of the board the answer before is given while the next one is
made. That begins only after twenty times as long as the one before took, so that no address takes more than a twentieth
of a processor: pages follow their board within a second or two, downloads of thousands of rows within a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from functools import partial

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.adjusted_boards import ADJUSTED
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import current_user, site_of
from fairspace.leaderboard_space.web.kept_answers import Answer, KeptAnswers, clock
from fairspace.leaderboard_space.web.rates import Rate, client
from fairspace.leaderboard_space.web.refusals import refuse
from fairspace.leaderboard_space.web.turns import Turns
from fairspace.leaderboard_space.web.wanted import Wanted, wanted_of

BYTES = 64 << 20
"""Of all answers that are kept; those of adjusted boards have an eighth of it."""
MAKERS = 4
"""Answers that are made at a time, each for another client."""
DOWNLOADS = 1
"""Whole tables that are made at a time, beside those answers: pages do not wait for them."""
ADJUSTERS = 2 * ADJUSTED
"""Answers of adjusted boards beside those, each for another client: released ones do not wait for them, and more than
may wait for such a board are refused at once."""
MAKING_SECONDS, MAKING_WITHIN = 30.0, 120.0
"""Of making answers for one client at once; they come back within the second number of seconds."""


class Answers:
    """Middleware within `Guard`. It keeps what a visitor is answered with 200, packed where that is worth it.

    What is asked for by several at a time is made once. Who is signed in or sends a token neither gets nor makes what
    is kept, but waits for the same turns.

    Args:
        app: what answers.
        space: whose boards, and how many requests a client may send; if any number, making has no limit either.
        most: bytes that are kept, those that were asked for last.
    """

    def __init__(self, app: ASGIApp, space: Space, most: int = BYTES) -> None:
        self.app, self.state = app, space.state
        self._kept = {False: KeptAnswers(most - most // 8), True: KeptAnswers(most // 8)}
        limited = bool(space.settings.requests_a_minute)
        pages = Turns(MAKERS, 1 if limited else MAKERS)
        self._turns = {"page": pages, "download": Turns(DOWNLOADS), "adjusted": Turns(ADJUSTERS)}
        """Kind of answer -> its own turns; adjusted boards have their own room, too, for there is no end of them."""
        self._renewals = {kind: Turns(1) for kind in self._turns}
        """Turns of answers that nobody waits for: they take no place of one that somebody waits for."""
        self._seconds = Rate(MAKING_SECONDS if limited else 0, MAKING_WITHIN)
        self._renewing: dict[Hashable, asyncio.Task[None]] = {}
        self._flights: dict[Hashable, asyncio.Future[Answer | None]] = {}
        """What is made now -> the answer, None where it was for one client alone or could not be made."""

    @property
    def size(self) -> int:
        """Size of the cache in bytes."""
        return sum(kept.size for kept in self._kept.values())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        wanted = None if scope["type"] != "http" or scope["method"] != "GET" else wanted_of(scope)
        if wanted is None:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            answer = await self._answer(request, receive, wanted)
        except SpaceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        await answer.send(scope, send)

    async def _answer(self, request: Request, receive: Receive, wanted: Wanted) -> Answer:
        """The answer that is kept, or one that is made now. SpaceError TOO_MANY_REQUESTS."""
        who, version = client(request), self.state.version(wanted.about)
        key = (wanted.path, wanted.query, site_of(request))
        public = wanted.kept and current_user(request) is None
        answer = self._kept[wanted.adjusted].find(key, None) if public else None
        if answer is not None and answer.version == version:
            return answer
        if answer is not None and self.state.snapshots.pace and not answer.is_late:
            if not answer.stays and key not in self._renewing:
                self._renewing[key] = asyncio.create_task(self._renew({**request.scope}, key, who, wanted))
            return answer
        while True:
            if public and (flight := self._flights.get(key)) is not None:
                answer = await asyncio.shield(flight)
                if answer is not None and answer.version >= version:
                    return answer
                continue
            self._check_seconds(who)
            async with self._turns[_kind(wanted)].turn(who, partial(self._seconds.spend, who)):
                if not public:
                    return await self._made(request.scope, receive, wanted)
                if key not in self._flights:  # else another's turn came first, and this one is free for who needs it
                    return await self._shared(request.scope, receive, key, wanted)

    def _check_seconds(self, who: str) -> None:
        """SpaceError TOO_MANY_REQUESTS if a client has none left."""
        if self._seconds.burst and self._seconds.left(who) <= 0:
            problem = f"answers that took more than {MAKING_SECONDS:g} seconds to make"
            mend = "wait a while; pages that others look at, too, are answered at once"
            raise SpaceError("TOO_MANY_REQUESTS", "the client", problem, "fewer", mend)

    async def _shared(self, scope: Scope, receive: Receive, key: Hashable, wanted: Wanted) -> Answer:
        """The answer of now, made once for all who ask for it meanwhile: they wait without a turn."""
        kept = self._kept[wanted.adjusted]
        answer = kept.find(key, self.state.version(wanted.about))  # another client may have had it made
        if answer is not None:
            return answer
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            answer = await self._made(scope, receive, wanted)
            kept.keep(key, answer)
            return answer
        finally:
            del self._flights[key]
            flight.set_result(answer if answer is not None and answer.is_for_all else None)

    async def _renew(self, scope: Scope, key: Hashable, who: str, wanted: Wanted) -> None:
        """Make the next answer while the one before is given; if that fails, who asks later is told why."""

        async def nothing() -> Message:
            return {"type": "http.disconnect"}

        try:
            self._check_seconds(who)
            async with self._renewals[_kind(wanted)].turn(who, partial(self._seconds.spend, who)):
                if key not in self._flights:
                    await self._shared(scope, nothing, key, wanted)
        except SpaceError:
            pass
        finally:
            del self._renewing[key]

    async def _made(self, scope: Scope, receive: Receive, wanted: Wanted) -> Answer:
        """What the application answers to who does not have it yet."""
        headers = [header for header in scope["headers"] if header[0] not in (b"if-none-match", b"accept-encoding")]
        headers.append((b"accept-encoding", b"gzip"))
        request = {**scope, "headers": headers, "query_string": wanted.query}
        start: Message = {}
        content: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                content.append(message.get("body", b""))

        version, began = self.state.version(wanted.about), clock()
        await self.app(request, receive, collect)
        ended = clock()
        headers, body = list(start["headers"]), b"".join(content)
        return Answer(start["status"], headers, body, request.get("route"), version, ended, ended - began)


def _kind(wanted: Wanted) -> str:
    """Whose turn an answer waits for."""
    if wanted.adjusted:
        return "adjusted"
    return "download" if wanted.path.startswith("/download/") else "page"
